"""Confusions with very many labels are cut to those that count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from graticule.evaluation.audit import audit_predictions
from graticule.evaluation.audit_config import AuditConfig

FAST = AuditConfig(n_bootstraps=10, n_partitions=10)


def test_with_many_labels_the_ten_most_frequent_stand_and_the_right_one(make_case):
    names = tuple(f"label {code:03d}" for code in range(150))
    images, predictions = make_case(
        n=4000, labels=("label 003", "label 077"), regions=("Asia", "Europe"), kind="labels"
    )
    rng = np.random.default_rng(0)
    top = (rng.geometric(0.05, (4000, 1)) % 150).astype(np.int32)
    rare = np.flatnonzero((images["label"] == "label 077").to_numpy())[:1]
    top[rare] = 77
    audit = audit_predictions(images, [replace(predictions, labels=names, top=top)], config=FAST)
    rows = audit.metrics.filter(pl.col("metric") == "confusion")
    counts = rows.group_by("region", "label").agg(pl.len(), pl.col("group"))
    assert counts["len"].to_list() == [10] * 6
    everywhere = rows.filter(pl.col("region").is_null() & (pl.col("label") == "label 077"))
    assert "label 077" in everywhere["group"]
    is_077 = (images["label"] == "label 077").to_numpy()
    frequencies = np.bincount(top[is_077, 0], minlength=150)
    kept = {int(name[-3:]) for name in everywhere["group"]} - {77}
    assert min(frequencies[list(kept)]) >= np.sort(np.delete(frequencies, 77))[-9]
    assert any("150 labels" in note for note in audit.record.notes)
