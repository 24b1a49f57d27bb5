"""Do intervals cover the truth as often as they say? 1,000 simulations each, seeded.

Where an interval is a claim about a proportion or a difference, it must cover in 93 to 97 of 100. A gap between best
and worst, and other numbers that noise makes too high, must cover in at least 93: no interval can be exact there
whether the regions are equal or not.
"""

from __future__ import annotations

import numpy as np
import pytest

from graticule.evaluation.average_precision import estimate_average_precision, rank_label
from graticule.evaluation.beta_binomial import shrink_accuracies
from graticule.evaluation.bootstrap import bootstrap_balanced_accuracy, bootstrap_gaps
from graticule.evaluation.intervals import newcombe_interval, paired_interval, wilson_interval
from graticule.evaluation.metrics.calibration_error import N_BINS, estimate_calibration_errors

SIMULATIONS = 1000
TOLERANCE = 1e-12


def coverage(found, truth):
    return float(((found.low <= truth + TOLERANCE) & (found.high >= truth - TOLERANCE)).mean())


@pytest.mark.parametrize(("rate", "n"), [(0.8, 30), (0.8, 250), (0.5, 100), (0.95, 120), (0.3, 2000)])
def test_wilson(rate, n):
    hits = np.random.default_rng(1).binomial(n, rate, SIMULATIONS)
    assert 0.93 <= coverage(wilson_interval(hits, np.full(SIMULATIONS, n), confidence=0.95), rate) <= 0.97


@pytest.mark.parametrize(
    ("rates", "sizes"), [((0.8, 0.7), (250, 1300)), ((0.9, 0.9), (60, 60)), ((0.5, 0.95), (100, 40))]
)
def test_newcombe(rates, sizes):
    rng = np.random.default_rng(2)
    shares = [
        wilson_interval(rng.binomial(n, rate, SIMULATIONS), np.full(SIMULATIONS, n), confidence=0.95)
        for rate, n in zip(rates, sizes, strict=True)
    ]
    assert 0.93 <= coverage(newcombe_interval(*shares), rates[0] - rates[1]) <= 0.97


@pytest.mark.parametrize(("only_first", "only_second", "n"), [(0.1, 0.05, 200), (0.02, 0.02, 2000), (0.3, 0.1, 60)])
def test_paired_difference(only_first, only_second, n):
    drawn = np.random.default_rng(3).multinomial(
        n, [only_first, only_second, 1 - only_first - only_second], SIMULATIONS
    )
    found = paired_interval(drawn[:, 0], drawn[:, 1], np.full(SIMULATIONS, n), confidence=0.95)
    assert 0.93 <= coverage(found, only_first - only_second) <= 0.97


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [
        (np.linspace(0.6, 0.98, 40), np.full(40, 250)),
        (np.linspace(0.6, 0.98, 40), np.full(40, 25)),
        (np.linspace(0.5, 0.95, 20), np.full(20, 5)),
        (np.linspace(0.7, 0.9, 10), np.linspace(20, 600, 10).astype(int)),
    ],
    ids=["40 × 250", "40 × 25", "20 × 5", "unequal"],
)
def test_balanced_accuracy(rates, sizes):
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(SIMULATIONS):
        found = bootstrap_balanced_accuracy(
            rng.binomial(sizes, rates), sizes, confidence=0.95, n_bootstraps=400, rng=rng
        )
        covered += coverage(found, rates.mean())
    assert 0.93 <= covered / SIMULATIONS <= 0.97


SIX = np.full(6, 250)
GAPS = {
    "equal": (np.full(6, 0.8), SIX),
    "equal and small": (np.full(6, 0.8), np.full(6, 25)),
    "one low": (np.array([0.7, 0.8, 0.8, 0.8, 0.8, 0.8]), SIX),
    "two groups": (np.array([0.7, 0.7, 0.7, 0.8, 0.8, 0.8]), SIX),
    "spread out": (np.linspace(0.75, 0.85, 6), SIX),
    "clear best and worst": (np.array([0.6, 0.92, 0.8, 0.8, 0.8, 0.8]), SIX),
    "two regions": (np.array([0.7, 0.8]), np.array([250, 250])),
    "sizes differ": (np.array([0.7, 0.8, 0.8, 0.8, 0.8, 0.75]), np.array([40, 60, 250, 250, 1000, 1000])),
}


@pytest.mark.parametrize("case", GAPS)
def test_gap(case):
    rates, sizes = GAPS[case]
    rng = np.random.default_rng(5)
    hits = rng.binomial(sizes, rates, (SIMULATIONS, len(sizes)))
    n = np.tile(sizes, (SIMULATIONS, 1))
    found = bootstrap_gaps(hits, n, confidence=0.95, n_bootstraps=400, rng=rng)
    assert coverage(found, rates.max() - rates.min()) >= 0.93
    if case in ("clear best and worst", "two regions"):
        assert coverage(found, rates.max() - rates.min()) <= 0.97


@pytest.mark.parametrize("n", [40, 250, 2000])
def test_equal_regions_are_rarely_called_different(n):
    rng = np.random.default_rng(6)
    hits = rng.binomial(n, 0.8, (SIMULATIONS, 6))
    found = bootstrap_gaps(hits, np.full((SIMULATIONS, 6), n), confidence=0.95, n_bootstraps=400, rng=rng)
    assert (found.low > 0).mean() <= 0.06
    assert (found.value > 0).mean() > 0.99


@pytest.mark.parametrize(("shift", "n_positives", "n_negatives"), [(2.0, 250, 4000), (1.0, 60, 600), (3.5, 200, 2000)])
def test_average_precision(shift, n_positives, n_negatives):
    rng = np.random.default_rng(7)
    grid = np.sort(rng.normal(shift, 1, 200_000))
    from scipy.special import ndtr

    true_rate, false_rate = 1 - np.arange(len(grid)) / len(grid), 1 - ndtr(grid)
    truth = (n_positives * true_rate / (n_positives * true_rate + n_negatives * false_rate)).mean()
    ranked = []
    for _ in range(SIMULATIONS):
        positives, negatives = rng.normal(shift, 1, n_positives), rng.normal(0, 1, n_negatives)
        ranked.append(rank_label(np.sort(np.concatenate([positives, negatives])), positives))
    value, variance, excess = (
        np.array([getattr(one, part) for one in ranked]) for part in ("value", "variance", "excess")
    )
    found = estimate_average_precision(value, variance, excess, np.full(SIMULATIONS, n_positives), confidence=0.95)
    assert 0.93 <= coverage(found, truth) <= 0.97


@pytest.mark.parametrize(
    ("lift", "lowest"), [(0.0, 0.95), (0.02, 0.93), (0.1, 0.93)], ids=["calibrated", "slightly off", "overconfident"]
)
def test_calibration_error(lift, lowest):
    rng = np.random.default_rng(8)
    centres = (np.arange(N_BINS) + 0.5) / N_BINS
    weights = centres**3 / (centres**3).sum()
    rates = np.clip(centres - lift, 0, 1)
    n = rng.multinomial(1500, weights, SIMULATIONS)
    confidences = np.where(n > 0, centres, np.nan)
    found = estimate_calibration_errors(rng.binomial(n, rates), confidences, n, confidence=0.95)
    assert coverage(found, (weights * np.abs(centres - rates)).sum()) >= lowest


@pytest.mark.parametrize(
    ("strength", "sizes"), [(20, [250] * 6), (50, [4, 20, 100, 250, 250, 250]), (30, [30] * 6), (1e6, [10] * 6)]
)
def test_shrunken_accuracy_covers_and_is_nearer_to_the_truth_than_the_raw_one(strength, sizes):
    rng = np.random.default_rng(9)
    truth = rng.beta(0.8 * strength, 0.2 * strength, (SIMULATIONS, len(sizes)))
    n = np.tile(sizes, (SIMULATIONS, 1))
    hits = rng.binomial(n, truth)
    found = shrink_accuracies(hits, n, confidence=0.95)
    assert coverage(found, truth.ravel()) >= 0.92
    assert ((found.value - truth.ravel()) ** 2).mean() < 1.02 * ((hits / n - truth) ** 2).mean()
