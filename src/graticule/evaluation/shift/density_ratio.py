"""How much more likely an image's features are in the target than in the source, given its label.

A logistic regression that tells the regions apart among images of one label estimates that ratio. Labels have few
images, so it is fitted in two steps: a direction that all labels share, then each label's own departure from it, drawn
towards none. Every image is judged by a fit that did not see it (nor its group).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.shift.outcomes import Outcomes
from graticule.models.principal_axes import find_axes

SHARED_PENALTIES = (1.0, 10.0, 100.0)
OWN_PENALTIES = (3.0, 30.0, 300.0, 1e6)
"""Penalties to choose from by cross-validated loss, in pseudo-images at one standard deviation; the last: none."""
INTERCEPT_PENALTY = 1.0
REACH = 4.0
"""Logarithms of ratios beyond this are cut: no image stands for more than 55 others."""
STEPS = 12
TOLERANCE = 1e-6


@dataclass(slots=True, kw_only=True, eq=False)
class RatioModel:
    """Ratios of one kind of features; fitted once, then again quickly for each bootstrap draw.

    Parameters
    ----------
    axes
        Features on principal axes within labels, in standard deviations, shape ``(n, a)``, rows as in the outcomes.
    outcomes
        The images.
    folds
        Fold of each image, shape ``(n,)``.
    penalties
        The shared and the own penalty.
    """

    axes: Float[np.ndarray, "n a"]
    outcomes: Outcomes
    folds: Int[np.ndarray, " n"]
    judged: Float[np.ndarray, " k"]
    penalties: tuple[float, float] = (10.0, 30.0)
    _shared: dict[int, np.ndarray] = field(default_factory=dict[int, np.ndarray])
    _own: dict[tuple[int, int], np.ndarray] = field(default_factory=dict[tuple[int, int], np.ndarray])
    _rows: list[np.ndarray] = field(default_factory=list[np.ndarray])

    def __post_init__(self) -> None:
        """Sort the images by label."""
        self._rows = [np.flatnonzero(self.outcomes.label == label) for label in range(len(self.outcomes.labels))]

    def estimate(self, weights: Float[np.ndarray, " n"], *, n_steps: int = STEPS) -> Float[np.ndarray, " n"]:
        """Return the logarithm of each image's ratio; 0 for labels that are not judged.

        Parameters
        ----------
        weights
            How often each image counts.
        n_steps
            Newton steps at most, from where the last fit ended: one is enough for a bootstrap draw.
        """
        balanced = balance_sides(self.outcomes, weights) * self.judged[self.outcomes.label]
        found = np.zeros(len(self.axes))
        for fold in np.unique(self.folds):
            inside = self.folds == fold
            seen = np.where(inside, 0.0, balanced)
            shared = self._fit_shared(int(fold), seen, n_steps)
            offset = self.axes @ shared
            found[inside] = offset[inside]
            for label in np.flatnonzero(self.judged):
                rows = self._rows[label]
                own = self._fit_own((int(fold), int(label)), rows, seen[rows], offset[rows], n_steps)
                here = rows[inside[rows]]
                found[here] += own[0] + self.axes[here] @ own[1:]
        found[self.judged[self.outcomes.label] == 0] = 0.0
        return np.clip(found, -REACH, REACH)

    def choose_penalties(self) -> None:
        """Choose the penalties whose left-out loss is lowest."""
        ones = np.ones(len(self.axes))
        weights = balance_sides(self.outcomes, ones) * self.judged[self.outcomes.label]
        signs = np.where(self.outcomes.is_target, 1.0, -1.0)

        def measure(penalties: tuple[float, float]) -> float:
            self.penalties = penalties
            self._shared.clear()
            self._own.clear()
            return float((weights * np.logaddexp(0.0, -signs * self.estimate(ones))).sum())

        shared = min(SHARED_PENALTIES, key=lambda penalty: measure((penalty, OWN_PENALTIES[-1])))
        own = min(OWN_PENALTIES, key=lambda penalty: measure((shared, penalty)))
        measure((shared, own))

    def _fit_shared(self, fold: int, weights: np.ndarray, n_steps: int) -> np.ndarray:
        start = self._shared.get(fold, np.zeros(self.axes.shape[1]))
        penalty = np.full(self.axes.shape[1], self.penalties[0])
        kept = weights > 0
        fitted = _fit(
            self.axes[kept], self.outcomes.is_target[kept], weights[kept], start=start, penalty=penalty, n_steps=n_steps
        )
        if n_steps == STEPS:
            self._shared[fold] = fitted
        return fitted

    def _fit_own(
        self, key: tuple[int, int], rows: np.ndarray, weights: np.ndarray, offset: np.ndarray, n_steps: int
    ) -> np.ndarray:
        n_axes = self.axes.shape[1]
        if not weights.any():
            return np.zeros(n_axes + 1)
        start = self._own.get(key, np.zeros(n_axes + 1))
        penalty = np.r_[INTERCEPT_PENALTY, np.full(n_axes, self.penalties[1])]
        design = np.concatenate([np.ones((len(rows), 1)), self.axes[rows]], axis=1)
        fitted = _fit(
            design, self.outcomes.is_target[rows], weights, start=start, penalty=penalty, n_steps=n_steps, offset=offset
        )
        if n_steps == STEPS:
            self._own[key] = fitted
        return fitted


def make_ratio_model(
    features: Float[np.ndarray, "n d"],
    outcomes: Outcomes,
    *,
    folds: Int[np.ndarray, " n"],
    min_images: int,
    n_axes: int,
) -> RatioModel:
    """Return the ratios of one kind of features, penalties chosen.

    Parameters
    ----------
    features
        Features of the images, shape ``(n, d)``.
    outcomes
        The images.
    folds
        Fold of each image.
    min_images
        Labels with fewer on either side are not judged: their ratio is 1.
    n_axes
        Principal axes of the features' spread within labels that are used.
    """
    counts = outcomes.count_labels()
    judged = (counts.min(axis=0) >= min_images).astype(np.float64)
    n_labels = len(outcomes.labels)
    weights = balance_sides(outcomes, np.ones(len(outcomes.label)))
    order = np.argsort(outcomes.label, kind="stable")
    bounds = np.searchsorted(outcomes.label[order], np.arange(n_labels))
    present = counts.sum(axis=0) > 0
    sums = np.zeros((n_labels, features.shape[1]))
    weighted = features[order].astype(np.float64) * weights[order][:, None]
    sums[present] = np.add.reduceat(weighted, bounds[present], axis=0)
    totals = np.bincount(outcomes.label, weights=weights, minlength=n_labels)
    middles = sums / np.maximum(totals, 1e-12)[:, None]
    centred = (features - middles[outcomes.label]).astype(np.float32)
    axes = (centred @ find_axes(centred)[:, :n_axes]).astype(np.float64)
    axes = axes / np.maximum(axes.std(axis=0), 1e-9)
    model = RatioModel(axes=axes, outcomes=outcomes, folds=folds, judged=judged)
    model.choose_penalties()
    return model


def balance_sides(outcomes: Outcomes, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return weights that sum, for each label, to its images and to the same on both sides where it is on both."""
    counts = outcomes.count_labels(weights)
    total = counts.sum(axis=0)
    n_sides = (counts > 0).sum(axis=0)
    factors = np.divide(total, n_sides * counts, out=np.zeros(counts.shape), where=counts > 0)
    return weights * factors[outcomes.is_target.astype(int), outcomes.label]


def _fit(
    design: Float[np.ndarray, "m a"],
    is_target: np.ndarray,
    weights: Float[np.ndarray, " m"],
    *,
    start: Float[np.ndarray, " a"],
    penalty: Float[np.ndarray, " a"],
    n_steps: int,
    offset: Float[np.ndarray, " m"] | None = None,
) -> Float[np.ndarray, " a"]:
    """Return the weights of a penalised logistic regression, by Newton's method."""
    point = start
    shift = np.zeros(len(design)) if offset is None else offset
    for _ in range(n_steps):
        shares = 0.5 * (1 + np.tanh((design @ point + shift) / 2))
        slope = design.T @ (weights * (is_target - shares)) - penalty * point
        bend = (design * (weights * np.maximum(shares * (1 - shares), 1e-6))[:, None]).T @ design
        step = np.linalg.solve(bend + np.diag(penalty), slope)
        longest = float(np.abs(step).max(initial=0.0))
        point = point + step / max(1.0, longest / 2)
        if longest < TOLERANCE:
            break
    return point
