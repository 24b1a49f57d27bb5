"""Accuracy and drop of groups of labels (animals, vehicles), with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graticule.errors import TableError, shown
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile
from graticule.evaluation.shift.outcomes import Outcomes, draw_again
from graticule.evaluation.shift.spread import measure_spread

UNGROUPED = "(no group)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupDrops:
    """Accuracies of groups of labels in both regions, and what is lost.

    Parameters
    ----------
    names
        The groups, largest drop first.
    source, target, drop
        One number a group.
    """

    names: tuple[str, ...]
    source: Estimates
    target: Estimates
    drop: Estimates


def measure_groups(
    outcomes: Outcomes,
    group_of: Mapping[str, str],
    *,
    n_bootstraps: int = 500,
    confidence: float = 0.95,
    seed: int = 0,
) -> GroupDrops:
    """Return accuracy and drop of each group of labels, largest drop first; images count alike within a group.

    Parameters
    ----------
    outcomes
        The images and whether the model was right.
    group_of
        Label → group; labels without one go by the name `UNGROUPED`. Give each label itself for the labels' own drops.
    n_bootstraps, confidence, seed
        Of the intervals: normal ones with the bootstrap's standard deviation.

    Raises
    ------
    TableError
        No label of the images has a group.
    """
    names = [group_of.get(label, UNGROUPED) for label in outcomes.labels]
    if all(name == UNGROUPED for name in names):
        raise TableError(
            f"groups of labels: none of the images' labels {shown(outcomes.labels, limit=3)} has one; the groups are "
            "of "
            f"{shown(sorted(group_of), limit=3)}. Write the labels alike."
        )
    listed = sorted(set(names))
    code = np.array([listed.index(name) for name in names], dtype=np.int64)
    grouped = Outcomes(
        labels=tuple(listed),
        label=code[outcomes.label],
        is_target=outcomes.is_target,
        is_right=outcomes.is_right,
        groups=outcomes.groups,
    )
    rng = np.random.default_rng(seed)
    value = _measure(grouped, np.ones(len(outcomes.label)))
    draws = np.stack([_measure(grouped, draw_again(grouped, rng=rng)) for _ in range(n_bootstraps)])
    reach = find_quantile(confidence) * measure_spread(draws)
    counts = grouped.count_labels().astype(np.int64)
    n = [counts[0], counts[1], np.where(counts.min(axis=0) > 0, counts.sum(axis=0), 0)]
    order = np.lexsort((np.arange(len(listed)), -np.nan_to_num(value[2], nan=-np.inf)))
    source, target, drop = (
        Estimates(
            value=value[row][order],
            low=(value[row] - reach[row])[order],
            high=(value[row] + reach[row])[order],
            n=n[row][order],
        )
        for row in range(3)
    )
    return GroupDrops(names=tuple(listed[place] for place in order), source=source, target=target, drop=drop)


def _measure(outcomes: Outcomes, weights: np.ndarray) -> np.ndarray:
    accuracy = outcomes.measure_labels(weights)
    return np.concatenate([accuracy, accuracy[:1] - accuracy[1:]])
