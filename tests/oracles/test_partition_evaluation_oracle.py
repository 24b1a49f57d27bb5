"""The partition test against every partition there is, and against partitions made by shuffling images."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from graticule.evaluation.hypergeometric import RandomPartition
from graticule.evaluation.partition_test import compute_partition_test, simulate_partition_test


def enumerate_partitions(sizes, n_hits):
    """Return the accuracies of every way in which hits can fall, and how probable each is."""
    ways = [
        (hits, np.prod([comb(size, hit) for size, hit in zip(sizes, hits, strict=True)]))
        for hits in itertools.product(*(range(size + 1) for size in sizes))
        if sum(hits) == n_hits
    ]
    accuracies = np.array([np.array(hits) / np.array(sizes) for hits, _ in ways])
    weights = np.array([weight for _, weight in ways], dtype=float)
    return accuracies, weights / weights.sum()


small = st.lists(st.integers(1, 7), min_size=2, max_size=4)


@settings(max_examples=80, deadline=None)
@given(small, st.data())
def test_probabilities_equal_an_enumeration(sizes, data):
    n_hits = data.draw(st.integers(0, sum(sizes)))
    accuracies, weights = enumerate_partitions(sizes, n_hits)
    partition = RandomPartition(sizes=np.array(sizes), n_hits=n_hits)
    for level in partition.levels:
        assert partition.probability_min_at_most(level) == pytest.approx(
            weights[accuracies.min(1) <= level].sum(), abs=1e-9
        )
        assert partition.probability_max_at_least(level) == pytest.approx(
            weights[accuracies.max(1) >= level].sum(), abs=1e-9
        )
        outside = (accuracies < level) | (accuracies > 0.6)
        assert partition.probability_outside(level, 0.6) == pytest.approx(weights[outside.any(1)].sum(), abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(small, st.data(), st.sampled_from([0.5, 0.8, 0.95]))
def test_bands_and_p_values_equal_an_enumeration(sizes, data, confidence):
    hits = np.array([data.draw(st.integers(0, size)) for size in sizes])
    accuracies, weights = enumerate_partitions(sizes, int(hits.sum()))
    tail = (1 - confidence) / 2
    found = compute_partition_test(np.array(sizes), hits, confidence=confidence)
    lows, highs = accuracies.min(1), accuracies.max(1)
    real = hits / np.array(sizes)

    def p_low(level):
        return weights[lows <= level].sum()

    def p_high(level):
        return weights[highs >= level].sum()

    assert found.p_min == pytest.approx(p_low(real.min()), abs=1e-9)
    assert found.p_max == pytest.approx(p_high(real.max()), abs=1e-9)
    smallest = min(p_low(real.min()), p_high(real.max()))
    rarer = np.array([min(p_low(low), p_high(high)) for low, high in zip(lows, highs, strict=True)])
    assert found.p_either == pytest.approx(weights[rarer <= smallest + 1e-12].sum(), abs=1e-9)
    # The ends of the extremes' band: each is the outermost value that chance reaches with the tail's probability.
    band = found.extremes
    assert p_low(band.low) >= tail - 1e-9
    assert weights[lows < band.low].sum() <= tail + 1e-9
    assert p_high(band.high) >= tail - 1e-9
    assert weights[highs > band.high].sum() <= tail + 1e-9
    assert band.flagged_by_chance == pytest.approx(weights[(lows < band.low) | (highs > band.high)].sum(), abs=1e-9)
    assert band.flagged_by_chance <= 1 - confidence + 1e-9
    # The pooled band holds all regions' accuracies, each region with the same weight.
    each = np.repeat(weights / len(sizes), len(sizes))
    pooled = accuracies.ravel()
    assert each[pooled < found.pooled.low].sum() <= tail + 1e-9
    assert each[pooled <= found.pooled.low].sum() >= tail - 1e-9
    assert each[pooled > found.pooled.high].sum() <= tail + 1e-9
    assert each[pooled >= found.pooled.high].sum() >= tail - 1e-9


def test_a_region_alone_is_hypergeometric():
    sizes = np.array([120, 80, 300])
    partition = RandomPartition(sizes=sizes, n_hits=390)
    for region, size in enumerate(sizes):
        known = partition.counts[region] >= 0
        expected = hypergeom(500, 390, size).pmf(partition.counts[region, known])
        assert partition.marginals[region, known] == pytest.approx(expected, abs=1e-12)


def test_simulation_and_shuffled_images_and_the_exact_test_agree():
    sizes, hits = np.array([60, 90, 150]), np.array([40, 70, 130])
    rng = np.random.default_rng(0)
    is_hit = np.arange(sizes.sum()) < hits.sum()
    ends = np.cumsum(sizes)[:-1]
    shuffled = np.array([[part.mean() for part in np.split(rng.permutation(is_hit), ends)] for _ in range(20_000)])
    exact = compute_partition_test(sizes, hits, confidence=0.95)
    drawn = simulate_partition_test(sizes, hits, confidence=0.95, n_partitions=20_000, rng=rng)
    worst, best = (hits / sizes).min(), (hits / sizes).max()
    for found in (drawn.p_min, (shuffled.min(1) <= worst).mean()):
        assert found == pytest.approx(exact.p_min, abs=0.005)
    for found in (drawn.p_max, (shuffled.max(1) >= best).mean()):
        assert found == pytest.approx(exact.p_max, abs=0.005)
    assert drawn.p_either == pytest.approx(exact.p_either, abs=0.005)
    for reading in ("pooled", "extremes"):
        one, other = getattr(exact, reading), getattr(drawn, reading)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.012)
        assert other.flagged_by_chance == pytest.approx(one.flagged_by_chance, abs=0.05)
    assert tuple(np.quantile(shuffled, [0.025, 0.975])) == pytest.approx(
        (exact.pooled.low, exact.pooled.high), abs=0.012
    )


def test_tiny_p_values_are_exact_and_not_rounded_to_zero():
    found = compute_partition_test(np.array([300, 300]), np.array([200, 290]), confidence=0.95)
    expected = hypergeom(600, 490, 300).cdf(200)
    assert 0 < found.p_min < 1e-20
    assert found.p_min == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("hits", [[0, 0, 0], [20, 30, 40]])
def test_all_wrong_and_all_right_are_what_chance_gives(hits):
    found = compute_partition_test(np.array([20, 30, 40]), np.array(hits), confidence=0.95)
    assert (found.p_min, found.p_max, found.p_either) == (1.0, 1.0, 1.0)
    assert found.extremes.low == found.extremes.high == hits[0] / 20
    assert found.extremes.flagged_by_chance == found.pooled.flagged_by_chance == 0
