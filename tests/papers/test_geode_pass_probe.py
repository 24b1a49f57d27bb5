"""A probe on real GeoDE features: trained in Europe it loses ten points in Africa; trained everywhere it does not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.models.probe import probe_features

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def geode(shared):
    folder = shared("data/geode_pass_features")
    rows = pl.read_parquet(folder / "rows.parquet")
    with np.load(folder / "features_f16.npz") as file:
        vectors = file["features"]
    ids = pl.format("geode_{}", pl.col("row"))
    images = rows.select(ids.alias("image_id"), pl.col("object").alias("label"), "region", "split")
    vectors = pl.Series(vectors.astype(np.float32), dtype=pl.Array(pl.Float32, vectors.shape[1]))
    return images.select("image_id").with_columns(features=vectors), images


def measure(geode, train):
    features, images = geode
    result = probe_features(features, images, train=train)
    best = result.predictions["scores"].to_numpy().argmax(axis=1)
    right = images.with_columns(
        is_right=pl.Series(np.array(result.info["labels"])[best]) == pl.col("label"),
        is_train=result.predictions["is_train"],
    ).filter(pl.col("split") == "test")
    assert not right["is_train"].any()
    by_region = dict(right.group_by("region").agg(pl.col("is_right").mean()).iter_rows())
    return by_region, float(right["is_right"].cast(pl.Float64).mean())  # type: ignore[arg-type]


def test_a_probe_trained_in_europe_gets_817_in_africa_and_92_at_home(geode):
    by_region, _ = measure(geode, 'region == "Europe" and split == "train"')
    assert by_region["Africa"] == pytest.approx(0.817, abs=0.01)
    assert by_region["Europe"] == pytest.approx(0.92, abs=0.01)
    assert min(by_region, key=lambda region: by_region[region]) == "Africa"


def test_a_probe_trained_everywhere_gets_92_over_all(geode):
    by_region, overall = measure(geode, 'split == "train"')
    assert overall == pytest.approx(0.92, abs=0.01)
    assert min(by_region.values()) > 0.89
