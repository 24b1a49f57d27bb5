"""Foreground and background features, saliency and exchanged backgrounds, on a small network and drawn photos."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.errors import ConfigError, FileError

torch = pytest.importorskip("torch")

from graticule.models.background_swap import fill_object, predict_swapped, swap_background  # noqa: E402
from graticule.models.feature_map import find_feature_map  # noqa: E402
from graticule.models.foreground import MaskFolder, crop_mask, read_mask  # noqa: E402
from graticule.models.look import LookConfig, look_at_images  # noqa: E402
from graticule.models.masked_features import extract_masked_features, pool_parts, read_masked_features  # noqa: E402
from graticule.models.network import Network, WeightsFacts  # noqa: E402
from graticule.models.read_head import read_head_off  # noqa: E402
from graticule.models.saliency import SALIENCIES  # noqa: E402
from graticule.models.saliency.map import Looker  # noqa: E402
from graticule.models.transform import Transform  # noqa: E402

SIDE = 32
TRANSFORM = Transform(height=SIDE, width=SIDE, resize_to=(SIDE, SIDE), mean=(0.0,) * 3, std=(1.0,) * 3, resize="squash")


class Colours(torch.nn.Module):
    """Its feature map holds the three colours, a place for each 4 × 4 pixels; its features are their means."""

    def __init__(self):
        super().__init__()
        self.shrink = torch.nn.Conv2d(3, 3, 4, stride=4, bias=False)
        with torch.no_grad():
            self.shrink.weight.copy_(torch.eye(3)[:, :, None, None].expand(3, 3, 4, 4) / 16)
        self.eval()

    def forward(self, pixels):
        return (self.shrink(pixels).mean(dim=(2, 3)),)


@pytest.fixture(scope="module")
def network():
    facts = WeightsFacts(kind="own", source="drawn")
    return Network(name="colours", gives=("features",), transform=TRANSFORM, weights=facts, module=Colours())


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Write red squares on blue and on green, with masks, and a photo without one."""
    folder = tmp_path_factory.mktemp("photos")
    rows = []
    for place, ground in enumerate([(0, 0, 255), (0, 255, 0), (0, 0, 255), (0, 255, 0)]):
        photo = Image.new("RGB", (64, 64), ground)
        photo.paste((255, 0, 0), (16, 16, 48, 48))
        photo.save(folder / f"p{place}.png")
        rows.append({"image_id": f"p{place}.png", "path": f"p{place}.png"})
        if place < 3:
            mask = Image.new("L", (32, 32), 0)
            mask.paste(255, (8, 8, 24, 24))
            (folder / "masks").mkdir(exist_ok=True)
            mask.save(folder / "masks" / f"p{place}.png")
    return folder, pl.DataFrame(rows)


def test_each_part_has_its_own_colours(network, photos, tmp_path):
    folder, images = photos
    found = extract_masked_features(
        images, base=folder, network=network, masks=folder / "masks", output=tmp_path, shown_bar=False
    )
    assert found.foreground["image_id"].to_list() == ["p0.png", "p1.png", "p2.png"]
    assert np.allclose(found.foreground["features"].to_numpy()[0], [1, 0, 0], atol=0.1)
    assert np.allclose(found.background["features"].to_numpy()[1], [0, 1, 0], atol=0.1)
    assert found.rejects.row(0) == ("p3.png", "no mask")
    again = read_masked_features(tmp_path)
    assert again.rejects.equals(found.rejects)
    assert again.foreground.equals(found.foreground)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["background.parquet", "foreground.parquet"]


def test_a_batch_pools_what_its_images_pool_alone(network):
    rng = np.random.default_rng(0)
    pixels = rng.integers(256, size=(3, SIDE, SIDE, 3), dtype=np.uint8)
    shares = rng.random((3, SIDE, SIDE)).astype(np.float32)
    feature_map = find_feature_map(network)
    together = pool_parts(pixels, shares, network=network, feature_map=feature_map)
    for row in range(3):
        alone = pool_parts(pixels[[row]], shares[[row]], network=network, feature_map=feature_map)
        assert np.allclose(together[:, [row]], alone, atol=1e-6)


def test_feature_maps_of_convolutions_and_of_transformers_are_found(network):
    timm = pytest.importorskip("timm")
    from graticule.models.split_head import split_head

    assert find_feature_map(network).layer == "shrink"
    module = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=2, num_classes=5)
    split, gives = split_head(module, height=64, width=64)
    facts = WeightsFacts(kind="own", source="random")
    transform = Transform(height=64, width=64, resize_to=(64, 64), mean=(0.0,) * 3, std=(1.0,) * 3)
    found = find_feature_map(Network(name="vit", gives=gives, transform=transform, weights=facts, module=split))
    assert (found.layout, found.height, found.width, found.n_channels) == ("tokens", 4, 4, 192)


def make_looker(kind, network):
    if kind == "grad_cam":
        pytest.importorskip("captum")
        head = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32)
        return Looker(
            network=network, feature_map=find_feature_map(network), weights=head, intercepts=np.zeros(2, np.float32)
        )
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    module = timm.create_model("vit_tiny_patch16_224", img_size=SIDE, depth=2, num_classes=0).eval()

    class Features(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = module

        def forward(self, pixels):
            return (self.network(pixels),)

    facts = WeightsFacts(kind="own", source="random")
    given = Network(name="vit", gives=("features",), transform=TRANSFORM, weights=facts, module=Features().eval())
    weights = np.zeros((192, 2), dtype=np.float32)
    return Looker(
        network=given, feature_map=find_feature_map(given), weights=weights, intercepts=np.zeros(2, np.float32)
    )


@pytest.mark.parametrize("kind", SALIENCIES)
def test_a_batch_looks_where_its_images_look_alone_and_a_look_sums_to_one(kind, network):
    looker = make_looker(kind, network)
    pixels = np.random.default_rng(1).integers(256, size=(3, SIDE, SIDE, 3), dtype=np.uint8)
    targets = np.array([0, 1, 0])
    together = SALIENCIES[kind](looker, pixels, targets)
    assert together.shape == (3, SIDE, SIDE)
    assert np.allclose(together.sum(axis=(1, 2)), 1, atol=1e-4)
    assert (together >= 0).all()
    for row in range(3):
        alone = SALIENCIES[kind](looker, pixels[[row]], targets[[row]])
        assert np.allclose(together[[row]], alone, atol=1e-6)


def test_saliency_of_red_lies_on_the_red_square(network, photos):
    folder, images = photos
    looker = make_looker("grad_cam", network)
    looks = look_at_images(
        images,
        base=folder,
        looker=looker,
        targets=np.zeros(4, dtype=np.int64),
        config=LookConfig(batch_size=2),
        masks=MaskFolder(folder=folder / "masks"),
        pictured={"p0.png"},
    )
    assert looks[0].on_foreground > 0.75
    assert looks[0].area == pytest.approx(0.25, abs=0.06)
    assert looks[0].photo.startswith("data:image/webp;base64,")
    assert looks[1].photo == ""
    assert np.isnan(looks[3].on_foreground)


def test_a_method_that_cannot_look_into_a_network_says_which_can(network):
    looker = make_looker("grad_cam", network)
    pixels = np.zeros((1, SIDE, SIDE, 3), dtype=np.uint8)
    with pytest.raises(ConfigError, match="Take --saliency grad_cam"):
        SALIENCIES["attention_rollout"](looker, pixels, np.array([0]))
    with pytest.raises(ConfigError, match="Take --saliency attention_rollout"):
        SALIENCIES["grad_cam"](make_looker("attention_rollout", network), pixels, np.array([0]))


def test_an_exchanged_background_keeps_the_object(network, photos):
    folder, images = photos
    pixels, shares = [], []
    for name in ("p0", "p1"):
        image = Image.open(folder / f"{name}.png")
        shares.append(crop_mask(read_mask(folder / "masks" / f"{name}.png"), TRANSFORM, size=image.size))
        pixels.append(TRANSFORM.crop(image))
    swapped = swap_background(pixels[0], shares[0], pixels[1], shares[1])
    assert (swapped[16, 16] == [255, 0, 0]).all()
    assert (swapped[1, 1] == [0, 255, 0]).all()
    emptied = fill_object(pixels[0], shares[0] >= 0.1)
    assert emptied[16, 16, 2] > 200
    head = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32)  # green or blue
    looker = Looker(
        network=network, feature_map=find_feature_map(network), weights=head, intercepts=np.zeros(2, np.float32)
    )
    found = predict_swapped(
        images,
        np.array([0, 0, 1, 3]),
        np.array([1, 2, 0, 0]),
        base=folder,
        looker=looker,
        masks=MaskFolder(folder=folder / "masks"),
    )
    assert found.tolist() == [0, 1, 1, -1]


def test_a_probes_head_is_read_off_its_probabilities():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 6))
    weights = rng.normal(size=(6, 4))
    scores = np.exp(features @ weights)
    found = read_head_off(features, scores / scores.sum(axis=1, keepdims=True))
    assert found.agreement > 0.99
    centred = weights - weights.mean(axis=1, keepdims=True)
    assert np.allclose(found.weights, centred, atol=0.01)


def test_detections_that_are_sure_enough_are_united():
    from graticule.models.mask_rcnn import unite_detections

    masks = np.zeros((3, 2, 2))
    masks[0, 0, 0], masks[1, 1, 1], masks[2, 0, 1] = 0.9, 0.6, 0.9
    assert unite_detections(masks, np.array([0.9, 0.5, 0.4])).tolist() == [[True, False], [False, True]]
    assert not unite_detections(masks[:0], np.zeros(0)).any()


def test_weights_of_another_network_are_refused(tmp_path):
    from graticule.errors import ModelError
    from graticule.models.mask_rcnn import load_mask_rcnn

    torch.save({"weight": torch.zeros(1)}, tmp_path / "other.pt")
    with pytest.raises(ModelError, match="no weights of maskrcnn_resnet50_fpn"):
        load_mask_rcnn(str(tmp_path / "other.pt"))


def test_a_folder_without_masks_is_named_and_writes_nothing(network, photos, tmp_path):
    folder, images = photos
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no such folder"):
        extract_masked_features(images, base=folder, network=network, masks=tmp_path / "none", output=tmp_path / "out")
    with pytest.raises(FileError, match="no image of 4 has a usable mask there"):
        extract_masked_features(
            images, base=folder, network=network, masks=tmp_path / "empty", output=tmp_path / "out", shown_bar=False
        )
    assert not (tmp_path / "out" / "foreground.parquet").exists()
