"""Exchanged backgrounds: which objects go on which backgrounds, and how often a model is right on them.

An exchange leaves seams, which cost accuracy by themselves. So objects are also put on other backgrounds of their *own*
region: only the difference between the two says anything about the regions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.rows import make_rows
from graticule.evaluation.shift.regions import Joined

PER_CELL = 300
METRIC = "swap_accuracy"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapPlan:
    """Which photos are exchanged; ``cell`` is twice the object's side plus the background's (0 source, 1 target)."""

    objects: Int[np.ndarray, " m"]
    backgrounds: Int[np.ndarray, " m"]
    cell: Int[np.ndarray, " m"]


def plan_swaps(joined: Joined, *, seed: int) -> SwapPlan:
    """Return exchanges between photos of one label: the same objects with a background of either region."""
    outcomes = joined.outcomes
    rng = np.random.default_rng(seed)
    pools = {
        (side, code): np.flatnonzero((outcomes.is_target == bool(side)) & (outcomes.label == code))
        for side in (0, 1)
        for code in range(len(outcomes.labels))
    }
    objects: list[int] = []
    backgrounds: list[int] = []
    cells: list[int] = []
    for side in (0, 1):
        rows = np.flatnonzero(outcomes.is_target == bool(side))
        for row in rng.permutation(rows)[:PER_CELL].tolist():
            code = int(outcomes.label[row])
            own = pools[side, code]
            own = own[outcomes.groups[own] != outcomes.groups[row]]
            other = pools[1 - side, code]
            if not len(own) or not len(other):
                continue
            for place, pool in ((side, own), (1 - side, other)):
                objects.append(row)
                backgrounds.append(int(rng.choice(pool)))
                cells.append(2 * side + place)
    return SwapPlan(
        objects=np.array(objects, dtype=np.int64),
        backgrounds=np.array(backgrounds, dtype=np.int64),
        cell=np.array(cells, dtype=np.int64),
    )


def measure_swaps(joined: Joined, plan: SwapPlan, predicted: Int[np.ndarray, " m"]) -> pl.DataFrame:
    """Return rows of the metrics table: accuracy by the object's region and (as group) the background's."""
    regions = (joined.source, joined.target)
    known = predicted >= 0
    right = predicted == joined.outcomes.label[plan.objects]
    n = np.bincount(plan.cell[known], minlength=4)
    hits = np.bincount(plan.cell[known & right], minlength=4)
    return make_rows(
        METRIC,
        wilson_interval(hits, n, confidence=0.95),
        model=joined.model,
        region=[regions[cell // 2] for cell in range(4)],
        group=[f"background of {regions[cell % 2]}" for cell in range(4)],
        method="exchanged backgrounds, wilson",
    )


def describe_swaps(metrics: pl.DataFrame, joined: Joined) -> list[str]:
    """Return what the exchange says, in sentences."""
    rows = {(region, group): value for region, group, value in metrics.select("region", "group", "value").iter_rows()}
    sentences: list[str] = []
    for region, other in ((joined.source, joined.target), (joined.target, joined.source)):
        own = rows[region, f"background of {region}"]
        away = rows[region, f"background of {other}"]
        if np.isfinite(own) and np.isfinite(away):
            sentences.append(
                f"Objects of {region} are recognised in {own:.1%} of exchanges with another background of {region}, "
                "and "
                f"in {away:.1%} with one of {other}."
            )
    return sentences
