"""How much of a drop different shares of labels make: both regions' accuracies, weighed to common shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile
from graticule.evaluation.shift.outcomes import Outcomes, draw_again
from graticule.evaluation.shift.spread import measure_spread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommonShares:
    """Accuracies of both regions with labels weighed alike.

    Parameters
    ----------
    source, target, drop
        Accuracies and their difference, each of length one.
    """

    source: Estimates
    target: Estimates
    drop: Estimates


def _keep_source(counts: Float[np.ndarray, "2 k"], fewest: int) -> Float[np.ndarray, " k"]:
    return counts[0]


def _keep_target(counts: Float[np.ndarray, "2 k"], fewest: int) -> Float[np.ndarray, " k"]:
    return counts[1]


def _balance(counts: Float[np.ndarray, "2 k"], fewest: int) -> Float[np.ndarray, " k"]:
    return (counts.min(axis=0) >= fewest).astype(np.float64)


def _match(counts: Float[np.ndarray, "2 k"], fewest: int) -> Float[np.ndarray, " k"]:
    return counts.min(axis=0)


SHARES: dict[str, Callable[[Float[np.ndarray, "2 k"], int], Float[np.ndarray, " k"]]] = {
    "balanced": _balance,
    "matched": _match,
    "source": _keep_source,
    "target": _keep_target,
}
"""Which shares both regions are weighed to.

``balanced``: every label the same, labels with few images left out, as in GeoNet's table 3 (there a subset with 200 to
300 images a label; here the mean over all such subsets, which no random choice disturbs). ``matched``: as many images
of a label from either side as the side with fewer has."""


def weigh_labels(
    outcomes: Outcomes,
    *,
    fewest: int = 8,
    n_bootstraps: int = 500,
    confidence: float = 0.95,
    seed: int = 0,
) -> Mapping[str, CommonShares]:
    """Return name of the shares → accuracies and drop; ``own`` leaves each region its own shares.

    Parameters
    ----------
    outcomes
        The images and whether the model was right.
    fewest
        Labels with fewer images on either side are left out of ``balanced``.
    n_bootstraps
        Draws of the images of both sides.
    confidence
        Coverage of each interval.
    seed
        Seed of the draws.

    Notes
    -----
    Labels that one side lacks take no part, except in ``own``. Intervals are normal ones with the bootstrap's standard
    deviation; groups are drawn together.
    """
    rng = np.random.default_rng(seed)
    names = ("own", *SHARES)
    value = _measure(outcomes, np.ones(len(outcomes.label)), fewest)
    draws = np.stack([_measure(outcomes, draw_again(outcomes, rng=rng), fewest) for _ in range(n_bootstraps)])
    reach = find_quantile(confidence) * measure_spread(draws)
    n = np.array([len(outcomes.label)])
    found: dict[str, CommonShares] = {}
    for place, name in enumerate(names):
        source, target, drop = (
            Estimates(
                value=value[place, [side]],
                low=value[place, [side]] - reach[place, [side]],
                high=value[place, [side]] + reach[place, [side]],
                n=n if np.isfinite(value[place, side]) else np.array([0]),
            )
            for side in range(3)
        )
        found[name] = CommonShares(source=source, target=target, drop=drop)
    return found


def measure_total_variation(outcomes: Outcomes) -> float:
    """Return the total variation distance between the labels' shares of both regions, from 0 to 1."""
    counts = outcomes.count_labels()
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _measure(outcomes: Outcomes, weights: Float[np.ndarray, " n"], fewest: int) -> Float[np.ndarray, "s 3"]:
    counts, accuracy = outcomes.count_labels(weights), outcomes.measure_labels(weights)
    filled = np.nan_to_num(accuracy)
    shared = (counts > 0).all(axis=0)
    rows = [(counts * filled).sum(axis=1) / counts.sum(axis=1)]
    for weigh in SHARES.values():
        shares = weigh(counts, fewest) * shared
        total = shares.sum()
        rows.append(filled @ shares / total if total > 0 else np.full(2, np.nan))
    sides = np.stack(rows)
    return np.concatenate([sides, sides[:, :1] - sides[:, 1:]], axis=1)
