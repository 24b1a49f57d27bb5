"""Pairs of labels that people select together, so that being right by one and wrong by the other is a coin's toss."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, plural, spell

ROWS_SHOWN = 20
METRIC = "ambiguous_pair"


def draw_ambiguous_pairs(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the pairs that overlap most surely, over all regions; None where there are none."""
    del models
    found = [
        (str(place.label), str(place.group), estimate)
        for place, estimate in Estimates(metrics.filter(pl.col("region").is_null()), METRIC, model=None)
        if estimate.value > 0
    ]
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[2].low, -pair[2].n, pair[:2]))
    shown = found[:ROWS_SHOWN]
    rows = [
        SeriesRow(name=_name(given, other), detail=plural(estimate.n, "image"), estimates=(estimate,))
        for given, other, estimate in shown
    ]
    plot = plot_series(
        rows,
        series=("other label selected at least as often",),
        head="Given label, other label",
        axis_title="Share of the images with the given label",
        confidence=groups.confidence,
    )
    body, height = draw_rows(plot)
    title = "Labels that people do not tell apart"
    hidden = len(found) - len(shown)
    first = shown[0]
    return Figure(
        name="ambiguous_pairs",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"Bars: {groups.confidence} intervals", width=SHEET_WIDTH, height=height
        ),
        inline=write_rows_html(plot),
        table=_make_table(found),
        alt=(
            f"{plural(len(found), 'pair')} of labels overlap; most surely {_name(first[0], first[1])}, in "
            f"{percent(first[2].value)} of {plural(first[2].n, 'image')}."
        ),
        caption=(
            "In how many images of the first label people selected the second at least as often. Merge such labels, or "
            "describe them better, before a model's confusions between them are held against it."
        ),
        notes=(f"The {ROWS_SHOWN} surest are drawn; {count(hidden)} more in the table.",) if hidden > 0 else (),
    )


def _name(given: str, other: str) -> str:
    return f"{spell(given)} → {spell(other)}"


def _make_table(found: list[tuple[str, str, Estimate]]) -> DataTable:
    return DataTable(
        fields=(
            Field(title="Given label"),
            Field(title="Other label"),
            Field(title="Share", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(
            (spell(given), spell(other), estimate.value, estimate.low, estimate.high, float(estimate.n))
            for given, other, estimate in found
        ),
    )
