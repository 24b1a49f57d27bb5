"""The relative value of an image: how many images of one data set do the work of n images of another.

A probe is trained on n images of A and tested on the rest of A; then probes are trained on more and more images of B
until they do as well on the same images. That all of B may not be enough is an answer too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graticule.errors import ConfigError
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.value.drawing import exclude_groups, order_rows
from graticule.evaluation.value.seeds import average_seeds
from graticule.models.probe_space import ProbeSpace
from graticule.progress import track

STEP = 2**0.5
"""From one number of images to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeConfig:
    """How relative value is measured."""

    n_images: int = 250
    """Images of the baseline (GeoDE, section 4)."""
    n_seeds: int = 10
    n_bootstraps: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse numbers that are too small.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if self.n_images < 2 or self.n_seeds < 2 or self.n_bootstraps < 1:
            raise ConfigError(
                f"{self.n_images} images, {self.n_seeds} seeds, {self.n_bootstraps} bootstraps: expected at least 2, 2 "
                "and 1. Leave them out for the defaults."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelativeValue:
    """What the images of another data set are worth on the test images of one.

    Parameters
    ----------
    baseline
        Accuracy that ``n_images`` of its own images give; length one.
    sizes, curve
        Numbers of the other's images, rising, and the accuracy that they give, shape ``(m,)``.
    own_sizes, own_curve
        The same for its own images.
    needed
        How many of the other's images give the baseline's accuracy; infinite where all of them do not; length one.
    reached_share
        Share of the seeds in which the baseline was reached.
    n_images
        Images of the baseline.
    n_available
        Images that the other data set has.
    """

    baseline: Estimates
    sizes: Int[np.ndarray, " m"]
    curve: Estimates
    own_sizes: Int[np.ndarray, " q"]
    own_curve: Estimates
    needed: Estimates
    reached_share: float
    n_images: int
    n_available: int


def measure_relative_value(
    space: ProbeSpace,
    is_other: np.ndarray,
    groups: Int[np.ndarray, " n"],
    *,
    config: RelativeConfig | None = None,
    seed: int = 0,
    names: tuple[str, str] = ("A", "B"),
    shown: bool = False,
) -> RelativeValue:
    """Return how many images of B a probe needs to do as well on A as n images of A do.

    Parameters
    ----------
    space
        Images of both data sets.
    is_other
        Which of them are B's, shape ``(n,)``.
    groups
        Index of what each image shows.
    config
        Size of the baseline and number of seeds.
    seed
        First of the seeds.
    names
        Names of A and B, for messages.
    shown
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError
        A has no more than the baseline's images, so that none is left to test on.

    Notes
    -----
    The crossing is that of the mean curves, interpolated between two sizes on a logarithmic scale; its interval comes
    from drawing the seeds again. A curve that dips is first made non-decreasing by pooling, so that noise does not
    count as an early crossing.
    """
    settings = config or RelativeConfig()
    own, other = np.flatnonzero(~is_other), np.flatnonzero(is_other)
    if len(own) <= settings.n_images:
        raise ConfigError(
            f"--number {settings.n_images}: {names[0]} has {len(own)} images of the shared labels, expected more than "
            "that, so that some are left to test on. Choose a smaller --number."
        )
    sizes = list_sizes(max(2, min(settings.n_images // 4, len(other))), len(other))
    own_sizes = list_sizes(settings.n_images, max(settings.n_images, len(own) // 2))
    curves = np.empty((settings.n_seeds, len(sizes)))
    own_curves = np.empty((settings.n_seeds, len(own_sizes)))
    label = f"{names[1]} for {names[0]}"
    for row in track(range(settings.n_seeds), total=settings.n_seeds, label=label, unit="seed", shown=shown):
        rng = np.random.default_rng([seed, row])
        ordered, theirs = order_rows(own, groups, rng), order_rows(other, groups, rng)
        test = exclude_groups(ordered[int(own_sizes[-1]) :], ordered[: int(own_sizes[-1])], groups)
        if not len(test):
            raise ConfigError(
                f"--number {settings.n_images}: no image of {names[0]} is left to test on once the groups that were "
                "trained on are taken out. Choose a smaller --number, or a finer --group."
            )
        own_curves[row] = [space.test(ordered[:size], test).mean() for size in own_sizes]
        curves[row] = [space.test(exclude_groups(theirs[:size], test, groups), test).mean() for size in sizes]
    n_test = len(own) - int(own_sizes[-1])
    rng = np.random.default_rng([seed, settings.n_seeds])
    return RelativeValue(
        baseline=average_seeds(own_curves[:, :1], n=n_test, confidence=settings.confidence),
        sizes=sizes,
        curve=average_seeds(curves, n=n_test, confidence=settings.confidence),
        own_sizes=own_sizes,
        own_curve=average_seeds(own_curves, n=n_test, confidence=settings.confidence),
        needed=_find_needed(sizes, curves, own_curves[:, 0], settings, rng=rng, n=len(other)),
        reached_share=_share_reached(sizes, curves, own_curves[:, 0]),
        n_images=settings.n_images,
        n_available=len(other),
    )


def find_crossing(sizes: Int[np.ndarray, " m"], curve: Float[np.ndarray, " m"], level: float) -> float:
    """Return the number of images at which a curve first reaches a level; infinite where it never does.

    Examples
    --------
    >>> find_crossing(np.array([100, 200, 400]), np.array([0.5, 0.6, 0.7]), 0.65).__round__()
    283
    """
    rising = _pool_dips(curve)
    reached = np.flatnonzero(rising >= level)
    if not len(reached):
        return float("inf")
    place = int(reached[0])
    if place == 0:
        return float(sizes[0])
    low, high = rising[place - 1], rising[place]
    part = (level - low) / (high - low)
    return float(np.exp(np.log(sizes[place - 1]) + part * np.log(sizes[place] / sizes[place - 1])))


def list_sizes(first: int, last: int) -> Int[np.ndarray, " m"]:
    """Return numbers of images from the first to the last, each the square root of two times the one before.

    Examples
    --------
    >>> list_sizes(100, 300)
    array([100, 141, 200, 283, 300])
    """
    if last <= first:
        return np.array([last])
    n_steps = int(np.floor(np.log(last / first) / np.log(STEP)))
    sizes = [round(first * STEP**step) for step in range(n_steps + 1)]
    return np.array([*sizes, last] if sizes[-1] < last else sizes)


def _pool_dips(curve: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """Return the non-decreasing curve that lies nearest (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in curve:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, n_before = blocks.pop()
            mean, size = (mean * size + before * n_before) / (size + n_before), size + n_before
        blocks.append((mean, size))
    return np.concatenate([np.full(size, mean) for mean, size in blocks])


def _share_reached(
    sizes: Int[np.ndarray, " m"], curves: Float[np.ndarray, "s m"], baselines: Float[np.ndarray, " s"]
) -> float:
    crossings = [find_crossing(sizes, curve, float(level)) for curve, level in zip(curves, baselines, strict=True)]
    return float(np.isfinite(crossings).mean())


def _find_needed(
    sizes: Int[np.ndarray, " m"],
    curves: Float[np.ndarray, "s m"],
    baselines: Float[np.ndarray, " s"],
    config: RelativeConfig,
    *,
    rng: np.random.Generator,
    n: int,
) -> Estimates:
    value = find_crossing(sizes, curves.mean(axis=0), float(baselines.mean()))
    draws = np.empty(config.n_bootstraps)
    for place in range(config.n_bootstraps):
        rows = rng.integers(len(curves), size=len(curves))
        draws[place] = find_crossing(sizes, curves[rows].mean(axis=0), float(baselines[rows].mean()))
    tail = (1 - config.confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return Estimates(value=np.array([value]), low=np.array([low]), high=np.array([high]), n=np.array([n]))
