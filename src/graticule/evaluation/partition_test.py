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
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.hypergeometric import RandomPartition

READINGS = ("pooled", "extremes")
REMEMBERED = 4096
"""Partitions whose bands are kept: models of the same images share their sizes, and often their hits."""
SLACK = 1e-9
"""Relative difference of two probabilities that counts as rounding: what is equal by symmetry must compare equal."""


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
    accuracies = hits / sizes
    bands = _compute_bands(tuple(sorted(sizes.tolist())), int(hits.sum()), confidence)
    found = _compute_p_values(
        tuple(sorted(sizes.tolist())), int(hits.sum()), float(accuracies.min()), float(accuracies.max())
    )
    return PartitionTest(
        pooled=bands[0], extremes=bands[1], p_min=found[0], p_max=found[1], p_either=found[2], method="exact"
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


@lru_cache(maxsize=REMEMBERED)
def _make_partition(sizes: tuple[int, ...], n_hits: int) -> RandomPartition:
    return RandomPartition(sizes=np.array(sizes), n_hits=n_hits)


@lru_cache(maxsize=REMEMBERED)
def _compute_bands(sizes: tuple[int, ...], n_hits: int, confidence: float) -> tuple[Band, Band]:
    """Return the bands of both readings; many models of the same images ask for the same ones."""
    partition = _make_partition(sizes, n_hits)
    tail = (1 - confidence) / 2
    ends = (
        _pooled_ends(partition, tail),
        (
            _Side(partition.levels, partition.low_tails, partition.probability_min_at_most).first_level(tail),
            -_high_side(partition).first_level(tail),
        ),
    )
    pooled, extremes = (
        Band(low=low, high=high, flagged_by_chance=partition.probability_outside(low, high)) for low, high in ends
    )
    return pooled, extremes


@lru_cache(maxsize=REMEMBERED)
def _compute_p_values(sizes: tuple[int, ...], n_hits: int, lowest: float, highest: float) -> tuple[float, float, float]:
    """Return the p-values of the lowest accuracy, of the highest, and of the rarer of the two."""
    partition = _make_partition(sizes, n_hits)
    p_min, p_max = partition.probability_min_at_most(lowest), partition.probability_max_at_least(highest)
    if p_min < p_max:
        highest = -_high_side(partition).last_level(p_min)
    elif p_max < p_min:
        low_side = _Side(partition.levels, partition.low_tails, partition.probability_min_at_most)
        lowest = low_side.last_level(p_max)
    return p_min, p_max, partition.probability_either(lowest, highest)


def _pooled_ends(partition: RandomPartition, tail: float) -> tuple[float, float]:
    """Return the quantiles of all regions' accuracies taken together, each region with the same weight."""
    known = ~np.isnan(partition.accuracies)
    values, weights = partition.accuracies[known], partition.marginals[known] / len(partition.sizes)
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    reached = tail * (1 - SLACK)
    low = values[min(np.searchsorted(np.cumsum(weights), reached), len(values) - 1)]
    high = values[::-1][min(np.searchsorted(np.cumsum(weights[::-1]), reached), len(values) - 1)]
    return float(low), float(high)


class _Side:
    """How probable it is that the outermost region reaches a level, from the outside in.

    The probability that any region reaches a level is at most the sum of the regions' own; and since hits that one
    region has, others lack (negative association), at least what it would be if regions were independent. The two are
    so close that a level that reaches a given small probability is found with one or two exact computations.
    """

    def __init__(
        self,
        levels: Float[np.ndarray, " v"],
        tails: Float[np.ndarray, "r v"],
        probability: Callable[[float], float],
    ) -> None:
        self.levels = levels
        self.at_most = tails.sum(axis=0)
        with np.errstate(divide="ignore"):
            self.at_least = -np.expm1(np.log1p(-np.minimum(tails, 1)).sum(axis=0))
        self.probability = probability

    def first_level(self, reached: float) -> float:
        """Return the first level whose probability is ``reached`` or more."""
        before = int(np.searchsorted(self.at_most, reached * (1 - 2 * SLACK))) - 1
        at = min(int(np.searchsorted(self.at_least, reached)), len(self.levels) - 1)
        return float(self.levels[self._bisect(before, at, lambda found: found >= reached * (1 - SLACK))])

    def last_level(self, allowed: float) -> float:
        """Return the last level whose probability is ``allowed`` or less; -inf if there is none."""
        at = int(np.searchsorted(self.at_most, allowed, side="right")) - 1
        after = int(np.searchsorted(self.at_least, allowed * (1 + 2 * SLACK), side="right"))
        last = self._bisect(at, after, lambda found: found > allowed * (1 + SLACK)) - 1
        return float(self.levels[last]) if last >= 0 else -np.inf

    def _bisect(self, before: int, at: int, has_reached: Callable[[float], bool]) -> int:
        """Return the first place after ``before``, ``at`` at the latest, that has reached what is asked."""
        while at - before > 1:
            middle = (before + at) // 2
            if has_reached(self.probability(float(self.levels[middle]))):
                at = middle
            else:
                before = middle
        return at


def _high_side(partition: RandomPartition) -> _Side:
    """Return the side of the highest accuracies, its levels with their signs turned so that they ascend."""
    return _Side(
        -partition.levels[::-1],
        partition.high_tails[:, ::-1],
        lambda level: partition.probability_max_at_least(-level),
    )


def _quantile(values: Float[np.ndarray, " m"], tail: float) -> float:
    return float(np.quantile(values, tail, method="inverted_cdf"))


def _rank_from_below(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """Return the share of values that are as low as each or lower, itself included."""
    return np.searchsorted(np.sort(values), values, side="right") / len(values)
