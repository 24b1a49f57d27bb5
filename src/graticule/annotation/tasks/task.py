"""What every builder of tasks takes and returns."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.data.tables import CANDIDATES, LABELS, TASKS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError

GRID_SIZE = 48
"""Images in a CONTAINS grid (Deng et al. 2009; Recht et al. 2019; Tsipras et al. 2020, appendix B.1.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """How tasks are cut; a kind ignores what does not concern it."""

    n_workers: int = 9
    """Different workers who are to answer each task (Tsipras et al. 2020)."""
    grid_size: int = GRID_SIZE
    """CONTAINS: images in a grid, controls included."""
    n_controls: int = 6
    """CONTAINS: controls in a grid, half of them positive (as in the grids of Recht et al. 2019)."""
    min_controls: int = 5
    """CONTAINS: a grid with fewer is an error (Tsipras et al. 2020, appendix B.1.2)."""
    dominant_frequency: float = 0.5
    """CLASSIFY: an image is skipped if at least this share of the workers selected its given label …"""
    weak_frequency: float = 1 / 8
    """CLASSIFY: … and no more than this share selected any other."""

    def __post_init__(self) -> None:
        if self.n_workers < 1:
            raise ConfigError(f"overlap is {self.n_workers}, expected at least 1 worker a task.")
        if not 0 <= self.min_controls <= self.n_controls:
            raise ConfigError(
                f"min_controls is {self.min_controls} and n_controls {self.n_controls}; expected "
                "0 ≤ min_controls ≤ n_controls."
            )
        if self.n_controls >= self.grid_size:
            raise ConfigError(
                f"a grid of {self.grid_size} has no room for {self.n_controls} controls and an image to ask about; "
                "expected a larger grid or fewer controls."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Tasks, and what was left out of them."""

    tasks: pl.DataFrame
    """A `TASKS` table."""
    controls: pl.DataFrame
    """The controls in it: image_id, label, selected (the right answer)."""
    skipped: pl.DataFrame
    """What is not asked: path (the image_id), label, reason."""
    settled: pl.DataFrame
    """CLASSIFY: a `LABELS` table of the images that need no task, whose given label is clearly dominant."""
    n_one_sided: int
    """CONTAINS: grids whose controls are all positive or all negative, so that one careless answer passes them."""


def no_labels() -> pl.DataFrame:
    """Return an empty `LABELS` table of settled images."""
    names = ("image_id", "label", "selection_frequency", "object", "is_main", "n_workers")
    return pl.DataFrame(schema={name: LABELS.columns[name].dtype for name in names})


def check_candidates(candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates, checked, in an order that does not depend on their rows' order.

    Raises
    ------
    TableError
        The table is empty or breaks its declaration.
    """
    checked = validate_table(candidates, CANDIDATES, where="candidates")
    if checked.is_empty():
        raise TableError("candidates: the table is empty; expected at least one candidate to ask about.")
    return checked.sort("image_id", "label")


def finish_tasks(rows: pl.DataFrame, *, kind: str, descriptions: dict[str, str], n_workers: int) -> pl.DataFrame:
    """Return the rows as a `TASKS` table, by task and position."""
    described = pl.DataFrame(
        {"label": list(descriptions), "description": list(descriptions.values())},
        schema={"label": pl.String, "description": pl.String},
    )
    return (
        rows.with_columns(pl.lit(kind).alias("kind"), pl.lit(n_workers, dtype=pl.Int64).alias("n_workers"))
        .join(described, on="label", how="left")
        .sort("task_id", "position")
        .select(list(TASKS.columns))
    )
