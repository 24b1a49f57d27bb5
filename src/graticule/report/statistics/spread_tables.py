"""How even data sets are, side by side, and how far their regions' labels lie apart, as tables."""

from __future__ import annotations

import math

import polars as pl

from graticule.report.figures.figure import DataTable, Field
from graticule.report.statistics.numbers import SetNumbers
from graticule.report.wording import UNKNOWN, count

COLUMNS = (
    ("Images", "images"),
    ("Thin cells", "thin_cells"),
    ("Cells", "cells"),
    ("Labels even", "label_entropy"),
    ("Labels Gini", "label_gini"),
    ("Regions even", "region_entropy"),
    ("Regions Gini", "region_gini"),
    ("Countries even", "country_entropy"),
    ("Countries Gini", "country_gini"),
)
WHOLE = ("images", "thin_cells", "cells")


def tabulate_sets(sets: tuple[SetNumbers, ...]) -> DataTable:
    """Return one row a data set."""
    return DataTable(
        fields=(Field(title="Data set"), *(Field(title=title) for title, _ in COLUMNS)),
        rows=tuple(
            (numbers.name, *(_write(numbers.find(metric), metric) for _, metric in COLUMNS)) for numbers in sets
        ),
    )


def tabulate_regions(numbers: SetNumbers) -> DataTable:
    """Return one row a region: its images, and how even its labels are."""
    rows = numbers.metrics.filter(pl.col("region").is_not_null() & pl.col("label").is_null())
    values = {(metric, region): value for metric, region, value in rows.select("metric", "region", "value").iter_rows()}
    return DataTable(
        fields=(
            Field(title=numbers.by.capitalize()),
            Field(title="Images", form="count"),
            Field(title="Labels even"),
            Field(title="Labels Gini"),
        ),
        rows=tuple(
            (
                region,
                float(n),
                _write(values.get(("label_entropy", region), math.nan), "label_entropy"),
                _write(values.get(("label_gini", region), math.nan), "label_gini"),
            )
            for region, n in numbers.count_by("region").items()
        ),
    )


def tabulate_distances(metrics: pl.DataFrame) -> DataTable:
    """Return one row a pair of regions or of data sets, farthest apart first."""
    pairs = metrics.filter(pl.col("metric") == "label_total_variation").sort("value", descending=True, nulls_last=True)
    return DataTable(
        fields=(
            Field(title="Data set"),
            Field(title="Between"),
            Field(title="And"),
            Field(title="Total variation"),
            Field(title="By chance, from"),
            Field(title="To"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(
            (
                row["dataset"],
                row["region"] or row["dataset"],
                row["group"],
                *(_write(row[name], "") for name in ("value", "low", "high")),
                float(row["n"]),
            )
            for row in pairs.iter_rows(named=True)
        ),
    )


def _write(value: float | None, metric: str) -> str:
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return count(value) if metric in WHOLE else f"{value:.3f}"
