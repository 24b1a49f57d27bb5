"""Runs that an adaptation consists of: one, or one a fold where the target's labels are learned and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from graticule.adaptation.adapt_config import TARGET_SUPERVISED, AdaptConfig
from graticule.adaptation.problem import Problem
from graticule.errors import ConfigError
from graticule.models.folds import deal_folds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A run: what it learns from, and what it predicts.

    Parameters
    ----------
    name
        Name of its folder; empty for the only one.
    source_positions, source_targets
        Rows of the features that it learns from, and their labels, shape ``(n,)``.
    positions
        Rows that it predicts, shape ``(m,)``.
    """

    name: str
    source_positions: Int[np.ndarray, " n"]
    source_targets: Int[np.ndarray, " n"]
    positions: Int[np.ndarray, " m"]


def split_work(problem: Problem, settings: AdaptConfig, *, seed: int) -> tuple[Part, ...]:
    """Return the runs.

    Raises
    ------
    ConfigError
        The target-supervised reference has no labels to learn from, or test images are partly among the target's.
    """
    everything = np.union1d(problem.target.positions, problem.test.positions)
    if settings.algorithm != TARGET_SUPERVISED:
        return (
            Part(
                name="",
                source_positions=problem.source.positions,
                source_targets=problem.source.targets,
                positions=everything,
            ),
        )
    target = problem.target
    labelled = target.codes >= 0
    if not labelled.any():
        raise ConfigError(
            "target_supervised: no target image has a label of the source's; expected labels to learn from. Pick "
            "labelled images with --target, or leave this reference out."
        )
    positions, codes = target.positions[labelled], target.codes[labelled]
    is_shared = np.isin(problem.test.positions, target.positions)
    if not is_shared.any():
        return (Part(name="", source_positions=positions, source_targets=codes, positions=everything),)
    if not is_shared.all():
        raise ConfigError(
            f"target_supervised: {int(is_shared.sum())} of {len(is_shared)} test images are among the target's; "
            "expected all of them (each is then predicted by a run that did not see it) or none. Change --test."
        )
    folds = deal_folds(codes, None, n_folds=settings.n_folds, rng=np.random.default_rng(seed))
    parts: list[Part] = []
    for fold in range(int(folds.max()) + 1):
        held = positions[folds == fold]
        if fold == 0:
            held = np.concatenate([held, np.setdiff1d(everything, positions)])
        parts.append(
            Part(
                name=f"fold-{fold}",
                source_positions=positions[folds != fold],
                source_targets=codes[folds != fold],
                positions=held,
            )
        )
    return tuple(parts)
