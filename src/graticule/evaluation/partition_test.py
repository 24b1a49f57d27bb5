"""GeoDE's partition test: are a label's best and worst regions more than a random partition of its images gives?

If regions made no difference, a label's images could be dealt into regions of the same sizes at random, and regions'
accuracies would still differ. The test says how far. There are two readings:

pooled
    as GeoDE describes it: the band holds 95 % of *all regions'* accuracies under random partitions. Of six regions,
    the worst or the best then often falls outside by chance alone: of 40 labels without any effect about 8 to 10 are
    flagged.
extremes
    calibrated: the band's lower end is the 2.5 % quantile of the *worst* region's accuracy, its upper end the 97.5 %
    quantile of the *best* region's. Of 40 labels without any effect about 2 are flagged.

References
----------
Ramaswamy et al. (2023), GeoDE: a geographically diverse evaluation dataset for object recognition, section 5, figure 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.hypergeometric import RandomPartition

READINGS = ("pooled", "extremes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Where accuracies lie under random partitions, and how often chance alone leaves it.

    Parameters
    ----------
    low, high
        Ends of the band; a label is flagged when its worst region lies below or its best region above.
    flagged_by_chance
        Probability that a label without any effect is flagged.
    """

    low: float
    high: float
    flagged_by_chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTest:
    """The test of one label.

    Parameters
    ----------
    pooled, extremes
        The band under each reading.
    p_min
        Probability that a random partition's worst region is as bad as the real one or worse.
    p_max
        Probability that a random partition's best region is as good as the real one or better.
    p_either
        Probability that the smaller of those two is, for a random partition, as small as the real one or smaller.
    method
        ``exact`` or ``simulation``.
    """

    pooled: Band
    extremes: Band
    p_min: float
    p_max: float
    p_either: float
    method: str


def compute_partition_test(
    sizes: Int[np.ndarray, " r"], hits: Int[np.ndarray, " r"], *, confidence: float
) -> PartitionTest:
    """Return the partition test of one label without drawing partitions.

    Parameters
    ----------
    sizes
        Images of each region, all above 0, shape ``(r,)``.
    hits
        Images of each region that were right, shape ``(r,)``.
    confidence
        Share of the accuracies, or of the partitions, that stays within the band.

    Notes
    -----
    Quantiles of these discrete laws are the outermost values that chance reaches with at least the tail's probability,
    so that the extremes reading flags at most one minus ``confidence`` of labels without effect.
    """
    partition = RandomPartition(sizes=sizes, n_hits=int(hits.sum()))
    tail = (1 - confidence) / 2
    accuracies = hits / sizes
    lowest, highest = float(accuracies.min()), float(accuracies.max())
    p_min, p_max = partition.probability_min_at_most(lowest), partition.probability_max_at_least(highest)
    smaller = min(p_min, p_max)
    low_twin = lowest if p_min <= p_max else _last_level(partition.levels, partition.probability_min_at_most, smaller)
    high_twin = (
        highest
        if p_max <= p_min
        else -_last_level(-partition.levels[::-1], lambda level: partition.probability_max_at_least(-level), smaller)
    )
    pooled_low, pooled_high = _pooled_ends(partition, tail)
    low = _first_level(partition.levels, partition.probability_min_at_most, tail)
    high = -_first_level(-partition.levels[::-1], lambda level: partition.probability_max_at_least(-level), tail)
    return PartitionTest(
        pooled=Band(
            low=pooled_low,
            high=pooled_high,
            flagged_by_chance=partition.probability_outside(pooled_low, pooled_high),
        ),
        extremes=Band(low=low, high=high, flagged_by_chance=partition.probability_outside(low, high)),
        p_min=p_min,
        p_max=p_max,
        p_either=partition.probability_either(low_twin, high_twin),
        method="exact",
    )


def simulate_partition_test(
    sizes: Int[np.ndarray, " r"],
    hits: Int[np.ndarray, " r"],
    *,
    confidence: float,
    n_partitions: int,
    rng: np.random.Generator,
) -> PartitionTest:
    """Return the partition test of one label from random partitions, as GeoDE does.

    Parameters
    ----------
    sizes, hits, confidence
        As for `compute_partition_test`.
    n_partitions
        Random partitions.
    rng
        Source of randomness.

    Notes
    -----
    Partitions are drawn from their law (multivariate hypergeometric), not by shuffling images. The real partition is
    counted as one more, so that no p-value is below ``1 / (n_partitions + 1)``.
    """
    tail = (1 - confidence) / 2
    drawn = draw_accuracies(sizes, int(hits.sum()), n_partitions=n_partitions, rng=rng)
    accuracies = hits / sizes
    lowest = np.append(drawn.min(axis=1), accuracies.min())
    highest = np.append(drawn.max(axis=1), accuracies.max())
    p_min = _rank_from_below(lowest)
    p_max = _rank_from_below(-highest)
    p_either = _rank_from_below(np.minimum(p_min, p_max))
    bands = {
        "pooled": (_quantile(drawn.ravel(), tail), -_quantile(-drawn.ravel(), tail)),
        "extremes": (_quantile(lowest[:-1], tail), -_quantile(-highest[:-1], tail)),
    }
    pooled, extremes = (
        Band(low=low, high=high, flagged_by_chance=float(((lowest[:-1] < low) | (highest[:-1] > high)).mean()))
        for low, high in bands.values()
    )
    return PartitionTest(
        pooled=pooled,
        extremes=extremes,
        p_min=float(p_min[-1]),
        p_max=float(p_max[-1]),
        p_either=float(p_either[-1]),
        method="simulation",
    )


def draw_accuracies(
    sizes: Int[np.ndarray, " r"], n_hits: int, *, n_partitions: int, rng: np.random.Generator
) -> Float[np.ndarray, "b r"]:
    """Return regions' accuracies under random partitions of images of which ``n_hits`` are right."""
    return rng.multivariate_hypergeometric(sizes, n_hits, size=n_partitions, method="marginals") / sizes


def _pooled_ends(partition: RandomPartition, tail: float) -> tuple[float, float]:
    """Return the quantiles of all regions' accuracies taken together, each region with the same weight."""
    known = ~np.isnan(partition.accuracies)
    values, weights = partition.accuracies[known], partition.marginals[known] / len(partition.sizes)
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    low = values[min(np.searchsorted(np.cumsum(weights), tail), len(values) - 1)]
    high = values[::-1][min(np.searchsorted(np.cumsum(weights[::-1]), tail), len(values) - 1)]
    return float(low), float(high)


def _first_level(levels: Float[np.ndarray, " v"], probability: Callable[[float], float], reached: float) -> float:
    """Return the first of the ascending levels whose cumulative probability is ``reached`` or more."""
    before, at = -1, len(levels) - 1
    while at - before > 1:
        middle = (before + at) // 2
        if probability(float(levels[middle])) >= reached:
            at = middle
        else:
            before = middle
    return float(levels[at])


def _last_level(levels: Float[np.ndarray, " v"], probability: Callable[[float], float], allowed: float) -> float:
    """Return the last of the ascending levels whose cumulative probability is ``allowed`` or less; -inf if none."""
    at, after = -1, len(levels)
    while after - at > 1:
        middle = (at + after) // 2
        if probability(float(levels[middle])) <= allowed:
            at = middle
        else:
            after = middle
    return float(levels[at]) if at >= 0 else -np.inf


def _quantile(values: Float[np.ndarray, " m"], tail: float) -> float:
    return float(np.quantile(values, tail, method="inverted_cdf"))


def _rank_from_below(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """Return the share of values that are as low as each or lower, itself included."""
    return np.searchsorted(np.sort(values), values, side="right") / len(values)
