"""A benchmark from a TOML file to a folder: runs, all their metrics, and tables in four formats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.adaptation.grid.plan import read_plan
from graticule.adaptation.grid.run_cells import Finished, run_cells
from graticule.adaptation.grid.summary import collect, summarise
from graticule.adaptation.grid.tables import Table
from graticule.adaptation.grid.writers import WRITERS
from graticule.data.store import replace_atomically, write_text
from graticule.errors import ConfigError

RUNS_FOLDER = "runs"
TABLES_FILE = "tables"
RUNS_FILE = "runs.parquet"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Benchmark:
    """A finished benchmark.

    Parameters
    ----------
    tables
        Its tables.
    runs
        All metrics of all runs.
    failed
        Runs that ended with an error.
    folder
        Where everything is.
    """

    tables: tuple[Table, ...]
    runs: pl.DataFrame
    failed: tuple[Finished, ...]
    folder: Path


def run_benchmark(plan: str | Path, folder: str | Path, *, n_processes: int = 1, shown: bool = True) -> Benchmark:
    """Run what a TOML file plans, write tables to a folder, and return them.

    Parameters
    ----------
    plan
        The TOML file (`graticule.adaptation.grid.plan`).
    folder
        Where runs and tables go; finished runs there are not run again.
    n_processes
        How many runs at once, each on one thread.
    shown
        Whether to draw a progress bar.

    Raises
    ------
    GraticuleError
        The plan cannot be read or has no meaning, the folder cannot be written, or holds runs with other settings.
    """
    if n_processes < 1:
        raise ConfigError(f"processes is {n_processes}, expected at least 1. Leave it out for one a core.")
    place = Path(folder)
    finished = run_cells(read_plan(plan), place / RUNS_FOLDER, n_processes=n_processes, shown=shown)
    runs = collect(finished)
    tables = tuple(summarise(runs))
    for ending, write in WRITERS.items():
        write_text(write(tables), place / f"{TABLES_FILE}.{ending}")
    with replace_atomically(place / RUNS_FILE) as temporary:
        runs.write_parquet(temporary)
    return Benchmark(
        tables=tables,
        runs=runs,
        failed=tuple(one for one in finished if one.metrics is None),
        folder=place,
    )
