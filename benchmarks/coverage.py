"""How often intervals hold the truth, beside the plain percentile bootstrap, in one run.

    python benchmarks/coverage.py

Each line is a made-up truth, drawn 2,000 times: how often our 95 % interval holds it, and how often the percentile
bootstrap of the same number does (hits drawn again from the observed rates, 2.5 and 97.5 percentiles). The tests hold
our column to at least 93 in 100; the other column says why we do not use it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from graticule.evaluation.bootstrap import bootstrap_balanced_accuracy, bootstrap_gaps
from graticule.evaluation.intervals import wilson_interval

N_BOOTSTRAPS = 500
GAPS = {
    "six equal regions of 250": (np.full(6, 0.8), np.full(6, 250)),
    "one region 10 points lower": (np.array([0.7, 0.8, 0.8, 0.8, 0.8, 0.8]), np.full(6, 250)),
    "two groups 10 points apart": (np.array([0.7, 0.7, 0.7, 0.8, 0.8, 0.8]), np.full(6, 250)),
    "a clear best and a clear worst": (np.array([0.6, 0.92, 0.8, 0.8, 0.8, 0.8]), np.full(6, 250)),
    "sizes from 40 to 1,000": (np.array([0.7, 0.8, 0.8, 0.8, 0.8, 0.75]), np.array([40, 60, 250, 250, 1000, 1000])),
}
MEANS = {
    "40 labels of 250": (np.linspace(0.6, 0.98, 40), np.full(40, 250)),
    "40 labels of 25": (np.linspace(0.6, 0.98, 40), np.full(40, 25)),
    "20 labels of 5": (np.linspace(0.5, 0.95, 20), np.full(20, 5)),
    "10 labels of 20, nearly all right": (np.full(10, 0.98), np.full(10, 20)),
}
SHARES = {"25 images, 0.9": (0.9, 25), "250 images, 0.8": (0.8, 250), "2,000 images, 0.98": (0.98, 2000)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000)
    times = parser.parse_args().simulations
    rng = np.random.default_rng(0)
    print(f"{'':52}{'ours':>8}{'percentile':>12}")
    for name, (rate, size) in SHARES.items():
        hits = rng.binomial(size, rate, times)
        found = wilson_interval(hits, np.full(times, size), confidence=0.95)
        plain = percentiles(rng, hits[:, None], np.array([size]), lambda drawn: drawn[..., 0])
        show(f"a share: {name}", rate, np.stack([found.low, found.high]), plain)
    for name, (rates, sizes) in MEANS.items():
        hits = rng.binomial(sizes, rates, (times, len(sizes)))
        found = [
            bootstrap_balanced_accuracy(row, sizes, confidence=0.95, n_bootstraps=N_BOOTSTRAPS, rng=rng) for row in hits
        ]
        ours = np.array([[one.low[0] for one in found], [one.high[0] for one in found]])
        show(f"balanced: {name}", rates.mean(), ours, percentiles(rng, hits, sizes, lambda drawn: drawn.mean(axis=-1)))
    for name, (rates, sizes) in GAPS.items():
        hits = rng.binomial(sizes, rates, (times, len(sizes)))
        found = bootstrap_gaps(hits, np.tile(sizes, (times, 1)), confidence=0.95, n_bootstraps=N_BOOTSTRAPS, rng=rng)
        plain = percentiles(rng, hits, sizes, lambda drawn: np.ptp(drawn, axis=-1))
        show(f"gap: {name}", np.ptp(rates), np.stack([found.low, found.high]), plain)


def percentiles(
    rng: np.random.Generator, hits: np.ndarray, sizes: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the plain bootstrap's ends for each simulation, shape (2, simulations)."""
    ends = [
        np.quantile(statistic(rng.binomial(sizes, row / sizes, (N_BOOTSTRAPS, len(sizes))) / sizes), [0.025, 0.975])
        for row in hits
    ]
    return np.array(ends).T


def show(name: str, truth: float, ours: np.ndarray, plain: np.ndarray) -> None:
    shares = [((ends[0] <= truth + 1e-12) & (ends[1] >= truth - 1e-12)).mean() for ends in (ours, plain)]
    print(f"{name:52}{shares[0]:8.3f}{shares[1]:12.3f}")


if __name__ == "__main__":
    main()
