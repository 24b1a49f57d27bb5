"""The steps of ``graticule curate stats``: the one place that joins the counting and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.curation.curated_files import read_pile
from graticule.curation.statistics import StatisticsConfig, describe_statistics, measure_statistics
from graticule.data.store import describe_run, replace_atomically, write_table
from graticule.data.tables import METRICS
from graticule.errors import TableError, shown
from graticule.report.statistics.page import write_statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsRequest:
    """What was typed after ``curate stats``."""

    sources: tuple[Path, ...]
    by: str
    each: str | None
    min_images: int
    layout: str | None
    title: str | None
    seed: int
    output: Path


def run_stats(request: StatsRequest) -> list[str]:
    """Write the folder of statistics, and return what to print.

    Raises
    ------
    GraticuleError
        A table cannot be read or lacks its columns; nothing is written.
    """
    from graticule import __version__

    datasets = read_datasets(request)
    config = StatisticsConfig(by=request.by, min_images=request.min_images, seed=request.seed)
    statistics = measure_statistics(datasets, config=config)
    headline = list(describe_statistics(statistics))
    output = request.output
    made = describe_run(
        "curate stats",
        config={"by": request.by, "each": request.each, "min_images": request.min_images},
        inputs={source.name: source for source in request.sources},
        seed=request.seed,
    )
    write_table(statistics.metrics, output / "metrics.parquet", METRICS, provenance=made)
    counts = [
        table.select(pl.lit(name).alias("dataset"), pl.all())
        for name in statistics.datasets
        for table in [statistics.count_cells(name)]
        if table.height
    ]
    tables = {"metrics.csv": statistics.metrics}
    if counts:
        tables["counts.csv"] = pl.concat(counts, how="diagonal")
    for name, table in tables.items():
        with replace_atomically(output / name) as temporary:
            table.write_csv(temporary)
    page = write_statistics(
        output,
        statistics.metrics,
        headline=headline,
        by=request.by,
        min_images=request.min_images,
        title=request.title or _name_page(statistics.datasets),
        version=__version__,
    )
    return [*headline, "", f"Page:    {page}", f"Numbers: {output / 'metrics.csv'}"]


def read_datasets(request: StatsRequest) -> dict[str, pl.DataFrame]:
    """Return name → images: one for each source, or for each value of the column ``each`` in all of them."""
    piles = {name: read_pile(source, layout=request.layout).images for name, source in _name(request.sources).items()}
    if request.each is None:
        return piles
    found: dict[str, pl.DataFrame] = {}
    for name, images in piles.items():
        if request.each not in images.columns:
            raise TableError(
                f"{name}: no column '{request.each}' (--each); the columns are {shown(images.columns, limit=12)}."
            )
        values = images[request.each].cast(pl.String).drop_nulls().unique().sort().to_list()
        for value in values:
            title = value if len(piles) == 1 else f"{name}: {value}"
            found[title] = images.filter(pl.col(request.each).cast(pl.String) == value)
    if not found:
        raise TableError(f"--each {request.each}: no image has a value there, expected names of data sets.")
    return found


def _name(sources: Sequence[Path]) -> dict[str, Path]:
    """Return a name for each source: its file's, with its folder's where two are alike."""
    stems = [source.stem or str(source) for source in sources]
    named: dict[str, Path] = {}
    for stem, source in zip(stems, sources, strict=True):
        name = stem if stems.count(stem) == 1 else f"{source.parent.name}/{stem}"
        if name in named:
            raise TableError(f"{source}: given twice, or like another in name and folder; expected different tables.")
        named[name] = source
    return named


def _name_page(datasets: Sequence[str]) -> str:
    if len(datasets) == 1:
        return f"Where the images of {datasets[0]} come from"
    return f"Where the images of {len(datasets)} data sets come from"
