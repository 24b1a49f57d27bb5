"""Curves read out of the metrics table, as they stand there."""

from __future__ import annotations

import polars as pl

from graticule.report.estimates import Estimate
from graticule.report.value.curve_figure import NumberedCurve


def read_curve(rows: pl.DataFrame, *, name: str) -> NumberedCurve:
    """Return the curve of some rows of the metrics table, by their column ``n_train``."""
    ordered = rows.sort("n_train")
    return NumberedCurve(
        name=name,
        x=tuple(float(x) for x in ordered["n_train"].to_list()),
        estimates=tuple(
            Estimate(value=value, low=_number(low), high=_number(high), n=int(n))
            for value, low, high, n in ordered.select("value", "low", "high", "n").iter_rows()
        ),
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
