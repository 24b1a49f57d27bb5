"""Worlds whose drop has a cause that was planted, to check that an analysis finds it.

An image is a label, a background and a foreground: Gaussian clouds around the label's two centres. The model is the
best one for the source, so it goes by the background too. In the target the labels' shares, the backgrounds or the
foregrounds are other ones. What each has done to the accuracy is known from far more images than the analysis gets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.shift.decomposition import CONTEXT, DESIGN, PRIOR
from graticule.evaluation.shift.outcomes import Outcomes
from graticule.evaluation.shift.shapley import share_out

CAUSES = (PRIOR, CONTEXT, DESIGN)
N_TRUTH = 20_000
"""Images a label in each world, from which the truth is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldConfig:
    """What a planted world is like."""

    n_images: int = 1500
    """A side."""
    n_labels: int = 6
    n_axes: int = 4
    """Of backgrounds, and of foregrounds."""
    n_features: int = 24
    """Numbers in which each is seen, through a random mixing and noise."""
    noise: float = 0.3
    leak: float = 0.0
    """Share of the other part that each part's features hold too, as a mask's edge lets through."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """A planted world: what an analysis gets, and the truth.

    Parameters
    ----------
    outcomes
        The images.
    features
        Background features as ``context``, foreground features as ``design``.
    truth
        The true part of each of `CAUSES` in the drop.
    """

    outcomes: Outcomes
    features: Mapping[str, Float[np.ndarray, "n d"]]
    truth: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    """How images come about: shares and centres, each for source and target."""

    shares: Float[np.ndarray, "2 k"]
    backgrounds: Float[np.ndarray, "2 k a"]
    foregrounds: Float[np.ndarray, "2 k a"]

    def draw(
        self, label: Int[np.ndarray, " n"], *, context: int, design: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return backgrounds and foregrounds."""
        shape = (len(label), self.backgrounds.shape[2])
        background = self.backgrounds[context, label] + rng.normal(size=shape)
        return background, self.foregrounds[design, label] + rng.normal(size=shape)

    def judge(self, background: np.ndarray, foreground: np.ndarray) -> np.ndarray:
        """Return the label that is likeliest in the source."""
        score = np.log(self.shares[0])[None, :]
        for seen, centres in ((background, self.backgrounds[0]), (foreground, self.foregrounds[0])):
            score = score + seen @ centres.T - (centres**2).sum(axis=1) / 2
        return score.argmax(axis=1)


def plant_world(causes: Collection[str], *, config: WorldConfig | None = None, seed: int = 0) -> World:
    """Return a world in which only ``causes`` (of `CAUSES`) differ between source and target."""
    settings = config or WorldConfig()
    rng = np.random.default_rng(seed)
    law = _write_law(frozenset(causes), settings, rng)
    truth = _count_truth(law, int(rng.integers(2**32)))
    is_target = np.arange(2 * settings.n_images) >= settings.n_images
    label = np.concatenate([rng.choice(settings.n_labels, size=settings.n_images, p=law.shares[s]) for s in (0, 1)])
    sides = [law.draw(label[is_target == bool(s)], context=s, design=s, rng=rng) for s in (0, 1)]
    background, foreground = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    is_right = law.judge(background, foreground) == label
    seen = {CONTEXT: background + settings.leak * foreground, DESIGN: foreground + settings.leak * background}
    return World(
        outcomes=Outcomes(
            labels=tuple(f"label {place}" for place in range(settings.n_labels)),
            label=label,
            is_target=is_target,
            is_right=is_right,
            groups=np.arange(len(label)),
        ),
        features={name: _show(part, settings, rng) for name, part in seen.items()},
        truth=truth,
    )


def _write_law(causes: frozenset[str], config: WorldConfig, rng: np.random.Generator) -> _Law:
    size = (config.n_labels, config.n_axes)
    backgrounds, foregrounds = 0.7 * rng.normal(size=size), 1.1 * rng.normal(size=size)
    shares = np.stack([rng.dirichlet(np.full(config.n_labels, 8.0))] * 2)
    law = _Law(shares=shares, backgrounds=np.stack([backgrounds] * 2), foregrounds=np.stack([foregrounds] * 2))
    if CONTEXT in causes:
        law.backgrounds[1] += _move(size, rng)
    if DESIGN in causes:
        law.foregrounds[1] += _move(size, rng)
    if PRIOR in causes:
        label = np.repeat(np.arange(config.n_labels), 2000)
        right = law.judge(*law.draw(label, context=0, design=0, rng=rng)) == label
        accuracy = right.reshape(config.n_labels, -1).mean(axis=1)
        hard = (accuracy.mean() - accuracy) / max(float(accuracy.std()), 1e-9)
        tilted = shares[0] * np.exp(rng.uniform(0.5, 1.2) * hard)
        law.shares[1] = tilted / tilted.sum()
    return law


def _move(size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return how far each label's centre moves: partly the same way for all labels, partly each its own."""
    common, own = rng.normal(size=size[1]), rng.normal(size=size)
    moves = common / np.linalg.norm(common) + own / np.linalg.norm(own, axis=1, keepdims=True)
    return rng.uniform(0.7, 1.4) * moves


def _count_truth(law: _Law, seed: int) -> dict[str, float]:
    """Return the parts, counted on the same random numbers in every world: what does not differ costs nothing."""
    n_labels = law.shares.shape[1]
    label = np.repeat(np.arange(n_labels), N_TRUTH)
    within = [
        (law.judge(*law.draw(label, context=world & 1, design=world >> 1, rng=np.random.default_rng(seed))) == label)
        .reshape(n_labels, -1)
        .mean(axis=1)
        for world in range(4)
    ]
    worlds = -np.array([(law.shares[world & 1] * within[world >> 1]).sum() for world in range(8)])
    return dict(zip(CAUSES, share_out(worlds, n_causes=3).tolist(), strict=True))


def _show(part: np.ndarray, config: WorldConfig, rng: np.random.Generator) -> np.ndarray:
    mixing = rng.normal(size=(part.shape[1], config.n_features)) / np.sqrt(part.shape[1])
    return (part @ mixing + config.noise * rng.normal(size=(len(part), config.n_features))).astype(np.float32)
