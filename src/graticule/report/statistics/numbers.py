"""The table of a data set's statistics, read for drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from graticule.report.drawing.scales import Bins

MAX_STEPS = 7
NICE = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNumbers:
    """The numbers of one data set."""

    name: str
    metrics: pl.DataFrame
    by: str
    min_images: int

    @classmethod
    def of(cls, metrics: pl.DataFrame, name: str, *, by: str, min_images: int) -> SetNumbers:
        """Return the part of a table that is about one data set."""
        return cls(name=name, metrics=metrics.filter(pl.col("dataset") == name), by=by, min_images=min_images)

    def find(self, metric: str) -> float:
        """Return a number of the whole set; NaN where there is none."""
        found = self.metrics.filter(
            (pl.col("metric") == metric) & pl.col("region").is_null() & pl.col("label").is_null()
        )["value"]
        return float(found[0]) if len(found) else math.nan

    def count_by(self, what: str) -> dict[str, int]:
        """Return the images of each region or label, most first."""
        other = "label" if what == "region" else "region"
        return self._count((pl.col("metric") == "images") & pl.col(what).is_not_null() & pl.col(other).is_null(), what)

    def count_places(self, metric: str) -> dict[str, int]:
        """Return the images of each country or sub-region, most first."""
        return self._count(pl.col("metric") == metric, "region")

    def count_cells(self) -> dict[tuple[str, str], int]:
        """Return (label, region) → images."""
        cells = self.metrics.filter(
            (pl.col("metric") == "images") & pl.col("region").is_not_null() & pl.col("label").is_not_null()
        )
        return {(label, region): int(n) for label, region, n in cells.select("label", "region", "value").iter_rows()}

    def _count(self, condition: pl.Expr, name: str) -> dict[str, int]:
        rows = self.metrics.filter(condition).select(name, "value").iter_rows()
        return {str(key): int(value) for key, value in rows}


def make_count_bins(values: list[int]) -> Bins:
    """Return bins of counts with round edges that grow about evenly in proportion; the lowest is from 0 on.

    Examples
    --------
    >>> make_count_bins([3, 40, 700]).edges
    (0.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0)
    """
    top = max([*values, 1])
    low = min([value for value in values if value > 0], default=1)
    ladder = [nice * 10**power for power in range(len(str(top)) + 1) for nice in NICE]
    last = next(edge for edge in ladder if edge >= top)
    inner = [edge for edge in ladder if low < edge <= last] or [last]
    for kept in (NICE, (1, 5), (1,)):
        edges = [edge for edge in inner if int(str(edge)[0]) in kept or edge == last]
        if len(edges) <= MAX_STEPS:
            break
    return Bins(edges=(0.0, *(float(edge) for edge in edges[-MAX_STEPS:])))


def shorten_count(value: float) -> str:
    """Return a round count in few characters.

    Examples
    --------
    >>> shorten_count(500.0), shorten_count(20_000.0), shorten_count(2_000_000.0)
    ('500', '20k', '2M')
    """
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
