"""Made-up audits for the tests of evaluation: a table of images and predictions whose every fact is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions


def build_case(
    *,
    n=600,
    regions=("Africa", "Asia", "Europe"),
    labels=("bag", "dog", "hat", "house", "stove", "tree"),
    kind="logits",
    accuracy=0.8,
    seed=0,
    model="a model",
):
    """Return images and predictions drawn at random, right with probability ``accuracy`` in every region."""
    rng = np.random.default_rng(seed)
    region, label = rng.integers(0, len(regions), n), rng.integers(0, len(labels), n)
    wrong = (label + 1 + rng.integers(0, max(len(labels) - 1, 1), n)) % len(labels)
    predicted = np.where(rng.random(n) < accuracy, label, wrong)
    scores = rng.normal(size=(n, len(labels)))
    scores[np.arange(n), predicted] = scores.max(axis=1) + rng.exponential(size=n) + 0.01
    if kind == "probabilities":
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    names = [f"photo-{place:05d}" for place in range(n)]
    images = pl.DataFrame(
        {
            "image_id": names,
            "path": [f"photos/{name}.jpg" for name in names],
            "label": pl.Series(list(labels)).gather(label),
            "region": pl.Series(list(regions)).gather(region),
        }
    )
    order = np.argsort(-scores, axis=1, kind="stable").astype(np.int32)
    predictions = Predictions(
        model=model,
        image_ids=np.array(names, dtype=object),
        labels=tuple(labels),
        kind=kind,
        top=order[:, :5] if kind != "labels" else order[:, :1],
        scores=scores.astype(np.float32) if kind != "labels" else None,
        info={},
    )
    return images, predictions


@pytest.fixture(scope="session")
def make_case():
    return build_case


@pytest.fixture(scope="session")
def find_row():
    """Return a function that gives the one row of a metrics table at a place."""

    def find(metrics: pl.DataFrame, metric: str, **place):
        wanted = pl.col("metric") == metric
        for column in ("model", "region", "label", "group"):
            if column == "model" and column not in place:
                continue
            name = place.get(column)
            wanted &= pl.col(column).is_null() if name is None else pl.col(column) == name
        rows = metrics.filter(wanted)
        assert rows.height == 1, f"{rows.height} rows of {metric} at {place}"
        return rows.row(0, named=True)

    return find
