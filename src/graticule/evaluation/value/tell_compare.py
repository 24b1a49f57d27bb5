"""A comparison of data sets as rows of the metrics table, and in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from graticule.evaluation.adjustment import adjust_holm
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.shift.permutation import DistanceTest
from graticule.evaluation.value.compare import Comparison, CoverageOf

LEVEL = 0.05
CLASSIFIER = "logistic regression, cross-validated, balanced accuracy; bootstrap over groups"
PERMUTED = "permutation test; low and high: what random deals give in 95 of 100 cases"
COVERED = "k-th nearest neighbour within the label, equal numbers of both; Wilson interval"


def make_comparison_rows(found: Comparison, *, distance: str) -> pl.DataFrame:
    """Return rows of the metrics table; ``group`` names the pair, or who covers whom."""
    first, second = found.names
    pair = f"{first} | {second}"
    tests = [found.distance, *found.label_distances]
    labels: list[str | None] = [None, *found.labels]
    p_values = np.array([test.p_value for test in tests])
    adjusted = np.concatenate([p_values[:1], adjust_holm(p_values[1:])]) if len(tests) > 1 else p_values
    n = np.array([test.n_source + test.n_target for test in tests])
    frames = [
        make_rows("dataset_classifier", found.told, model=None, group=pair, method=CLASSIFIER),
        make_rows("dataset_classifier_matched", found.told_matched, model=None, group=pair, method=CLASSIFIER),
        make_rows(
            f"dataset_distance_{distance}", _read_tests(tests, n), model=None, label=labels, group=pair, method=PERMUTED
        ),
        make_rows(
            "dataset_distance_p",
            _bare(p_values, n),
            model=None,
            label=labels,
            group=pair,
            method="permutation test",
        ),
        make_rows(
            "dataset_distance_p_holm",
            _bare(adjusted, n),
            model=None,
            label=labels,
            group=pair,
            method="permutation test, holm over labels",
        ),
        *_list_coverage(found.covers_second, f"{first} covers {second}", found.labels),
        *_list_coverage(found.covers_first, f"{second} covers {first}", found.labels),
    ]
    return pl.concat(frames)


def describe_comparison(found: Comparison) -> list[str]:
    """Return what was found, in sentences."""
    first, second = found.names
    lines = [
        f"A linear classifier tells for {_percent(found.told)} of images whether they are from {first} or {second} "
        f"(chance: 50%); with as many images of each label and region from both, for {_percent(found.told_matched)}."
    ]
    n_apart = sum(test.p_value <= LEVEL for test in found.label_distances)
    if found.label_distances:
        lines.append(
            f"{n_apart} of {len(found.label_distances)} labels look different in the two by more than chance (before "
            "adjusting for their number)."
        )
    for name, other, part in ((first, second, found.covers_second), (second, first, found.covers_first)):
        if part.measures["coverage"].n[0]:
            lines.append(
                f"{name} covers {_percent(part.measures['coverage'])} of {other}'s images; as many other images of "
                f"{other} cover {_percent(part.itself)}."
            )
    return lines


def _list_coverage(part: CoverageOf, group: str, labels: Sequence[str]) -> list[pl.DataFrame]:
    named: list[str | None] = list(labels)
    frames = [
        make_rows(name, estimates, model=None, group=group, method=COVERED)
        for name, estimates in (*part.measures.items(), ("coverage_of_itself", part.itself))
    ]
    if named:
        frames.append(make_rows("coverage", part.by_label, model=None, label=named, group=group, method=COVERED))
        frames.append(
            make_rows("coverage_of_itself", part.by_label_itself, model=None, label=named, group=group, method=COVERED)
        )
    return frames


def _read_tests(tests: Sequence[DistanceTest], n: np.ndarray) -> Estimates:
    usual = np.array([test.usual for test in tests])
    return Estimates(value=np.array([test.value for test in tests]), low=usual[:, 0], high=usual[:, 1], n=n)


def _bare(values: np.ndarray, n: np.ndarray) -> Estimates:
    nothing = np.full(len(values), np.nan)
    return Estimates(value=values, low=nothing, high=nothing, n=n)


def _percent(estimates: Estimates) -> str:
    value, low, high = (100 * part[0] for part in (estimates.value, estimates.low, estimates.high))
    return f"{value:.1f}% ({low:.1f}–{high:.1f})"
