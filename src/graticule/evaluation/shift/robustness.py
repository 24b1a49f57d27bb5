"""Effective robustness: what a model's target accuracy is beyond what its source accuracy promises.

Over many models target accuracy follows source accuracy along a line, once both are put on a probit or logit scale. A
model above the line has something that better source accuracy alone would not have brought.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.errors import ConfigError, unknown_choice
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile
from graticule.evaluation.shift.spread import measure_spread

FEWEST_MODELS = 3
"""A line through two points promises each exactly what it has."""
EDGE = 1e-3
"""Accuracies are kept this far from 0 and 1, whose probit is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A scale that accuracies are put on, and the way back."""

    forth: Callable[[Float[np.ndarray, " m"]], Float[np.ndarray, " m"]]
    back: Callable[[Float[np.ndarray, " m"]], Float[np.ndarray, " m"]]


def _probit(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    from scipy.special import ndtri

    return ndtri(np.clip(values, EDGE, 1 - EDGE))


def _unprobit(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    from scipy.special import ndtr

    return ndtr(values)


def _logit(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    kept = np.clip(values, EDGE, 1 - EDGE)
    return np.log(kept / (1 - kept))


def _unlogit(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    return 0.5 * (1 + np.tanh(values / 2))


def _keep(values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    return values


SCALES: dict[str, Scale] = {
    "linear": Scale(forth=_keep, back=_keep),
    "logit": Scale(forth=_logit, back=_unlogit),
    "probit": Scale(forth=_probit, back=_unprobit),
}
"""Name → scale."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Robustness:
    """A line through models, and what each is beyond it.

    Parameters
    ----------
    slope, intercept
        Of the line, on the scale of the fit.
    promised
        Target accuracy that the line promises each model, shape ``(m,)``.
    beyond
        Target accuracy minus that, with intervals.
    share_explained
        Share of the models' variance that the line explains (R²), on the scale of the fit.
    """

    slope: float
    intercept: float
    promised: Float[np.ndarray, " m"]
    beyond: Estimates
    share_explained: float


def measure_robustness(
    source: Float[np.ndarray, " m"],
    target: Float[np.ndarray, " m"],
    *,
    n: Int[np.ndarray, " m"],
    takes_part: Bool[np.ndarray, " m"] | None = None,
    draws: tuple[Float[np.ndarray, "b m"], Float[np.ndarray, "b m"]] | None = None,
    fit: str = "probit",
    confidence: float = 0.95,
) -> Robustness:
    """Return the line through models' accuracies, and what each model is beyond it.

    Parameters
    ----------
    source, target
        Accuracies of ``m`` models.
    n
        Images of the target behind each.
    takes_part
        Models that the line goes through, shape ``(m,)``; None for all. Leave out those that were trained on the
        target: they do not tell what source accuracy promises.
    draws
        The same accuracies in bootstrap draws of the images, for intervals; None for none.
    fit
        One of `SCALES`.
    confidence
        Coverage of the intervals.

    Raises
    ------
    ConfigError
        There are fewer than three models, all have the same source accuracy, or the fit is unknown.

    References
    ----------
    Taori et al. (2020), Measuring robustness to natural distribution shifts in image classification; Miller et al.
    (2021), Accuracy on the line, for the probit scale.
    """
    if fit not in SCALES:
        raise unknown_choice("fit", fit, SCALES, where="--fit")
    on_line = np.ones(len(source), dtype=bool) if takes_part is None else takes_part
    if on_line.sum() < FEWEST_MODELS:
        raise ConfigError(
            f"effective robustness of {int(on_line.sum())} models: expected at least {FEWEST_MODELS}, for a line "
            "through two is exact. Give the predictions of more models, or leave --source and --target out."
        )
    scale = SCALES[fit]
    if np.ptp(scale.forth(source[on_line])) < 1e-9:
        raise ConfigError(
            "effective robustness: all models have the same source accuracy, expected different ones, or there is no "
            "line. Give other models."
        )
    slope, intercept = _fit(scale, source[on_line], target[on_line])
    promised = scale.back(intercept + slope * scale.forth(source))
    beyond = target - promised
    spread = np.full(len(source), np.nan)
    if draws is not None:
        again: list[np.ndarray] = []
        for one, other in zip(*draws, strict=True):
            if np.ptp(scale.forth(one[on_line])) > 1e-9:
                steep, level = _fit(scale, one[on_line], other[on_line])
                again.append(other - scale.back(level + steep * scale.forth(one)))
        spread = measure_spread(np.stack(again)) if len(again) > 1 else spread
    reach = find_quantile(confidence) * spread
    up = scale.forth(target[on_line])
    left = up - intercept - slope * scale.forth(source[on_line])
    total = float(((up - up.mean()) ** 2).sum())
    return Robustness(
        slope=slope,
        intercept=intercept,
        promised=promised,
        beyond=Estimates(value=beyond, low=beyond - reach, high=beyond + reach, n=n),
        share_explained=1 - float((left**2).sum()) / total if total > 0 else np.nan,
    )


def _fit(scale: Scale, source: Float[np.ndarray, " m"], target: Float[np.ndarray, " m"]) -> tuple[float, float]:
    across, up = scale.forth(source), scale.forth(target)
    centred = across - across.mean()
    slope = float((centred * up).sum() / (centred**2).sum())
    return slope, float(up.mean() - slope * across.mean())
