"""The partition test of every label: bands, flags, p-values, and how many flags chance alone would raise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from graticule.evaluation.adjustment import METHODS, adjust_benjamini_hochberg, adjust_holm
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import as_estimates, single_estimate
from graticule.evaluation.image_keys import make_generator
from graticule.evaluation.partition_test import (
    READINGS,
    Band,
    PartitionTest,
    compute_partition_test,
    simulate_partition_test,
)
from graticule.evaluation.rows import make_rows
from graticule.evaluation.scored import Scored

NAMES = (
    "partition_low",
    "partition_high",
    "partition_p",
    "partition_p_adjusted",
    "partition_flag",
    "partition_flags",
    "partition_flags_expected",
)
EXACT_COST = 30_000_000
"""Regions times transform length, over all labels, up to which the exact test takes some ten seconds."""


def measure_partition(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the partition test of each label over its regions with at least ``min_images`` images.

    A label with fewer than two such regions has NaN with n = 0. ``n`` of ``partition_flags`` is the number of labels
    that were tested.
    """
    n, hits = scored.count_cells().T, scored.count_cells(scored.is_right).T
    n = np.where(n >= config.min_images, n, 0)
    n = np.where((n > 0).sum(axis=1, keepdims=True) >= 2, n, 0)
    hits = np.where(n > 0, hits, 0)
    tests = _run_tests(n, hits, scored=scored, config=config)
    total = n.sum(axis=1)
    lowest, highest = (
        np.array([find(hits[row, n[row] > 0] / n[row, n[row] > 0]) if total[row] else np.nan for row in range(len(n))])
        for find in (np.min, np.max)
    )
    method = next((test.method for test in tests if test is not None), None)
    labels = list(scored.labels)

    def read(value: Callable[[PartitionTest], float]) -> np.ndarray:
        return np.array([np.nan if test is None else value(test) for test in tests])

    def rows(metric: str, values: np.ndarray, group: str) -> pl.DataFrame:
        return make_rows(
            metric, as_estimates(values, total), model=scored.model, label=labels, group=group, method=method
        )

    frames: list[pl.DataFrame] = []
    for reading in READINGS:
        low, high, by_chance = (
            read(lambda test, part=part, reading=reading: getattr(_band(test, reading), part))
            for part in ("low", "high", "flagged_by_chance")
        )
        flags = np.where(total > 0, (lowest < low) | (highest > high), np.nan)
        frames += [rows("partition_low", low, reading), rows("partition_high", high, reading)]
        frames.append(rows("partition_flag", flags, reading))
        frames += _count_flags(flags, by_chance, scored=scored, reading=reading, method=method)
    either = read(lambda test: test.p_either)
    frames.append(rows("partition_p", read(lambda test: test.p_min), "min"))
    frames.append(rows("partition_p", read(lambda test: test.p_max), "max"))
    frames.append(rows("partition_p", either, "either"))
    for name, adjust in zip(METHODS, (adjust_holm, adjust_benjamini_hochberg), strict=True):
        frames.append(rows("partition_p_adjusted", adjust(either), name))
    return pl.concat(frames)


def _run_tests(n: np.ndarray, hits: np.ndarray, *, scored: Scored, config: AuditConfig) -> list[PartitionTest | None]:
    tested = [row for row in range(len(n)) if n[row].any()]
    is_exact = config.partition_method == "exact" or (
        config.partition_method == "auto" and _find_cost(n[tested], hits[tested]) <= EXACT_COST
    )
    tests: list[PartitionTest | None] = [None] * len(n)
    for row in tested:
        sizes, right = n[row, n[row] > 0], hits[row, n[row] > 0]
        if is_exact:
            tests[row] = compute_partition_test(sizes, right, confidence=config.confidence)
        else:
            tests[row] = simulate_partition_test(
                sizes,
                right,
                confidence=config.confidence,
                n_partitions=config.n_partitions,
                rng=make_generator(config.seed, scored.model, "partition", scored.labels[row]),
            )
    return tests


def _find_cost(n: np.ndarray, hits: np.ndarray) -> float:
    """Return regions times transform length (some 19 standard deviations of the largest region), over all labels."""
    total = np.maximum(n.sum(axis=1), 1)
    rate = hits.sum(axis=1) / total
    length = np.minimum(total, 12 + 19 * np.sqrt(total * rate * (1 - rate)))
    return float(((n > 0).sum(axis=1) * length).sum())


def _band(test: PartitionTest, reading: str) -> Band:
    return test.pooled if reading == "pooled" else test.extremes


def _count_flags(
    flags: np.ndarray, by_chance: np.ndarray, *, scored: Scored, reading: str, method: str | None
) -> list[pl.DataFrame]:
    n_tested = int(np.count_nonzero(~np.isnan(flags)))
    counted = float(np.nansum(flags)) if n_tested else np.nan
    expected = float(np.nansum(by_chance)) if n_tested else np.nan
    return [
        make_rows(metric, single_estimate(value, n=n_tested), model=scored.model, group=reading, method=method)
        for metric, value in (("partition_flags", counted), ("partition_flags_expected", expected))
    ]
