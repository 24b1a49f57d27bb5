"""Confusion: what images of each label are taken for, in each region and in all."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.rows import make_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("confusion",)
WHOLE_UP_TO = 100
"""Up to this many predictable labels all confusions are listed; with more, those that count."""
LISTED = 10
"""Predicted labels listed for a region and label where the model knows more labels than that."""


def measure_confusion(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the share of each label's images that were given each predicted label, where it is not zero.

    Notes
    -----
    Counts equal scikit-learn's ``confusion_matrix``; shares are over the images of the label (its rows). With more than
    100 predictable labels only the ten most frequent of a region and label are listed, the right one always among them
    where it occurs: 1,000 labels in 200 countries would be a table that nobody can open.
    """
    n_labels, n_predicted = len(scored.labels), len(scored.predicted_labels)
    n_regions = len(scored.regions)
    cells = (scored.region.astype(np.int64) * n_labels + scored.label) * n_predicted + scored.predicted
    found, counts = _count(cells, n_regions * n_labels * n_predicted)
    everywhere, which = np.unique(found % (n_labels * n_predicted), return_inverse=True)
    found = np.concatenate([found, everywhere + n_regions * n_labels * n_predicted])
    counts = np.concatenate([counts, np.bincount(which, weights=counts, minlength=len(everywhere)).astype(np.int64)])
    cell, predicted = np.divmod(found, n_predicted)
    region, label = np.divmod(cell, n_labels)
    n = scored.count_cells()
    n = np.concatenate([n, n.sum(axis=0, keepdims=True)]).ravel()[cell]
    if n_predicted > WHOLE_UP_TO:
        kept = _rank_within(cell, np.where(predicted == scored.columns[label], n + 1, counts)) < LISTED
        region, label, predicted, counts, n = (codes[kept] for codes in (region, label, predicted, counts, n))
    return make_rows(
        "confusion",
        wilson_interval(counts, n, confidence=config.confidence),
        model=scored.model,
        region=take_names(scored.regions, region),
        label=take_names(scored.labels, label),
        group=take_names(scored.predicted_labels, predicted),
        method="wilson",
    )


def _count(cells: Int[np.ndarray, " n"], n_cells: int) -> tuple[Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    if n_cells <= max(1_000_000, 4 * len(cells)):
        counts = np.bincount(cells, minlength=n_cells)
        found = np.flatnonzero(counts)
        return found, counts[found]
    return np.unique(cells, return_counts=True)


def _rank_within(cell: Int[np.ndarray, " m"], weight: Int[np.ndarray, " m"]) -> Int[np.ndarray, " m"]:
    """Return the place of each entry among those of its cell, the heaviest first, equal ones in their order."""
    order = np.lexsort((-weight, cell))
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    return rank
