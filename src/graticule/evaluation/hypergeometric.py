"""A label's hits under a random partition of its images into regions: exact probabilities.

Images of which ``H`` are hits are dealt at random into regions of given sizes. A region's hits are then hypergeometric,
and all regions' hits together are what independent binomial counts are, given that they add up to ``H``. So the
probability that every region stays within limits is one coefficient of a product of polynomials, found by a Fourier
transform: exact but for rounding, and fast for any number of regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

SPREAD = 9.5
"""Standard deviations around its mean outside which a count is left out: less than 1e-20 of the probability."""
ROUNDING = 1e-9
"""Probabilities below it are computed from tails, not from one minus the rest, which rounds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomPartition:
    """The law of the hits of ``r`` regions.

    Parameters
    ----------
    sizes
        Images of each region, all above 0, shape ``(r,)``.
    n_hits
        Hits among all images.

    Examples
    --------
    Four images, two of them hits, dealt into two regions of two: both hits fall together once in three.

    >>> partition = RandomPartition(sizes=np.array([2, 2]), n_hits=2)
    >>> round(partition.probability_min_at_most(0.0), 12)
    0.333333333333
    """

    sizes: Int[np.ndarray, " r"]
    n_hits: int

    @cached_property
    def rate(self) -> float:
        """The share of hits over all regions."""
        return self.n_hits / int(self.sizes.sum())

    @cached_property
    def counts(self) -> Int[np.ndarray, "r w"]:
        """The counts of hits that a region may have, each region's window a row; -1 past its end."""
        spread = SPREAD * np.sqrt(self.sizes * self.rate * (1 - self.rate)) + SPREAD
        first = np.maximum(np.floor(self.sizes * self.rate - spread), 0).astype(np.int64)
        last = np.minimum(np.minimum(np.ceil(self.sizes * self.rate + spread), self.sizes), self.n_hits).astype(
            np.int64
        )
        first = np.minimum(first, last)
        window = first[:, None] + np.arange(int((last - first).max()) + 1)
        return np.where(window <= last[:, None], window, -1)

    @cached_property
    def accuracies(self) -> Float[np.ndarray, "r w"]:
        """The accuracy of each count; NaN past a window's end."""
        return np.where(self.counts >= 0, self.counts / self.sizes[:, None], np.nan)

    @cached_property
    def marginals(self) -> Float[np.ndarray, "r w"]:
        """The hypergeometric probability of each count in its region."""
        from scipy.special import gammaln

        def log_choose(n: np.ndarray, h: np.ndarray) -> np.ndarray:
            return gammaln(n + 1.0) - gammaln(h + 1.0) - gammaln(n - h + 1.0)

        total = int(self.sizes.sum())
        sizes = self.sizes[:, None]
        rest = self.n_hits - self.counts
        possible = (self.counts >= 0) & (rest <= total - sizes)
        counts, rest = np.where(possible, self.counts, 0), np.where(possible, rest, 0)
        logs = log_choose(sizes, counts) + log_choose(total - sizes, rest)
        logs = np.where(possible, logs, -np.inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    @cached_property
    def levels(self) -> Float[np.ndarray, " v"]:
        """All accuracies that a region may have, each once, ascending."""
        return np.unique(self.accuracies[~np.isnan(self.accuracies)])

    @cached_property
    def low_tails(self) -> Float[np.ndarray, "r v"]:
        """The probability that each region's accuracy is a level or less, for all levels."""
        return self._sum_tails(np.cumsum(self.marginals, axis=1), side="right", shift=-1)

    @cached_property
    def high_tails(self) -> Float[np.ndarray, "r v"]:
        """The probability that each region's accuracy is a level or more, for all levels."""
        return self._sum_tails(np.cumsum(self.marginals[:, ::-1], axis=1)[:, ::-1], side="left", shift=0)

    def _sum_tails(self, sums: Float[np.ndarray, "r w"], *, side: str, shift: int) -> Float[np.ndarray, "r v"]:
        tails = np.zeros((len(self.sizes), len(self.levels)))
        for region, accuracies in enumerate(self.accuracies):
            known = accuracies[~np.isnan(accuracies)]
            place = np.searchsorted(known, self.levels, side="right" if side == "right" else "left") + shift
            inside = (place >= 0) & (place < len(known))
            tails[region, inside] = sums[region, place[inside]]
        return tails

    def probability_min_at_most(self, level: float) -> float:
        """Return the probability that the lowest accuracy is ``level`` or less."""
        return self._tail(self.accuracies <= level)

    def probability_max_at_least(self, level: float) -> float:
        """Return the probability that the highest accuracy is ``level`` or more."""
        return self._tail(self.accuracies >= level)

    def probability_either(self, low: float, high: float) -> float:
        """Return the probability that the lowest accuracy is ``low`` or less, or the highest ``high`` or more."""
        return self._tail((self.accuracies <= low) | (self.accuracies >= high))

    def probability_outside(self, low: float, high: float) -> float:
        """Return the probability that any accuracy lies below ``low`` or above ``high``."""
        return self._tail((self.accuracies < low) | (self.accuracies > high))

    def _tail(self, outside: Bool[np.ndarray, "r w"]) -> float:
        """Return the probability that any region's count lies ``outside``.

        For tiny tails the regions' own tails are added up: two regions in the tail at once are then rarer still.
        """
        tails = float(np.where(outside, self.marginals, 0.0).sum())
        if tails < ROUNDING:
            return tails
        inside = ~outside & (self.counts >= 0)
        if not inside.any(axis=1).all():
            return 1.0
        found = 1.0 - self._coefficient(np.where(inside, self._binomials, 0.0)) / self._whole
        return float(min(1.0, max(0.0, min(found, tails))))

    @cached_property
    def _binomials(self) -> Float[np.ndarray, "r w"]:
        from scipy.special import gammaln, xlog1py, xlogy

        sizes = self.sizes[:, None]
        counts = np.where(self.counts >= 0, self.counts, 0)
        logs = gammaln(sizes + 1.0) - gammaln(counts + 1.0) - gammaln(sizes - counts + 1.0)
        logs = logs + xlogy(counts, self.rate) + xlog1py(sizes - counts, -self.rate)
        logs = np.where(self.counts >= 0, logs, -np.inf)
        return np.exp(logs)

    @cached_property
    def _whole(self) -> float:
        return self._coefficient(self._binomials)

    @cached_property
    def length(self) -> int:
        """Length of the Fourier transform: beyond it sums of hits have no probability worth naming, and may wrap."""
        from scipy.fft import next_fast_len

        total = int(self.sizes.sum())
        spread = int(np.ceil(12 * np.sqrt(total * self.rate * (1 - self.rate)))) + 12
        least = max(self.counts.shape[1], min(total + 1, spread))
        return next_fast_len(least, real=True) or least

    @cached_property
    def _phases(self) -> Complex[np.ndarray, " f"]:
        target = (self.n_hits - int(self.counts[:, 0].sum())) % self.length
        frequencies = np.arange(self.length // 2 + 1)
        weights = np.full(len(frequencies), 2.0)
        weights[0] = 1.0
        if self.length % 2 == 0:
            weights[-1] = 1.0
        turns = (frequencies * target) % self.length / self.length
        return weights * np.exp(2j * np.pi * turns) / self.length

    def _coefficient(self, polynomials: Float[np.ndarray, "r w"]) -> float:
        from scipy.fft import rfft

        spectrum = np.asarray(rfft(polynomials, n=self.length, axis=1))
        return float((spectrum.prod(axis=0) * self._phases).sum().real)
