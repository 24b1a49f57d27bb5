"""A drop in accuracy split into what label frequencies, backgrounds and designs have done, and what none explains.

GeoNet writes the images of a region as label × background × foreground: P(y) · P(b | y) · P(f | y). Each factor can be
taken from the source or from the target, which makes eight worlds, of which only two can be photographed. The accuracy
in the others is estimated by weighing the images of *both* regions: an image counts as much as it would be met in that
world, compared with an even mix of both regions. The model is one and the same everywhere, so an image of the target is
as good evidence of how it judges such images as one of the source, and no image has to stand for many.

The parts are Shapley values over the three switches. What is left of the drop is the rest: differences that neither
labels nor these features show. Prior + context + design + rest is the drop, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.errors import ConfigError
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.shift.density_ratio import STEPS, RatioModel, balance_sides, make_ratio_model
from graticule.evaluation.shift.outcomes import Outcomes, draw_again
from graticule.evaluation.shift.shapley import share_out
from graticule.evaluation.shift.spread import measure_spread
from graticule.models.folds import deal_folds
from graticule.models.processors import one_blas_thread
from graticule.progress import track

PRIOR, CONTEXT, DESIGN, APPEARANCE, REST = "prior", "context", "design", "appearance", "rest"
ORDER = (CONTEXT, DESIGN, APPEARANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecompositionConfig:
    """How a drop is split."""

    min_images: int = 8
    """Labels with fewer images on either side are not judged beyond their frequency."""
    n_axes: int = 16
    """Principal axes of each kind of features."""
    n_folds: int = 5
    n_bootstraps: int = 100
    confidence: float = 0.95
    """Coverage of all parts' intervals together (each is widened by Bonferroni)."""
    shown: bool = False
    """Whether a bar shows the progress of the bootstrap."""

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if self.min_images < 2 or self.n_axes < 1 or self.n_folds < 2 or self.n_bootstraps < 2:
            raise ConfigError(
                f"{self.min_images} images, {self.n_axes} axes, {self.n_folds} folds, {self.n_bootstraps} bootstrap "
                "draws: expected at least 2, 1, 2 and 2. Leave them out for the defaults."
            )
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence {self.confidence}: expected a number between 0 and 1, as in 0.95.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decomposition:
    """A drop and its parts.

    Parameters
    ----------
    causes
        Names of the parts, ``c`` of them; the last is the rest.
    drop
        Accuracy in the source minus that in the target, of all labels; length one.
    parts
        The parts of that drop, length ``c``, in the order of the causes; intervals hold together.
    label_drops
        Drop of each label, length ``k``; NaN where a side has no images.
    label_parts
        Shape ``(c, k)`` each: what each cause has of each label's own drop. The prior has none of it.
    label_priors
        What each label adds to the prior's part, length ``k``.
    overlap
        For context and for design: the share of the images that carry the estimate where only it is switched on (the
        effective number of images over all); 1 where nothing has to be weighed, near 0 where regions do not overlap.
    n_judged
        Labels with enough images on both sides.
    """

    causes: tuple[str, ...]
    drop: Estimates
    parts: Estimates
    label_drops: Estimates
    label_parts: tuple[Estimates, ...]
    label_priors: Estimates
    overlap: Mapping[str, float]
    n_judged: int


def decompose_drop(
    outcomes: Outcomes,
    features: Mapping[str, Float[np.ndarray, "n d"]],
    *,
    config: DecompositionConfig | None = None,
    seed: int = 0,
) -> Decomposition:
    """Return the drop from source to target and its parts.

    Parameters
    ----------
    outcomes
        The images and whether the model was right.
    features
        ``context`` and ``design`` (background and foreground features, from masks), or ``appearance`` (features of
        whole images), or nothing: then label frequencies and the rest are told apart and no more.
    config
        The settings.
    seed
        Seed of folds and bootstrap draws.

    Raises
    ------
    ConfigError
        The features are of other kinds.

    Notes
    -----
    Two assumptions carry the split, both GeoNet's: given its label, an image's background tells nothing of its
    foreground, and features hold what the model goes by. Where they fail, the rest grows. With no features the prior's
    part is the classical one of Kitagawa (1955): differences of label shares times the labels' mean accuracies.
    Intervals are Student's with the bootstrap's standard deviation; each draw fits the ratios again (a Newton step).
    """
    settings = config or DecompositionConfig()
    kinds = _check_kinds(features)
    rng = np.random.default_rng(seed)
    codes = np.unique(outcomes.groups, return_inverse=True)[1]
    cells = outcomes.label * 2 + outcomes.is_target
    with one_blas_thread():
        folds = deal_folds(cells, codes, n_folds=settings.n_folds, rng=rng)
        models = {
            kind: make_ratio_model(
                features[kind], outcomes, folds=folds, min_images=settings.min_images, n_axes=settings.n_axes
            )
            for kind in kinds
        }
        once = _split(outcomes, models, np.ones(len(outcomes.label)))
        draws = track(
            range(settings.n_bootstraps),
            total=settings.n_bootstraps,
            label="splitting the drop",
            unit="draw",
            shown=settings.shown,
        )
        again = [_split(outcomes, models, draw_again(outcomes, rng=rng), n_steps=1) for _ in draws]
    return _gather(outcomes, (PRIOR, *kinds, REST), once, again, config=settings)


def _check_kinds(features: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    kinds = tuple(kind for kind in ORDER if kind in features)
    if len(kinds) != len(features) or kinds not in ((), (CONTEXT, DESIGN), (APPEARANCE,)):
        raise ConfigError(
            f"features of {', '.join(features)}: expected context and design together, or appearance, or none."
        )
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Split:
    """The numbers of one draw."""

    drop: float
    parts: Float[np.ndarray, " c"]
    label_drops: Float[np.ndarray, " k"]
    label_parts: Float[np.ndarray, "c k"]
    label_priors: Float[np.ndarray, " k"]
    overlap: Mapping[str, float]


def _split(
    outcomes: Outcomes, models: Mapping[str, RatioModel], weights: Float[np.ndarray, " n"], *, n_steps: int = STEPS
) -> _Split:
    n_labels, n_kinds = len(outcomes.labels), len(models)
    counts = outcomes.count_labels(weights)
    shares = counts / counts.sum(axis=1, keepdims=True)
    accuracy = outcomes.measure_labels(weights)
    balanced = balance_sides(outcomes, weights)
    met = _weigh_worlds([model.estimate(weights, n_steps=n_steps) for model in models.values()], balanced)
    within = np.stack([_average(row, outcomes) for row in met])
    # Bit 0 is the prior, the kinds of features follow. A drop is what is lost, so worlds count what is lost.
    by_label = -np.stack([shares[world & 1] * within[world >> 1] for world in range(2 ** (n_kinds + 1))])
    label_shares = share_out(by_label, n_causes=n_kinds + 1)
    parts = label_shares.sum(axis=1)
    source, target = np.nansum(shares * accuracy, axis=1)
    drop = float(source - target)
    label_parts = share_out(-within, n_causes=n_kinds) if n_kinds else np.zeros((0, n_labels))
    label_drops = accuracy[0] - accuracy[1]
    left = label_drops - label_parts.sum(axis=0)
    return _Split(
        drop=drop,
        parts=np.r_[parts, drop - parts.sum()],
        label_drops=label_drops,
        label_parts=np.concatenate([np.zeros((1, n_labels)), label_parts, left[None]]),
        # With the mean accuracy taken away, which changes no sum: a label that is rarer and easier adds to a drop.
        label_priors=label_shares[0] + (shares[1] - shares[0]) * within.mean(),
        overlap={kind: _count_effective(met[1 << bit]) / _count_effective(balanced) for bit, kind in enumerate(models)},
    )


def _weigh_worlds(ratios: list[Float[np.ndarray, " n"]], balanced: Float[np.ndarray, " n"]) -> Float[np.ndarray, "w n"]:
    """Return how much each image counts in each world: how often it is met there, over an even mix of both regions."""
    mix = np.logaddexp(0.0, sum(ratios, np.zeros(len(balanced))))
    worlds = range(2 ** len(ratios))
    met = [sum((ratio for bit, ratio in enumerate(ratios) if world >> bit & 1), np.zeros(len(mix))) for world in worlds]
    return 2 * balanced * np.exp(np.stack(met) - mix)


def _average(weights: Float[np.ndarray, " n"], outcomes: Outcomes) -> Float[np.ndarray, " k"]:
    """Return each label's accuracy under weights; 0 for a label without images, which then counts for nothing."""
    n_labels = len(outcomes.labels)
    total = np.bincount(outcomes.label, weights=weights, minlength=n_labels)
    hits = np.bincount(outcomes.label, weights=weights * outcomes.is_right, minlength=n_labels)
    return np.divide(hits, total, out=np.zeros(n_labels), where=total > 0)


def _count_effective(weights: Float[np.ndarray, " n"]) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _find_reach(confidence: float, n_draws: int) -> float:
    """Return how many standard deviations an interval reaches, allowing for the few draws that these come from."""
    from scipy.special import stdtrit

    return float(stdtrit(n_draws - 1, 0.5 + confidence / 2))


def _gather(
    outcomes: Outcomes, causes: tuple[str, ...], once: _Split, again: list[_Split], *, config: DecompositionConfig
) -> Decomposition:
    counts = outcomes.count_labels()
    n = counts.sum(axis=0).astype(np.int64)
    n = np.where(counts.min(axis=0) > 0, n, 0)
    alone = _find_reach(config.confidence, len(again))
    together = _find_reach(1 - (1 - config.confidence) / len(causes), len(again))
    is_judged = counts.min(axis=0) >= config.min_images

    def attach(value: np.ndarray, draws: list[np.ndarray], *, reach: float, n: np.ndarray) -> Estimates:
        spread = np.full(value.shape, np.nan)
        stacked = np.stack(draws)
        known = np.isfinite(value)
        with np.errstate(invalid="ignore"):
            spread[known] = measure_spread(stacked[:, known])
        return Estimates(value=value, low=value - reach * spread, high=value + reach * spread, n=n)

    everyone = np.array([len(outcomes.label)])
    return Decomposition(
        causes=causes,
        drop=attach(np.array([once.drop]), [np.array([draw.drop]) for draw in again], reach=alone, n=everyone),
        parts=attach(once.parts, [draw.parts for draw in again], reach=together, n=np.repeat(everyone, len(causes))),
        label_drops=attach(once.label_drops, [draw.label_drops for draw in again], reach=alone, n=n),
        label_parts=tuple(
            attach(
                np.where(is_judged, once.label_parts[place], np.nan),
                [draw.label_parts[place] for draw in again],
                reach=together,
                n=np.where(is_judged, n, 0),
            )
            for place in range(len(causes))
        ),
        label_priors=attach(once.label_priors, [draw.label_priors for draw in again], reach=alone, n=n),
        overlap=once.overlap,
        n_judged=int(is_judged.sum()),
    )
