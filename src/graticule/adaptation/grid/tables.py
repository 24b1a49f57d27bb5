"""Tables of a benchmark: means over seeds with standard errors, and which are best by a paired test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

LEVEL = 0.05
"""A row is not worse than the best unless a one-sided paired t-test says so at this level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A cell of a table: mean and standard error over ``n`` runs; NaN where there is none."""

    mean: float
    error: float
    n: int
    is_best: bool = False
    is_not_worse: bool = False


NOTHING = Value(mean=math.nan, error=math.nan, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row: its name and a value a column."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its title, what it says below, and how its numbers are written.

    Parameters
    ----------
    key
        A short name, for files.
    is_share
        Whether numbers are fractions, which writers show in percent.
    """

    key: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    is_share: bool = True


PAIRED_NOTE = (
    "Mean ± standard error over seeds. **Bold**: the best; *italic*: not significantly worse (one-sided paired t-test "
    "over seeds, in the mean's column over tasks and seeds, 5 % level). Seeds share the test images, so this is about "
    "training, not about other images."
)


def make_table(
    runs: pl.DataFrame,
    *,
    key: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    note: str = PAIRED_NOTE,
    unmarked: Sequence[str] = (),
) -> Table:
    """Return a table of algorithms by tasks, with the mean over all tasks in the last column.

    Parameters
    ----------
    runs
        Columns row, column, seed, value; a value a run.
    key, title, note
        Of the table.
    rows, columns
        In their order.
    unmarked
        Rows that are references, never marked as best.
    """
    grids = {
        name: _pivot(runs.filter(pl.col("row") == name), columns, seeds=runs["seed"].unique().sort().to_list())
        for name in rows
    }
    shown = [*columns, "mean"] if len(columns) > 1 else list(columns)
    compared = [name for name in rows if name not in unmarked]
    values: dict[str, list[Value]] = {name: [] for name in rows}
    for place, _ in enumerate(shown):
        picks: dict[str, np.ndarray] = {
            name: grid[place] if place < len(columns) else grid.flatten() for name, grid in grids.items()
        }
        is_mean = place == len(columns)
        summaries = {name: _summarise(grids[name] if is_mean else picks[name][None, :]) for name in rows}
        marked = _mark({name: picks[name] for name in compared})
        for name in rows:
            mean, error, n = summaries[name]
            best, fine = marked.get(name, (False, False))
            values[name].append(Value(mean=mean, error=error, n=n, is_best=best, is_not_worse=fine))
    return Table(
        key=key,
        title=title,
        note=note,
        columns=tuple(shown),
        rows=tuple(Row(name=name, values=tuple(values[name])) for name in rows),
    )


def _pivot(runs: pl.DataFrame, columns: Sequence[str], *, seeds: Sequence[int]) -> np.ndarray:
    """Return the values, shape ``(columns, seeds)``; NaN where there is none."""
    grid = np.full((len(columns), len(seeds)), np.nan)
    for column, seed, value in runs.select("column", "seed", "value").iter_rows():
        if column in columns and value is not None:
            grid[list(columns).index(column), list(seeds).index(seed)] = value
    return grid


def _summarise(grid: np.ndarray) -> tuple[float, float, int]:
    """Return mean, standard error and number of seeds; a seed counts where it has all columns."""
    whole = grid[:, ~np.isnan(grid).any(axis=0)]
    if not whole.size:
        return math.nan, math.nan, 0
    means = whole.mean(axis=0)
    error = float(means.std(ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    return float(means.mean()), error, len(means)


def _mark(values: dict[str, np.ndarray]) -> dict[str, tuple[bool, bool]]:
    """Return for each row whether it is the best, and whether it is not significantly worse than the best."""
    whole = {name: row for name, row in values.items() if len(row) and not np.isnan(row).any()}
    if not whole:
        return {}
    top = max(float(row.mean()) for row in whole.values())
    best = [name for name, row in whole.items() if float(row.mean()) == top]
    return {name: (name in best, name in best or _is_not_worse(row, whole[best[0]])) for name, row in whole.items()}


def _is_not_worse(row: np.ndarray, best: np.ndarray) -> bool:
    """Return whether a one-sided paired t-test does not find the row worse; with one pair nothing can be said."""
    from scipy.stats import ttest_rel

    if len(row) < 2:
        return False
    differences = best - row
    if np.ptp(differences) == 0:
        return bool(differences[0] == 0)
    return bool(ttest_rel(best, row, alternative="greater").pvalue >= LEVEL)
