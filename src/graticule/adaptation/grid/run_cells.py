"""Runs the cells of a benchmark, several at once; what is finished stays, and a stopped benchmark goes on."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from graticule.adaptation.adapt import adapt_features
from graticule.adaptation.adapt_config import make_options
from graticule.adaptation.adapt_files import METRICS_FILE, PREDICTIONS_FILE
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.grid.plan import Cell
from graticule.data.readers.images import read_images
from graticule.data.store import describe_run, read_info, read_provenance, read_table, write_table
from graticule.data.tables import FEATURES, METRICS, PREDICTIONS
from graticule.errors import ConfigError, GraticuleError
from graticule.progress import track


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finished:
    """A finished cell: its metrics, or the message of what went wrong."""

    cell: Cell
    metrics: pl.DataFrame | None
    problem: str = ""


def run_cells(cells: tuple[Cell, ...], folder: Path, *, n_processes: int = 1, shown: bool = True) -> list[Finished]:
    """Return the metrics of all cells, in their order; those found in the folder are not run again.

    Parameters
    ----------
    cells
        What to run.
    folder
        Folder of the runs; each gets predictions.parquet and metrics.parquet in a folder of its own.
    n_processes
        How many run at once, each on one thread.
    shown
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError
        The folder holds a run of the same name with other settings.
    """
    found: dict[Path, Finished] = {}
    for cell in cells:
        if (metrics := _read_finished(cell, folder)) is not None:
            found[cell.folder] = Finished(cell=cell, metrics=metrics)
    left = [cell for cell in cells if cell.folder not in found]
    bar = track(
        _work(left, folder, n_processes=n_processes),
        total=len(cells),
        label="benchmark",
        unit="run",
        done=len(found),
        shown=shown,
    )
    for one in bar:
        found[one.cell.folder] = one
    return [found[cell.folder] for cell in cells]


def _work(cells: Iterable[Cell], folder: Path, *, n_processes: int) -> Iterator[Finished]:
    if n_processes == 1:
        for cell in cells:
            yield run_cell(cell, folder)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context) as pool:
        waiting = [pool.submit(run_cell, cell, folder) for cell in cells]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            for future in waiting:
                future.cancel()


def run_cell(cell: Cell, folder: Path) -> Finished:
    """Run a cell and write what it found; an error of its own becomes its message."""
    try:
        result = adapt_features(
            _read_features(cell.features, cell.features.stat().st_mtime_ns),
            _read_images(cell.images, cell.images.stat().st_mtime_ns),
            queries=cell.queries,
            config=cell.config,
            seed=cell.seed,
            features_info=read_info(cell.features),
        )
    except GraticuleError as error:
        return Finished(cell=cell, metrics=None, problem=str(error))
    provenance = describe_run("benchmark", config=_identify(cell), seed=cell.seed)
    place = folder / cell.folder
    write_table(result.predictions, place / PREDICTIONS_FILE, PREDICTIONS, info=result.info, provenance=provenance)
    write_table(result.metrics, place / METRICS_FILE, METRICS, provenance=provenance)
    return Finished(cell=cell, metrics=result.metrics)


def _read_finished(cell: Cell, folder: Path) -> pl.DataFrame | None:
    place = folder / cell.folder / METRICS_FILE
    if not place.is_file():
        return None
    if read_provenance(place).get("config") != _identify(cell):
        raise ConfigError(
            f"{place}: made with other settings than this benchmark's. Choose another folder with -o, or remove "
            f"{place.parent}."
        )
    return read_table(place, METRICS)


def _identify(cell: Cell) -> dict[str, Any]:
    recipe = ALGORITHMS[cell.config.algorithm].recipe
    stats = {
        name: [path.name, path.stat().st_size] for name, path in (("features", cell.features), ("images", cell.images))
    }
    adaptation = {name: value for name, value in asdict(cell.config).items() if name != "logs"}
    trainer = asdict(cell.config.trainer.fill(recipe))
    for settings in (adaptation["trainer"], trainer):
        del settings["device"]
    return {
        "queries": asdict(cell.queries),
        "adaptation": adaptation,
        "options": asdict(make_options(cell.config.algorithm, cell.config.options)),
        "trainer": trainer,
        "files": stats,
    }


@lru_cache(maxsize=2)
def _read_features(path: Path, changed_at: int) -> pl.DataFrame:
    del changed_at
    return read_table(path, FEATURES)


@lru_cache(maxsize=2)
def _read_images(path: Path, changed_at: int) -> pl.DataFrame:
    del changed_at
    return read_images(path)
