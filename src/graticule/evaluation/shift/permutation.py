"""Two sets of images: how far apart their features are, and whether dealing the images at random would do the same.

Images that show the same thing (one sign, one shop) are dealt together: their groups are what is exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.errors import ConfigError, TableError, unknown_choice
from graticule.evaluation.shift.distances import DISTANCES
from graticule.evaluation.shift.distances.sides import Distance, Sides
from graticule.models.folds import deal_folds

FEWEST = 2
"""Images (or groups) that a side needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationConfig:
    """How two sets of images are compared."""

    distance: str = "energy"
    n_permutations: int = 499
    """The smallest p-value is 1 / (1 + this)."""
    max_images: int = 1500
    """Images a side that take part, drawn at random where there are more: pairs are many."""
    n_folds: int = 5
    shown: bool = False
    """Whether a bar shows the progress over labels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistanceTest:
    """How far two sets of images are apart.

    Parameters
    ----------
    value
        The distance; NaN where a side has too few images.
    p_value
        Share of random deals, the real one included, that put the sides at least as far apart.
    null
        The distances of the random deals, shape ``(p,)``.
    n_source, n_target
        Images that took part.
    """

    value: float
    p_value: float
    null: Float[np.ndarray, " p"]
    n_source: int
    n_target: int

    @property
    def usual(self) -> tuple[float, float]:
        """Return the range that random deals give in 95 of 100 cases."""
        if not len(self.null):
            return (float("nan"), float("nan"))
        low, high = np.quantile(self.null, [0.025, 0.975])
        return float(low), float(high)


def compare_features(
    features: Float[np.ndarray, "n d"],
    is_target: Bool[np.ndarray, " n"],
    *,
    groups: Int[np.ndarray, " n"] | None = None,
    config: PermutationConfig | None = None,
    seed: int = 0,
) -> DistanceTest:
    """Return the distance between the images of two sides, with a permutation test.

    Parameters
    ----------
    features
        Shape ``(n, d)``.
    is_target
        Which images are on the target's side, shape ``(n,)``.
    groups
        Index of what each image shows, shape ``(n,)``; None if every image is its own. Groups are dealt whole, and the
        number of images a side then varies a little from deal to deal.
    config
        Distance and permutations.
    seed
        Seed of the deals.

    Raises
    ------
    ConfigError
        The distance is unknown, or a number is too small.
    TableError
        Features are not finite.

    Notes
    -----
    Where a side has fewer than two groups the distance and its p-value are NaN.
    """
    settings = config or PermutationConfig()
    measure = _check(features, settings)
    rng = np.random.default_rng(seed)
    codes = np.arange(len(features)) if groups is None else np.unique(groups, return_inverse=True)[1]
    rows = np.concatenate(
        [_draw(np.flatnonzero(is_target == side), settings.max_images, rng) for side in (False, True)]
    )
    sides, codes = is_target[rows], codes[rows]
    n_target = int(sides.sum())
    n_source = len(sides) - n_target
    if min(len(np.unique(codes[sides])), len(np.unique(codes[~sides]))) < FEWEST:
        nothing = np.empty(0)
        return DistanceTest(value=np.nan, p_value=np.nan, null=nothing, n_source=n_source, n_target=n_target)
    deals = _deal(sides, codes, n_permutations=settings.n_permutations, rng=rng)
    folds = deal_folds(sides.astype(np.int64), codes, n_folds=settings.n_folds, rng=rng)
    found = measure(Sides(features=features[rows].astype(np.float64), is_target=deals, folds=folds))
    null = found[1:]
    # A tolerance, so that a deal that repeats the real one counts as at least as far.
    n_farther = int((null >= found[0] - 1e-9 * abs(found[0])).sum())
    return DistanceTest(
        value=float(found[0]),
        p_value=(1 + n_farther) / (1 + len(null)),
        null=null,
        n_source=n_source,
        n_target=n_target,
    )


def _check(features: Float[np.ndarray, "n d"], config: PermutationConfig) -> Distance:
    if config.distance not in DISTANCES:
        raise unknown_choice("distance", config.distance, DISTANCES)
    if config.n_permutations < 1 or config.max_images < FEWEST or config.n_folds < 2:
        raise ConfigError(
            f"{config.n_permutations} permutations, {config.max_images} images a side, {config.n_folds} folds: "
            f"expected at least 1, {FEWEST} and 2. Leave them out for the defaults."
        )
    if not np.isfinite(features).all():
        row = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
        raise TableError(f"features: row {row} is not finite, expected numbers. Extract the features again.")
    return DISTANCES[config.distance]


def _draw(rows: Int[np.ndarray, " m"], limit: int, rng: np.random.Generator) -> Int[np.ndarray, " m2"]:
    return rows if len(rows) <= limit else np.sort(rng.choice(rows, size=limit, replace=False))


def _deal(
    is_target: Bool[np.ndarray, " n"], codes: Int[np.ndarray, " n"], *, n_permutations: int, rng: np.random.Generator
) -> Bool[np.ndarray, "p n"]:
    """Return the real sides and random ones; a side keeps its number of groups."""
    names, group = np.unique(codes, return_inverse=True)
    side_of = np.zeros(len(names), dtype=bool)
    side_of[group] = is_target
    is_whole = np.array_equal(side_of[group], is_target)
    if not is_whole:  # groups that stand on both sides are cut in two
        return _deal(is_target, codes * 2 + is_target, n_permutations=n_permutations, rng=rng)
    deals = np.stack([rng.permutation(side_of)[group] for _ in range(n_permutations)])
    # A deal of groups of very unequal size may leave a side without pairs of images.
    n_sides = deals.sum(axis=1)
    deals = deals[(n_sides >= FEWEST) & (n_sides <= len(group) - FEWEST)]
    return np.concatenate([is_target[None, :], deals])
