"""How strongly a probe is held back: C, chosen by cross-validation on the training images alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int

from graticule.errors import unknown_choice
from graticule.models.logistic import LogisticFits, fit_logistic
from graticule.models.logistic_pass import FoldedRows

CANDIDATES = tuple(float(f"{10 ** (power / 2):.3g}") for power in range(-2, 9))
"""From 0.1 to 10,000 in half decades: the prior variance of a score, where features have been scaled."""
CHOICES = {
    "simplest": "the strongest penalty whose loss is within one standard error of the lowest",
    "lowest": "the penalty whose loss is the lowest",
}
"""Rule → what it picks."""
MOST_ROWS = 10_000
"""C is a prior's variance and does not depend on how many rows there are, so it is chosen on no more than these."""
TOLERANCE = 1e-3
"""Of the fits that are only compared; what they leave open moves the loss by a percent."""
RISES_TO_STOP = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PenaltyChoice:
    """The C that was chosen, and why.

    Parameters
    ----------
    inverse_penalty
        C for the probe that is trained on all rows.
    by_fold
        C for the probe that does not see a fold, chosen without that fold's losses, shape ``(f,)``.
    candidates
        The C that were tried, rising.
    losses
        Mean logarithmic loss of each candidate on each fold, shape ``(c, f)``.
    n_rows
        Rows that the choice rests on.
    """

    inverse_penalty: float
    by_fold: tuple[float, ...]
    candidates: tuple[float, ...]
    losses: Float64[np.ndarray, "c f"]
    n_rows: int


def choose_penalty(
    rows: FoldedRows, *, choice: str = "simplest", rng: np.random.Generator, most_rows: int = MOST_ROWS
) -> PenaltyChoice:
    """Return the C at which probes predict best what they have not seen.

    Parameters
    ----------
    rows
        The training rows in their folds.
    choice
        One of `CHOICES`.
    rng
        Draws the rows where there are more than ``most_rows``.
    most_rows
        How many rows the choice may rest on; each fold gives its share.

    Notes
    -----
    C rises from the smallest candidate, every fit starting where the last one ended, until the mean loss has risen
    twice in a row. The default rule takes the simplest model that is not clearly worse (Breiman et al. 1984, section
    3.4.3; Hastie et al. 2009, section 7.10): a probe is going to be used in regions that it was not trained on, where
    nothing says that the last bit of fit holds.
    """
    if choice not in CHOICES:
        raise unknown_choice("choice", choice, CHOICES)
    some = _draw_rows(rows, most_rows, rng)
    n_folds = len(some.bounds) - 1
    losses: list[Float64[np.ndarray, " f"]] = []
    fits: LogisticFits | None = None
    for candidate in CANDIDATES:
        fits = fit_logistic(
            some,
            left_out=range(n_folds),
            inverse_penalties=[candidate] * n_folds,
            start=fits,
            tolerance=TOLERANCE,
        )
        losses.append(fits.left_out_loss)
        means = [_mean(loss) for loss in losses]
        if len(means) > RISES_TO_STOP and all(means[-i] > means[-i - 1] for i in range(1, RISES_TO_STOP + 1)):
            break
    table = np.stack(losses)
    others = [np.delete(table, fold, axis=1) for fold in range(n_folds)]
    return PenaltyChoice(
        inverse_penalty=CANDIDATES[pick_candidate(table, choice)],
        by_fold=tuple(CANDIDATES[pick_candidate(part, choice)] for part in others),
        candidates=CANDIDATES[: len(table)],
        losses=table,
        n_rows=len(some.targets),
    )


def pick_candidate(losses: Float[np.ndarray, "c f"], choice: str) -> int:
    """Return the index of the candidate that a rule picks; candidates stand from the strongest penalty to the weakest.

    Notes
    -----
    Folds without a loss (NaN) do not count. The standard error is that of the mean over folds of the lowest loss; with
    one fold there is none, and both rules pick the lowest. Equal losses go to the stronger penalty.
    """
    usable = losses[:, np.isfinite(losses).all(axis=0)]
    if usable.shape[1] == 0:
        return 0
    means = usable.mean(axis=1)
    lowest = int(np.argmin(means))
    if choice == "lowest" or usable.shape[1] < 2:
        return lowest
    error = usable[lowest].std(ddof=1) / np.sqrt(usable.shape[1])
    return int(np.flatnonzero(means <= means[lowest] + error)[0])


def _draw_rows(rows: FoldedRows, most_rows: int, rng: np.random.Generator) -> FoldedRows:
    """Return at most ``most_rows`` rows, each fold's and each label's share of them, folds still in order."""
    n_rows = len(rows.targets)
    if n_rows <= most_rows:
        return rows
    fold_of = np.repeat(np.arange(len(rows.bounds) - 1), np.diff(rows.bounds))
    shuffled = rng.permutation(n_rows)
    by_cell = shuffled[np.lexsort((rows.targets[shuffled], fold_of[shuffled]))]
    kept = np.sort(by_cell[np.linspace(0, n_rows - 1, most_rows).round().astype(np.int64)])
    bounds: Int[np.ndarray, " b"] = np.searchsorted(fold_of[kept], np.arange(len(rows.bounds)))
    return FoldedRows(
        features=rows.features[kept],
        targets=rows.targets[kept],
        n_labels=rows.n_labels,
        bounds=tuple(bounds.tolist()),
    )


def _mean(losses: Float[np.ndarray, " f"]) -> float:
    known = losses[np.isfinite(losses)]
    return float(known.mean()) if len(known) else 0.0
