"""Learning curves of every region and label at once: a power law whose numbers are shrunk towards each other.

The error of label k in region r is modelled as

    exp(a) · N^(-b) · (K · share of k among the training images)^(-g),    N = 1 + own + rho · other regions' images of k

with a and b of each cell drawn from a common normal distribution (so that a cell with a handful of test images leans on
the others) and one rho and g for all. Wrong answers are counted as a Poisson number of that mean. What the uncertainty
is comes from drawing trials and test images again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.errors import TableError
from graticule.evaluation.value.trials import Trials

EXCHANGE_RATES = (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)
"""Values of rho that are tried: how many images from here an image from elsewhere is worth."""
PRIOR_SLOPE = 0.3
"""Where the common exponent is expected; measured power laws lie between 0.1 and 0.6 (Hestness et al. 2017)."""
PRIOR_PRECISION = np.array([0.01, 1 / 0.3**2, 1 / 0.3**2])
"""Of the common level (nearly none), the common exponent, and g."""
FIRST_SPREAD = (1.0, 0.15)
SMALLEST_SPREAD = (0.05, 0.01)
N_EM = 8
N_STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curves:
    """Draws of the curves; the first draw is the fit itself.

    Parameters
    ----------
    level, slope
        a and b, shape ``(p, r, k)``; slopes are at least 0.
    rate
        rho, shape ``(p,)``.
    balance
        g, shape ``(p,)``, at least 0.
    """

    level: Float[np.ndarray, "p r k"]
    slope: Float[np.ndarray, "p r k"]
    rate: Float[np.ndarray, " p"]
    balance: Float[np.ndarray, " p"]

    def predict_error(self, counts: Float[np.ndarray, "r k"]) -> Float[np.ndarray, "p r k"]:
        """Return the error of each region and label for so many training images."""
        log_size, log_share = _measure_sizes(counts[None], self.rate[:, None, None])
        logarithm = self.level - self.slope * log_size - self.balance[:, None, None] * log_share
        return np.exp(np.minimum(logarithm, 0.0))

    def take(self, draws: slice) -> Curves:
        """Return some of the draws."""
        return Curves(
            level=self.level[draws], slope=self.slope[draws], rate=self.rate[draws], balance=self.balance[draws]
        )


def fit_curves(trials: Trials, *, n_draws: int = 100, seed: int = 0) -> Curves:
    """Return the learning curves of every region and label.

    Parameters
    ----------
    trials
        What probes on random numbers of images got wrong.
    n_draws
        Bootstrap draws of trials and test images.
    seed
        Seed of the draws.

    Raises
    ------
    TableError
        Nothing was ever wrong, so that there is nothing to learn.
    """
    rng = np.random.default_rng(seed)
    wrong, tested = trials.sum_cells()
    if not wrong.any():
        raise TableError(
            "plan: no probe was wrong about any image, expected some errors to learn from. There is nothing to gain; "
            "test on harder images with --test."
        )
    spread = np.array(FIRST_SPREAD)
    best = max(
        (_fit(trials.counts, wrong, tested, rate=rate, spread=spread) for rate in EXCHANGE_RATES),
        key=lambda found: found.fitness,
    )
    for _ in range(N_EM):
        spread = np.maximum(np.sqrt((best.deviations**2 + best.variances).mean(axis=0)), SMALLEST_SPREAD)
        best = _fit(trials.counts, wrong, tested, rate=best.rate, spread=spread)
    near = _list_near(best.rate)
    fits = [best]
    for _ in range(n_draws):
        weights = _draw_images(trials, rng)
        chosen = rng.integers(len(trials.counts), size=len(trials.counts))
        wrong, tested = trials.sum_cells(weights)
        drawn = [_fit(trials.counts[chosen], wrong[chosen], tested[chosen], rate=rate, spread=spread) for rate in near]
        fits.append(max(drawn, key=lambda found: found.fitness))
    shape = trials.counts.shape[1:]
    return Curves(
        level=np.stack([(fit.common[0] + fit.deviations[:, 0]).reshape(shape) for fit in fits]),
        slope=np.stack([np.maximum(fit.common[1] + fit.deviations[:, 1], 0.0).reshape(shape) for fit in fits]),
        rate=np.array([fit.rate for fit in fits]),
        balance=np.array([max(float(fit.common[2]), 0.0) for fit in fits]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """A penalised fit for one rho: level, slope and g in common, and each cell's deviations with their variances."""

    rate: float
    common: Float[np.ndarray, " 3"]
    deviations: Float[np.ndarray, "c 2"]
    variances: Float[np.ndarray, "c 2"]
    fitness: float


def _fit(
    counts: np.ndarray,
    wrong: Float[np.ndarray, "t c"],
    tested: Float[np.ndarray, "t c"],
    *,
    rate: float,
    spread: Float[np.ndarray, " 2"],
) -> _Fit:
    """Return the penalised Poisson fit, by iterated weighted least squares; cells are solved apart, given the rest."""
    log_size, log_share = (part.reshape(len(counts), -1) for part in _measure_sizes(counts.astype(np.float64), rate))
    own = np.stack([np.ones_like(log_size), -log_size], axis=-1)
    common = np.concatenate([own, -log_share[..., None]], axis=-1)
    prior = np.diag(1 / spread**2)
    start = np.log((wrong.sum() + 0.5) / (tested.sum() + 1)) + PRIOR_SLOPE * float(log_size.mean())
    theta, apart = np.array([start, PRIOR_SLOPE, 0.0]), np.zeros((log_size.shape[1], 2))
    inverse = np.zeros((log_size.shape[1], 2, 2))
    target = np.array([start, PRIOR_SLOPE, 0.0])
    for _ in range(N_STEPS):
        linear = _add_up(common, own, theta, apart)
        mean = tested * np.exp(linear)
        working = mean * linear + wrong - mean
        inside = np.einsum("tc,tci,tcj->cij", mean, own, own, optimize=True) + prior
        across = np.einsum("tc,tci,tcj->cij", mean, own, common, optimize=True)
        whole = np.einsum("tc,tci,tcj->ij", mean, common, common, optimize=True) + np.diag(PRIOR_PRECISION)
        right_own = np.einsum("tc,tci->ci", working, own)
        right = np.einsum("tc,tci->i", working, common) + PRIOR_PRECISION * target
        inverse = np.linalg.inv(inside)
        carried = np.einsum("cji,cjk->cik", across, inverse)
        reduced = whole - np.einsum("cik,ckj->ij", carried, across)
        previous = theta
        theta = np.linalg.solve(reduced, right - np.einsum("cik,ck->i", carried, right_own))
        apart = np.einsum("cij,cj->ci", inverse, right_own - across @ theta)
        if np.abs(theta - previous).max() < 1e-6:
            break
    linear = _add_up(common, own, theta, apart)
    fitness = (wrong * linear - tested * np.exp(linear)).sum() - 0.5 * (apart**2 / spread**2).sum()
    fitness -= 0.5 * float((PRIOR_PRECISION * (theta - target) ** 2).sum())
    return _Fit(
        rate=rate,
        common=theta,
        deviations=apart,
        variances=np.stack([inverse[:, 0, 0], inverse[:, 1, 1]], axis=1),
        fitness=float(fitness),
    )


def _add_up(
    common: Float[np.ndarray, "t c 3"],
    own: Float[np.ndarray, "t c 2"],
    theta: Float[np.ndarray, " 3"],
    apart: Float[np.ndarray, "c 2"],
) -> Float[np.ndarray, "t c"]:
    # Errors are below 1; the bounds keep a first step in reach.
    return np.clip(common @ theta + np.einsum("tci,ci->tc", own, apart), -15.0, 0.5)


def _measure_sizes(counts: np.ndarray, rate: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log N and the logarithm of K times the label's share, for counts of shape ``(…, r, k)``."""
    of_label = counts.sum(axis=-2, keepdims=True)
    size = 1 + counts + rate * (of_label - counts)
    n_labels = counts.shape[-1]
    share = (of_label + 0.5) / (of_label.sum(axis=-1, keepdims=True) + 0.5 * n_labels)
    return np.log(size), np.broadcast_to(np.log(n_labels * share), size.shape)


def _draw_images(trials: Trials, rng: np.random.Generator) -> Float[np.ndarray, " n"]:
    """Return how often each image is drawn, each cell's images apart."""
    weights = np.zeros(len(trials.cell))
    is_used = trials.is_tested.any(axis=0)
    for cell in np.unique(trials.cell[is_used]):
        rows = np.flatnonzero(is_used & (trials.cell == cell))
        weights[rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)))
    return weights


def _list_near(rate: float) -> tuple[float, ...]:
    place = EXCHANGE_RATES.index(rate)
    return EXCHANGE_RATES[max(place - 1, 0) : place + 2]
