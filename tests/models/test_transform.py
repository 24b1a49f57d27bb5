"""A model's preprocessing must be, to the pixel, what its own library does."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from graticule.data.decode import open_image
from graticule.errors import ConfigError
from graticule.models.providers.hf_transform import read_transform
from graticule.models.transform import IMAGENET_MEAN, IMAGENET_STD, Transform, scaled

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.3, 0.5)
FLOAT_ERROR = 1e-6
ONE_LEVEL = 1.001 / 255


@pytest.fixture(scope="module")
def photos(shared):
    """Real photos of many shapes, and some shapes that photos seldom have."""
    folders = ("images/geotagged", "images/signs_de_it/italy/no_entry", "images/imagenet1k_samples_short256")
    paths = [path for folder in folders for path in sorted(shared(folder).glob("*.jpg"))[::25][:5]]
    images = [Image.open(path).convert("RGB") for path in paths]
    wide = images[0].resize((901, 40))
    return [*images, wide, wide.transpose(Image.Transpose.ROTATE_90), images[0].resize((225, 225))]


@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize("crop", [0.875, 0.95, 1.0])
@pytest.mark.parametrize("size", [(224, 224), (160, 224)])
@pytest.mark.parametrize("mode", ["center", "squash", "border"])
def test_equals_timm(photos, mode, size, crop, interpolation):
    timm_data = pytest.importorskip("timm.data")
    theirs = timm_data.create_transform(
        input_size=(3, *size), crop_pct=crop, crop_mode=mode, interpolation=interpolation, mean=MEAN, std=STD
    )
    ours = Transform(
        height=size[0],
        width=size[1],
        resize={"center": "shortest", "squash": "squash", "border": "longest"}[mode],
        resize_to=scaled(size, crop),
        interpolation=interpolation,
        mean=MEAN,
        std=STD,
        fill=tuple(round(255 * value) for value in MEAN) if mode == "border" else (0, 0, 0),
    )
    for photo in photos:
        np.testing.assert_allclose(ours(photo), theirs(photo).numpy(), atol=FLOAT_ERROR)


@pytest.mark.parametrize("mode", ["shortest", "longest", "squash"])
def test_equals_open_clip(photos, mode):
    library = pytest.importorskip("open_clip.transform")
    theirs = library.image_transform(224, is_train=False, mean=MEAN, std=STD, resize_mode=mode)
    ours = Transform(height=224, width=224, resize=mode, resize_to=(224, 224), mean=MEAN, std=STD)
    for photo in photos:
        np.testing.assert_allclose(ours(photo), theirs(photo).numpy(), atol=FLOAT_ERROR)


def test_equals_torchvision(photos):
    presets = pytest.importorskip("torchvision.transforms._presets")
    theirs = presets.ImageClassification(crop_size=224, resize_size=232)
    ours = Transform(
        height=224, width=224, resize_to=(232, 232), interpolation="bilinear", mean=IMAGENET_MEAN, std=IMAGENET_STD
    )
    for photo in photos:
        np.testing.assert_allclose(ours(photo), theirs(photo).numpy(), atol=FLOAT_ERROR)


@pytest.mark.parametrize(
    "processor",
    [
        pytest.param({"kind": "ViTImageProcessor", "size": {"height": 224, "width": 224}}, id="vit"),
        pytest.param(
            {"kind": "CLIPImageProcessor", "size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}},
            id="clip",
        ),
        pytest.param({"kind": "ConvNextImageProcessor", "size": {"shortest_edge": 224}, "crop_pct": 0.875}, id="next"),
        pytest.param({"kind": "ConvNextImageProcessor", "size": {"shortest_edge": 384}}, id="next-384"),
        pytest.param({"kind": "SiglipImageProcessor", "size": {"height": 224, "width": 224}}, id="siglip"),
    ],
)
def test_equals_transformers(photos, processor):
    library = pytest.importorskip("transformers")
    settings = {key: value for key, value in processor.items() if key != "kind"}
    theirs = getattr(library, processor["kind"])(**settings)
    ours = read_transform(theirs.to_dict(), name="hf/test")
    for photo in photos:
        expected = theirs(photo, return_tensors="np")["pixel_values"][0]
        # It resizes tensors, whose two passes round between them in another order than Pillow's for a tall photo: a
        # few levels out of 255 at sharp edges.
        std = np.asarray(ours.std)[:, None, None]
        error = np.abs(ours(photo) - expected) * std
        assert error.max() <= 6 * ONE_LEVEL
        assert error.mean() < 0.3 / 255


def test_a_processor_of_an_unknown_kind_is_refused_with_its_size():
    settings = {"size": {"max_height": 400, "max_width": 300}, "image_mean": MEAN, "image_std": STD}
    with pytest.raises(Exception, match=r"hf/odd: .*max_height.*module:function") as caught:
        read_transform(settings, name="hf/odd")
    assert isinstance(caught.value, RuntimeError)


def test_reduced_decoding_changes_pixels_little(shared):
    transform = Transform(height=224, width=224, resize_to=(256, 256), mean=(0.5,) * 3, std=(0.5,) * 3)
    reduced = 0
    for path in sorted(shared("images/geotagged").glob("*OpenSfM*.jpg")):
        whole, less = open_image(path), open_image(path, min_side=transform.min_side)
        assert min(less.size) >= min(1.5 * 256, *whole.size)
        if less.size != whole.size:
            reduced += 1
            difference = transform.crop(whole).astype(int) - transform.crop(less)
            assert np.abs(difference).mean() < 1
    assert reduced > 10


def test_a_very_long_image_costs_no_more_than_what_is_seen_of_it():
    transform = Transform(height=32, width=32, resize_to=(36, 36), mean=(0.5,) * 3, std=(0.5,) * 3)
    ramp = np.linspace(0, 255, 60_000).astype(np.uint8)
    image = Image.fromarray(np.repeat(ramp[None, :, None], 3, axis=2))
    pixels = transform.crop(image)
    assert pixels.shape == (32, 32, 3)
    assert abs(int(pixels.mean()) - 127) <= 1  # the middle of the ramp


def test_bytes_become_floats_by_mean_and_std():
    transform = Transform(height=1, width=2, resize_to=(1, 2), mean=MEAN, std=STD)
    pixels = np.array([[[[0, 51, 255], [255, 0, 0]]]], dtype=np.uint8)
    expected = (pixels / 255 - MEAN) / STD
    np.testing.assert_allclose(transform.normalise(pixels), expected.transpose(0, 3, 1, 2), atol=FLOAT_ERROR)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("resize", "sideways", "unknown resize 'sideways'"),
        ("interpolation", "cubic", "Did you mean 'bicubic'"),
        ("std", (0.0, 1.0, 1.0), "std above 0"),
        ("height", 0, "at least 1"),
    ],
)
def test_an_impossible_transform_is_refused(field, value, message):
    settings = {"height": 8, "width": 8, "resize_to": (8, 8), "mean": MEAN, "std": STD, field: value}
    with pytest.raises(ConfigError, match=message):
        Transform(**settings)


def test_describes_itself_in_a_line():
    transform = Transform(height=224, width=224, resize_to=(256, 256), mean=(0.5,) * 3, std=(0.5,) * 3)
    assert transform.describe() == (
        "shortest side to 256 (bicubic), centre 224×224, mean (0.5, 0.5, 0.5), std (0.5, 0.5, 0.5)"
    )
