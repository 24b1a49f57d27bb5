"""A small world with known properties: three labels, three regions, one of which looks different."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

LABELS = ("dustbin", "house", "stove")
REGIONS = ("Africa", "Asia", "Europe")


def draw_world(*, n=40, shift=2.0, seed=0, sizes=None):
    """Return features and images; Africa's images of every label lie ``shift`` away from the others'."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((len(LABELS), 12)) * 1.2
    moved = rng.standard_normal((len(LABELS), 12))
    moved *= shift / np.linalg.norm(moved, axis=1, keepdims=True)
    rows, vectors = [], []
    for r, region in enumerate(REGIONS):
        for k, label in enumerate(LABELS):
            count = n if sizes is None else sizes[r][k]
            vectors.append(rng.standard_normal((count, 12)) + centres[k] + (moved[k] if region == "Africa" else 0))
            rows += [(f"{region}_{label}_{i}", label, region, "test" if i % 4 == 0 else "train") for i in range(count)]
    images = pl.DataFrame(rows, schema=["image_id", "label", "region", "split"], orient="row")
    table = pl.Series(np.concatenate(vectors).astype(np.float32), dtype=pl.Array(pl.Float32, 12))
    return images.select("image_id").with_columns(features=table), images


@pytest.fixture(scope="session")
def world():
    return draw_world()


@pytest.fixture(scope="session")
def make_world():
    return draw_world
