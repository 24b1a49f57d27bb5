"""How far two regions' features lie apart, over all images and label by label, with permutation tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.evaluation.adjustment import adjust_holm
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.shift.permutation import DistanceTest, PermutationConfig, compare_features
from graticule.evaluation.shift.regions import Joined
from graticule.progress import track

DEALS_A_LABEL = 40
FEWEST = 5
"""Images a side below which a label's distance is not measured."""
METHOD = "permutation test; low and high: what random deals give in 95 of 100 cases"


def measure_distances(
    joined: Joined,
    kind: str,
    features: Float[np.ndarray, "n d"],
    *,
    config: PermutationConfig,
    distances: Sequence[str],
    seed: int,
) -> pl.DataFrame:
    """Return rows of the metrics table: ``<kind>_distance`` with its p-value, for all images and for each label.

    Notes
    -----
    The first distance is measured for every label, the others over all images only. Low and high are no interval of the
    distance: they are the usual range where there is no difference. P-values of labels are adjusted by Holm.
    """
    outcomes = joined.outcomes
    groups = outcomes.groups
    frames: list[pl.DataFrame] = []
    for place, name in enumerate(distances):
        settings = replace(config, distance=name)
        whole = compare_features(features, outcomes.is_target, groups=groups, config=settings, seed=seed)
        frames += _tell([whole], kind=kind, distance=name, joined=joined, labels=[None])
        if place:
            continue
        counts = outcomes.count_labels().min(axis=0)
        codes = np.flatnonzero(counts >= FEWEST)
        tests: list[DistanceTest] = []
        # Enough deals that a label can stand out after the adjustment for all of them.
        settings = replace(settings, n_permutations=max(config.n_permutations, DEALS_A_LABEL * len(codes)))
        for code in track(codes, total=len(codes), label=f"distances, {kind}", unit="label", shown=config.shown):
            rows = np.flatnonzero(outcomes.label == code)
            tests.append(
                compare_features(
                    features[rows], outcomes.is_target[rows], groups=groups[rows], config=settings, seed=seed
                )
            )
        if tests:
            labels: list[str | None] = [outcomes.labels[code] for code in codes]
            frames += _tell(tests, kind=kind, distance=name, joined=joined, labels=labels)
    return pl.concat(frames)


def _tell(
    tests: Sequence[DistanceTest], *, kind: str, distance: str, joined: Joined, labels: list[str | None]
) -> list[pl.DataFrame]:
    value = np.array([test.value for test in tests])
    n = np.where(np.isfinite(value), [test.n_source + test.n_target for test in tests], 0)
    usual = np.array([test.usual for test in tests])
    nothing = np.full(len(tests), np.nan)
    p_values = np.array([test.p_value for test in tests])
    found = Estimates(value=value, low=usual[:, 0], high=usual[:, 1], n=n)
    adjusted = adjust_holm(p_values)
    return [
        make_rows(
            f"{kind}_distance", found, model=None, region=joined.target, label=labels, group=distance, method=METHOD
        ),
        make_rows(
            f"{kind}_distance_p",
            Estimates(value=p_values, low=nothing, high=nothing, n=n),
            model=None,
            region=joined.target,
            label=labels,
            group=distance,
            method="permutation test",
        ),
        make_rows(
            f"{kind}_distance_p_holm",
            Estimates(value=adjusted, low=nothing, high=nothing, n=n),
            model=None,
            region=joined.target,
            label=labels,
            group=distance,
            method="permutation test, holm over labels",
        ),
    ]
