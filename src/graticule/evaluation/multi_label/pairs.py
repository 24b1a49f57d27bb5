"""Pairs of labels that meet in the same images, counted in each region and in all: rows of the metrics table."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.rows import make_rows, no_rows, take_names

MIN_PAIR_IMAGES = 2
"""Pairs that meet in a single image of a cell are no pattern, and are not listed."""


def pair_rows(
    metric: str,
    *,
    image: Int[np.ndarray, " p"],
    label: Int[np.ndarray, " p"],
    other: Int[np.ndarray, " p"],
    base: Int[np.ndarray, "r1 k"],
    people: People,
    config: AuditConfig,
) -> pl.DataFrame:
    """Return, for each pair, the share of the first label's images in which it meets the second.

    The most frequent pairs come first.

    Parameters
    ----------
    metric
        Name of the metric; ``label`` and ``group`` of its rows are the two labels.
    image, label, other
        The meetings: image and codes of both labels, each meeting once, shape ``(p,)``.
    base
        Images of each label in each region and, last, in all, shape ``(r + 1, k)``.
    people
        Names of regions and labels, and the images' regions.
    config
        Coverage of Wilson's intervals.
    """
    if not len(image):
        return no_rows()
    n_regions, n_labels = len(people.regions), len(people.labels)
    region = people.region[image].astype(np.int64)
    pairs = label.astype(np.int64) * n_labels + other
    cells = np.concatenate([np.full(len(pairs), n_regions), region[region >= 0]])
    keys, counts = np.unique(cells * n_labels**2 + np.concatenate([pairs, pairs[region >= 0]]), return_counts=True)
    kept = counts >= MIN_PAIR_IMAGES
    keys, counts = keys[kept], counts[kept]
    if not len(keys):
        return no_rows()
    cell, pair = np.divmod(keys, n_labels**2)
    first, second = np.divmod(pair, n_labels)
    order = np.lexsort((second, first, -counts, -cell))
    cell, first, second, counts = cell[order], first[order], second[order], counts[order]
    return make_rows(
        metric,
        wilson_interval(counts, base[cell, first], confidence=config.confidence),
        model=None,
        region=take_names(people.regions, cell),
        label=take_names(people.labels, first),
        group=take_names(people.labels, second),
        method="wilson",
    )


def count_labels(
    image: Int[np.ndarray, " p"], label: Int[np.ndarray, " p"], *, people: People
) -> Int[np.ndarray, "r1 k"]:
    """Return the images of each label in each region and, last, in all."""
    n_regions, n_labels = len(people.regions), len(people.labels)
    region = people.region[image].astype(np.int64)
    cells = region[region >= 0] * n_labels + label[region >= 0]
    by_region = np.bincount(cells, minlength=n_regions * n_labels).reshape(n_regions, n_labels)
    return np.concatenate([by_region, np.bincount(label, minlength=n_labels)[None]])
