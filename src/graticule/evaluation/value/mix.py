"""Mixes at a fixed budget: source images replaced by as many regional ones, label by label, in steps.

The number of images and the balance of the labels stay; what changes is where the images come from. Accuracy is read in
the region, in a control region (so that what comes from the way of collecting shows too) and elsewhere: GeoDE, sections
6.1 and 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from graticule.errors import ConfigError, TableError, shown
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.value.drawing import order_rows, spread_evenly
from graticule.evaluation.value.gains import LabelGains, bootstrap_gains
from graticule.evaluation.value.seeds import average_seeds
from graticule.models.probe_space import ProbeSpace

PLACES = ("region", "control", "elsewhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class MixConfig:
    """How a mix is made and measured."""

    shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Of the budget that regional images take, rising; the first is what gains are counted from."""
    budget: int | None = None
    """Images in all; by default as many as the source has."""
    n_seeds: int = 5
    n_bootstraps: int = 500
    """Draws of the gains' error bars (GeoDE, section 6.2)."""
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range, or the shares do not rise.
        """
        rises = all(low < high for low, high in zip(self.shares, self.shares[1:], strict=False))
        if len(self.shares) < 2 or not rises or self.shares[0] < 0 or self.shares[-1] > 1:
            raise ConfigError(
                f"--shares {' '.join(f'{share:g}' for share in self.shares)}: expected at least two numbers from 0 "
                "to 1, rising. Try 0 0.25 0.5 0.75 1."
            )
        if self.n_seeds < 2 or self.n_bootstraps < 2 or (self.budget is not None and self.budget < 2):
            raise ConfigError(
                f"{self.n_seeds} seeds, {self.n_bootstraps} bootstraps, budget {self.budget}: expected at least 2 of "
                "each. Leave them out for the defaults."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionMix:
    """What regional images did that took the place of source images.

    Parameters
    ----------
    region
        Index of the region whose images came in.
    n_regional
        Regional images at each step, shape ``(s,)``.
    n_images
        Images in all.
    accuracy
        `PLACES` → accuracy at each step, shape ``(s,)``; undefined where there is no such test image.
    gains
        What each label's average precision in the region gained from the first step to the last.
    short
        Labels of which the region has fewer images than the last step asks for.
    """

    region: int
    n_regional: Int[np.ndarray, " s"]
    n_images: int
    accuracy: dict[str, Estimates]
    gains: LabelGains
    short: tuple[int, ...]


def measure_mix(
    space: ProbeSpace,
    source: Int[np.ndarray, " m"],
    regional: Int[np.ndarray, " q"],
    tests: dict[str, Int[np.ndarray, " t"]],
    *,
    region: int,
    labels: Sequence[str],
    groups: Int[np.ndarray, " n"],
    config: MixConfig | None = None,
    seed: int = 0,
) -> RegionMix:
    """Return what a region's images do in the place of source images.

    Parameters
    ----------
    space
        All images.
    source, regional
        Training images of the source and of the region.
    tests
        `PLACES` → test images.
    region
        Index of the region.
    labels
        Names of the labels.
    groups
        What each image shows.
    config
        Steps, budget and seeds.
    seed
        First of the seeds.

    Raises
    ------
    TableError
        Source and region together lack images of a label for the budget, or there is no test image in the region.
    """
    settings = config or MixConfig()
    if not len(tests["region"]):
        raise TableError("mix: no test image in the region; expected some. Let --test pick images of every region.")
    wanted = spread_evenly(settings.budget or len(source), np.bincount(space.targets[source], minlength=space.n_labels))
    has_source, has_regional = (
        np.bincount(space.targets[rows], minlength=space.n_labels) for rows in (source, regional)
    )
    thin = [
        f"{name} ({have} of {need})"
        for name, have, need in zip(labels, has_source + has_regional, wanted, strict=True)
        if have < need
    ]
    if thin:
        raise TableError(
            f"mix: source and region together have too few images for a budget of {int(wanted.sum())}: "
            f"{shown(thin)}. Ask for a smaller --budget."
        )
    plan = [plan_step(wanted, has_source, has_regional, share=share) for share in settings.shares]
    n_test = {place: len(rows) for place, rows in tests.items()}
    accuracy = {place: np.full((settings.n_seeds, len(plan)), np.nan) for place in tests}
    ends: list[list[np.ndarray]] = [[], []]
    for row in range(settings.n_seeds):
        rng = np.random.default_rng([seed, region, row])
        ordered = [_by_label(space, rows, groups, rng) for rows in (source, regional)]
        for step, n_second in enumerate(plan):
            train = np.concatenate(
                [
                    part
                    for label in range(space.n_labels)
                    for part in (
                        ordered[0][label][: wanted[label] - n_second[label]],
                        ordered[1][label][: n_second[label]],
                    )
                ]
            )
            for place, rows in tests.items():
                if not len(rows):
                    continue
                scores = space.score(train, rows)
                accuracy[place][row, step] = (scores.argmax(axis=1) == space.targets[rows]).mean()
                if place == "region" and step in (0, len(plan) - 1):
                    ends[0 if step == 0 else 1].append(scores)
    rng = np.random.default_rng([seed, region, settings.n_seeds])
    gains = bootstrap_gains(
        np.stack(ends[0]),
        np.stack(ends[1]),
        space.targets[tests["region"]],
        n_bootstraps=settings.n_bootstraps,
        confidence=settings.confidence,
        rng=rng,
    )
    return RegionMix(
        region=region,
        n_regional=np.array([n_second.sum() for n_second in plan]),
        n_images=int(wanted.sum()),
        accuracy={
            place: average_seeds(values, n=n_test[place], confidence=settings.confidence)
            for place, values in accuracy.items()
        },
        gains=gains,
        short=_find_short(wanted, has_regional, share=settings.shares[-1]),
    )


def plan_step(
    wanted: Int[np.ndarray, " k"],
    has_source: Int[np.ndarray, " k"],
    has_regional: Int[np.ndarray, " k"],
    *,
    share: float,
) -> Int[np.ndarray, " k"]:
    """Return how many images of each label come from the region; the source gives the rest.

    Notes
    -----
    In a label of which the region has too few, all of them are taken and the source fills up; the other way round too.
    """
    asked = spread_evenly(round(share * int(wanted.sum())), wanted)
    return np.maximum(np.minimum(asked, has_regional), wanted - has_source)


def _find_short(wanted: Int[np.ndarray, " k"], has_regional: Int[np.ndarray, " k"], *, share: float) -> tuple[int, ...]:
    asked = spread_evenly(round(share * int(wanted.sum())), wanted)
    return tuple(np.flatnonzero(has_regional < asked).tolist())


def _by_label(
    space: ProbeSpace, rows: Int[np.ndarray, " m"], groups: Int[np.ndarray, " n"], rng: np.random.Generator
) -> list[np.ndarray]:
    return [order_rows(rows[space.targets[rows] == label], groups, rng) for label in range(space.n_labels)]
