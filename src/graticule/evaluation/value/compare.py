"""Data sets side by side: can a classifier tell them apart, how far apart are they, does one cover the other?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.errors import ConfigError, TableError, shown
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.shift.permutation import DistanceTest, PermutationConfig, compare_features
from graticule.evaluation.value.coverage import MEASURES, draw_rows, measure_coverage
from graticule.evaluation.value.labelled import Labelled
from graticule.models.folds import deal_folds
from graticule.models.probe_space import ProbeSpaceConfig, make_probe_space

FEWEST = 12
"""Images that both sides need of a label for it to be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareConfig:
    """How data sets are compared."""

    n_folds: int = 5
    neighbours: int = 5
    """k of the k-th nearest neighbour (Naeem et al. 2020 use 5)."""
    max_images: int = 5000
    """Images a data set that take part, drawn at random where there are more."""
    distances: PermutationConfig = field(default_factory=PermutationConfig)
    n_bootstraps: int = 500
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse numbers that are too small.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if self.n_folds < 2 or self.neighbours < 1 or self.max_images < FEWEST:
            raise ConfigError(
                f"{self.n_folds} folds, {self.neighbours} neighbours, {self.max_images} images: expected at least 2, 1 "
                f"and {FEWEST}. Leave them out for the defaults."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two data sets, coded alike.

    Parameters
    ----------
    names
        Names of A and B.
    images
        The images of both, labels and regions coded in common.
    is_second
        Which are B's, shape ``(n,)``.
    """

    names: tuple[str, str]
    images: Labelled
    is_second: Bool[np.ndarray, " n"]

    def find_shared(self) -> tuple[int, ...]:
        """Return the labels that both have."""
        counts = [
            np.bincount(self.images.targets[self.is_second == side], minlength=len(self.images.labels))
            for side in (False, True)
        ]
        return tuple(np.flatnonzero((counts[0] > 0) & (counts[1] > 0)).tolist())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoverageOf:
    """How much of one data set's images the other covers, beside what a second half of the same set would cover.

    Parameters
    ----------
    measures
        Name of a measure → over all compared labels; length one.
    itself
        Coverage by the set's own other half.
    by_label
        Coverage of each compared label, shape ``(m,)``.
    by_label_itself
        The same by the own other half.
    """

    measures: dict[str, Estimates]
    itself: Estimates
    by_label: Estimates
    by_label_itself: Estimates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """What two data sets have in common and what not.

    Parameters
    ----------
    names
        Of A and B.
    told
        Balanced accuracy of a classifier that says which data set an image is from; length one.
    told_matched
        The same with as many images of each label and region from both, so that frequencies give nothing away.
    distance
        Over all images of the matched sets.
    labels
        Labels that were compared one by one.
    label_distances
        One each.
    covers_second, covers_first
        How much of B's images A covers, and of A's B.
    """

    names: tuple[str, str]
    told: Estimates
    told_matched: Estimates
    distance: DistanceTest
    labels: tuple[str, ...]
    label_distances: tuple[DistanceTest, ...]
    covers_second: CoverageOf
    covers_first: CoverageOf


def join_sets(first: Labelled, second: Labelled, *, names: tuple[str, str]) -> Pair:
    """Return two data sets with their labels and regions coded in common.

    Raises
    ------
    TableError
        Their features differ in width, an image stands in both, or they share no label.
    """
    if first.vectors.shape[1] != second.vectors.shape[1]:
        raise TableError(
            f"features of {names[0]} hold {first.vectors.shape[1]} numbers an image and those of {names[1]} "
            f"{second.vectors.shape[1]}, expected the same model's. Embed both with one model."
        )
    if not set(first.labels) & set(second.labels):
        raise TableError(
            f"{names[0]} and {names[1]} share no label: {shown(first.labels, limit=3)} and "
            f"{shown(second.labels, limit=3)}; expected some in common. Give both the same names in "
            "the images tables."
        )
    both = set(first.image_ids) & set(second.image_ids)
    if both:
        raise TableError(
            f"{len(both)} images stand in both data sets, {shown(sorted(both), limit=3)}; expected each in one. Drop "
            "them from one, or give them other names."
        )
    labels, (targets_first, targets_second) = _join_codes(
        (first.labels, second.labels), (first.targets, second.targets)
    )
    regions, (region_first, region_second) = _join_codes((first.regions, second.regions), (first.region, second.region))
    images = Labelled(
        image_ids=(*first.image_ids, *second.image_ids),
        vectors=np.concatenate([first.vectors, second.vectors]),
        labels=labels,
        targets=np.concatenate([targets_first, targets_second]),
        regions=regions,
        region=np.concatenate([region_first, region_second]),
        groups=np.concatenate([first.groups, second.groups + int(first.groups.max()) + 1]),
        notes=(*first.notes, *second.notes),
    )
    is_second = np.arange(len(images.targets)) >= len(first.targets)
    return Pair(names=names, images=images, is_second=is_second)


def keep_shared(pair: Pair) -> Pair:
    """Return the images whose label both data sets have."""
    shared = np.array(pair.find_shared())
    rows = np.flatnonzero(np.isin(pair.images.targets, shared))
    kept = pair.images.take(rows)
    targets = np.searchsorted(shared, kept.targets)
    images = Labelled(
        image_ids=kept.image_ids,
        vectors=kept.vectors,
        labels=tuple(kept.labels[code] for code in shared),
        targets=targets,
        regions=kept.regions,
        region=kept.region,
        groups=kept.groups,
        notes=kept.notes,
    )
    return Pair(names=pair.names, images=images, is_second=pair.is_second[rows])


def compare_sets(pair: Pair, *, config: CompareConfig | None = None, seed: int = 0) -> Comparison:
    """Return how two data sets differ.

    Parameters
    ----------
    pair
        The data sets.
    config
        Folds, neighbours, distance.
    seed
        Seed of all draws.

    Raises
    ------
    TableError
        Too few images of one region and label are in both.
    """
    settings = config or CompareConfig()
    rng = np.random.default_rng(seed)
    sides = [np.flatnonzero(pair.is_second == side) for side in (False, True)]
    rows = np.concatenate([draw_rows(side, settings.max_images, rng) for side in sides])
    matched = match_cells(pair, rows, rng)
    if len(matched) < 2 * FEWEST:
        raise TableError(
            f"{pair.names[0]} and {pair.names[1]} have {len(matched) // 2} images each of the same label and region, "
            f"expected at least {FEWEST}. Leave --by out, or take data sets with more labels in common."
        )
    labels = _find_comparable(pair, rows)
    tests = [
        compare_features(
            pair.images.vectors[part].astype(np.float64),
            pair.is_second[part],
            groups=pair.images.groups[part],
            config=settings.distances,
            seed=seed,
        )
        for label in labels
        for part in [rows[pair.images.targets[rows] == label]]
    ]
    whole = compare_features(
        pair.images.vectors[matched].astype(np.float64),
        pair.is_second[matched],
        groups=pair.images.groups[matched],
        config=settings.distances,
        seed=seed,
    )
    return Comparison(
        names=pair.names,
        told=_tell_apart(pair, rows, settings, seed=seed),
        told_matched=_tell_apart(pair, matched, settings, seed=seed),
        distance=whole,
        labels=tuple(pair.images.labels[label] for label in labels),
        label_distances=tuple(tests),
        covers_second=_cover(pair, rows, labels, settings, of_second=True, seed=seed),
        covers_first=_cover(pair, rows, labels, settings, of_second=False, seed=seed),
    )


def match_cells(pair: Pair, rows: Int[np.ndarray, " m"], rng: np.random.Generator) -> Int[np.ndarray, " q"]:
    """Return as many images of each label and region from both data sets; regions count where they are known."""
    cell = pair.images.region * len(pair.images.labels) + pair.images.targets
    kept: list[np.ndarray] = []
    for place in np.unique(cell[rows]):
        inside = rows[cell[rows] == place]
        sides = [inside[pair.is_second[inside] == side] for side in (False, True)]
        n = min(len(side) for side in sides)
        kept += [draw_rows(side, n, rng) for side in sides if n]
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)


def _tell_apart(pair: Pair, rows: Int[np.ndarray, " m"], config: CompareConfig, *, seed: int) -> Estimates:
    """Return the cross-validated balanced accuracy of a logistic regression, groups kept whole and drawn again."""
    rng = np.random.default_rng([seed, 1])
    sides = pair.is_second[rows].astype(np.int64)
    groups = pair.images.groups[rows]
    space = make_probe_space(
        pair.images.vectors[rows], sides, n_labels=2, config=ProbeSpaceConfig(inverse_penalty=1.0), seed=seed
    )
    folds = deal_folds(sides, groups, n_folds=config.n_folds, rng=rng)
    is_right = np.zeros(len(rows), dtype=bool)
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        is_right[inside] = space.test(outside, inside)
    _, codes = np.unique(groups * 2 + sides, return_inverse=True)
    n_codes = int(codes.max()) + 1
    side_of = np.zeros(n_codes, dtype=np.int64)
    side_of[codes] = sides
    hits, sizes = np.bincount(codes, weights=is_right, minlength=n_codes), np.bincount(codes, minlength=n_codes)
    draws = np.zeros(config.n_bootstraps + 1)
    for side in (0, 1):
        members = np.flatnonzero(side_of == side)
        drawn = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=config.n_bootstraps)
        weights = np.concatenate([np.ones((1, len(members))), drawn])
        draws += (weights @ hits[members]) / (weights @ sizes[members]) / 2
    low, high = np.quantile(draws[1:], [(1 - config.confidence) / 2, (1 + config.confidence) / 2])
    return Estimates(value=draws[:1], low=np.array([low]), high=np.array([high]), n=np.array([len(rows)]))


def _find_comparable(pair: Pair, rows: Int[np.ndarray, " m"]) -> tuple[int, ...]:
    n_labels = len(pair.images.labels)
    counts = [
        np.bincount(pair.images.targets[rows[pair.is_second[rows] == side]], minlength=n_labels)
        for side in (False, True)
    ]
    return tuple(np.flatnonzero(np.minimum(*counts) >= FEWEST).tolist())


def _cover(
    pair: Pair,
    rows: Int[np.ndarray, " m"],
    labels: tuple[int, ...],
    config: CompareConfig,
    *,
    of_second: bool,
    seed: int,
) -> CoverageOf:
    """Return how much of one side the other covers, label by label, with as many images as half of that side has.

    One image of each group takes part: the nearest neighbours of a photo are others of the same thing, and would make
    the radius very small. Labels with too few groups are left out.
    """
    rng = np.random.default_rng([seed, 2, int(of_second)])
    hits: dict[str, list[float]] = {name: [] for name in (*MEASURES, "itself")}
    sizes: list[int] = []
    for label in labels:
        inside = rows[pair.images.targets[rows] == label]
        own = rng.permutation(inside[pair.is_second[inside] == of_second])
        other = rng.permutation(inside[pair.is_second[inside] != of_second])
        own, other = (_pick_one_each(part, pair.images.groups) for part in (own, other))
        n = min(len(own) // 2, len(other))
        if n <= config.neighbours:
            for part in hits.values():
                part.append(0.0)
            sizes.append(0)
            continue
        vectors = pair.images.vectors
        k = config.neighbours
        found = measure_coverage(vectors[other[:n]], vectors[own[:n]], k=k)
        itself = measure_coverage(vectors[own[n : 2 * n]], vectors[own[:n]], k=k)
        parts = (found.covered, found.recalled, found.precise, found.density, itself.covered)
        for name, part in zip(hits, parts, strict=True):
            hits[name].append(float(part.sum()))
        sizes.append(n)
    counts = np.array(sizes, dtype=np.int64)
    measures = {
        name: _share(np.array([sum(hits[name])]), counts.sum(keepdims=True), config.confidence)
        for name in MEASURES
        if name != "density"
    }
    total = counts.sum(keepdims=True)
    nothing = np.array([np.nan])
    density = np.array([sum(hits["density"])]) / np.where(total > 0, total, np.nan)
    measures["density"] = Estimates(value=density, low=nothing, high=nothing, n=total)
    return CoverageOf(
        measures=measures,
        itself=_share(np.array([sum(hits["itself"])]), total, config.confidence),
        by_label=_share(np.array(hits["coverage"]), counts, config.confidence),
        by_label_itself=_share(np.array(hits["itself"]), counts, config.confidence),
    )


def _pick_one_each(rows: Int[np.ndarray, " m"], groups: Int[np.ndarray, " n"]) -> Int[np.ndarray, " m2"]:
    """Return the first row of each group, in the order of the rows."""
    return rows[np.sort(np.unique(groups[rows], return_index=True)[1])]


def _share(hits: Float[np.ndarray, " m"], n: Int[np.ndarray, " m"], confidence: float) -> Estimates:
    return wilson_interval(hits.astype(np.int64), n, confidence=confidence)


def _join_codes(
    names: tuple[tuple[str, ...], tuple[str, ...]], codes: tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]
) -> tuple[tuple[str, ...], list[np.ndarray]]:
    joined = tuple(sorted({*names[0], *names[1]}))
    place = {name: code for code, name in enumerate(joined)}
    return joined, [
        np.array([place[name] for name in own], dtype=np.int64)[code] for own, code in zip(names, codes, strict=True)
    ]
