"""Labels' shares in a target without labels, with the uncertainty that its and the source's images leave."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from graticule.errors import ConfigError, unknown_choice
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.shift.label_shift import LABEL_SHIFTS
from graticule.evaluation.shift.label_shift.evidence import Evidence


def estimate_shares(
    source_label: Int[np.ndarray, " n"],
    source_scores: Float[np.ndarray, "n k"],
    target_scores: Float[np.ndarray, "m k"],
    *,
    method: str = "mlls",
    source_groups: Int[np.ndarray, " n"] | None = None,
    target_groups: Int[np.ndarray, " m"] | None = None,
    n_bootstraps: int = 50,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimates:
    """Return the share of each label in the target, from predictions alone.

    Parameters
    ----------
    source_label
        Codes of the source images' labels.
    source_scores, target_scores
        Probabilities of each label, or rows of one 1 where only the best label is known. Source images must not have
        been trained on: predict them out of fold.
    method
        One of `LABEL_SHIFTS`.
    source_groups, target_groups
        What each image shows; drawn together in the bootstrap.
    n_bootstraps
        Draws of the images of both sides.
    confidence
        Coverage of the intervals, if labels' shares are all that changed between the regions.
    seed
        Seed of the draws.

    Raises
    ------
    ConfigError
        The method is unknown.
    """
    if method not in LABEL_SHIFTS:
        raise unknown_choice("estimator of label shift", method, LABEL_SHIFTS)
    if n_bootstraps < 2 or not 0 < confidence < 1:
        raise ConfigError(f"{n_bootstraps} draws, confidence {confidence}: expected at least 2, and between 0 and 1.")
    estimate = LABEL_SHIFTS[method]
    rng = np.random.default_rng(seed)
    n, m = len(source_scores), len(target_scores)

    def measure(source_weight: np.ndarray, target_weight: np.ndarray) -> np.ndarray:
        return estimate(
            Evidence(
                source_label=source_label,
                source_scores=source_scores,
                target_scores=target_scores,
                source_weight=source_weight,
                target_weight=target_weight,
            )
        )

    value = measure(np.ones(n), np.ones(m))
    count = np.full(len(value), m)
    if np.isnan(value).any():
        nothing = np.full(len(value), np.nan)
        return Estimates(value=nothing, low=nothing, high=nothing, n=np.zeros(len(value), dtype=np.int64))
    draws = np.stack([measure(_draw(n, source_groups, rng), _draw(m, target_groups, rng)) for _ in range(n_bootstraps)])
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0, method="weibull")
    return Estimates(value=value, low=np.minimum(low, value), high=np.maximum(high, value), n=count)


def _draw(n: int, groups: Int[np.ndarray, " n"] | None, rng: np.random.Generator) -> Float[np.ndarray, " n"]:
    codes = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_groups = int(codes.max()) + 1
    return np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups).astype(np.float64)[codes]
