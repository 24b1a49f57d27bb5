"""GeoDE's partition test: what it flags by chance, what it finds, and its two ways of computing."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.evaluation.partition_test import compute_partition_test, draw_accuracies, simulate_partition_test

SIZES = np.array([220, 430, 260, 200, 270, 290])


@pytest.fixture(scope="module")
def null_tests():
    """Return the exact test of 400 labels without any effect."""
    rng = np.random.default_rng(0)
    return [compute_partition_test(SIZES, hits, confidence=0.95) for hits in _draw(rng, 400)]


def _draw(rng, times):
    return (draw_accuracies(SIZES, 1250, n_partitions=times, rng=rng) * SIZES).round().astype(int)


def _is_flagged(test, band, hits):
    accuracies = hits / SIZES
    return accuracies.min() < band.low or accuracies.max() > band.high


def test_labels_without_effect_are_flagged_as_often_as_said(null_tests):
    hits = _draw(np.random.default_rng(0), 400)
    for reading, least, most in (("pooled", 0.17, 0.31), ("extremes", 0.02, 0.07)):
        flagged = np.mean(
            [_is_flagged(test, getattr(test, reading), one) for test, one in zip(null_tests, hits, strict=True)]
        )
        said = getattr(null_tests[0], reading).flagged_by_chance
        assert least < said < most
        assert flagged == pytest.approx(said, abs=4 * np.sqrt(said * (1 - said) / 400))


def test_p_values_without_effect_are_uniform_or_larger(null_tests):
    for name in ("p_min", "p_max", "p_either"):
        values = np.array([getattr(test, name) for test in null_tests])
        for level in (0.05, 0.2, 0.5):
            assert (values <= level).mean() < level + 4 * np.sqrt(level * (1 - level) / len(values))
        assert (values <= 0.5).mean() > 0.38


def test_a_bad_region_is_found_at_its_side():
    hits = (SIZES * 0.8).astype(int)
    hits[1] = int(SIZES[1] * 0.6)
    found = compute_partition_test(SIZES, hits, confidence=0.95)
    assert found.p_min < 1e-6
    assert found.p_max > 0.01
    assert found.p_either == pytest.approx(found.p_min, rel=1)
    assert hits[1] / SIZES[1] < found.extremes.low < found.pooled.low < found.pooled.high < found.extremes.high


def test_the_order_of_regions_does_not_matter():
    hits = np.array([170, 330, 190, 150, 240, 220])
    order = np.array([3, 1, 5, 0, 2, 4])
    assert compute_partition_test(SIZES, hits, confidence=0.95) == compute_partition_test(
        SIZES[order], hits[order], confidence=0.95
    )


def test_bands_grow_with_confidence_and_shrink_with_images():
    hits = (SIZES * 0.75).astype(int)
    narrow, wide, large = (
        compute_partition_test(sizes, right, confidence=confidence).extremes
        for sizes, right, confidence in ((SIZES, hits, 0.8), (SIZES, hits, 0.99), (SIZES * 20, hits * 20, 0.99))
    )
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.low < large.low < large.high < wide.high


def test_simulation_is_seeded_and_never_gives_a_p_of_zero():
    hits = (SIZES * 0.8).astype(int)
    hits[1] = int(SIZES[1] * 0.4)

    def simulate(seed):
        return simulate_partition_test(SIZES, hits, confidence=0.95, n_partitions=500, rng=np.random.default_rng(seed))

    assert simulate(1) == simulate(1)
    assert simulate(1).p_min == 1 / 501
    assert simulate(1).pooled != simulate(2).pooled


@pytest.mark.parametrize("sizes", [[1, 1], [1, 500], [20] * 60, [100_000, 50_000, 20]])
def test_regions_may_be_tiny_many_or_huge(sizes):
    sizes = np.array(sizes)
    hits = (sizes * 0.7).astype(int)
    found = compute_partition_test(sizes, hits, confidence=0.95)
    assert 0 <= found.extremes.low <= found.pooled.low <= found.pooled.high <= found.extremes.high <= 1
    assert 0 <= found.extremes.flagged_by_chance <= 0.05 + 1e-9
    assert 0 < found.p_either <= 1
