"""How far the data set's own labels can be trusted in each region, by what people saw."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, plural

ROWS_SHOWN = 60
METRICS = ("suspected_mislabelled", "label_ambiguity")
SERIES = ("nobody saw the given label", "another label was selected at least as often")


def draw_label_doubts(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the shares of images with doubtful labels; None without labels of people."""
    del models
    unlabelled = metrics.filter(pl.col("label").is_null() & pl.col("group").is_null())
    doubts = tuple(Estimates(unlabelled, name, model=None) for name in METRICS)
    if not groups.keys or not any(doubt.get().n for doubt in doubts):
        return None
    keys = [None, *groups.keys[:ROWS_SHOWN]]
    rows = [
        SeriesRow(
            name=groups.name(key) if key else "all",
            detail=plural(doubts[0].get(region=key).n, "image"),
            estimates=tuple(doubt.get(region=key) for doubt in doubts),
            thin=doubts[0].get(region=key).n < groups.min_images,
        )
        for key in keys
    ]
    plot = plot_series(
        rows,
        series=SERIES,
        head=groups.one.capitalize(),
        axis_title="Share of the images that people labelled",
        confidence=groups.confidence,
    )
    body, height = draw_rows(plot)
    title = f"Labels in doubt by {groups.one}"
    hidden = len(groups.keys) - ROWS_SHOWN
    whole = [doubt.get() for doubt in doubts]
    return Figure(
        name="label_doubts",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"Bars: {groups.confidence} intervals", width=SHEET_WIDTH, height=height
        ),
        inline=write_rows_html(plot),
        table=_make_table(groups, doubts=doubts),
        alt=(
            f"Nobody saw the given label in {percent(whole[0].value)} of {plural(whole[0].n, 'image')}; in "
            f"{percent(whole[1].value)} another label was selected at least as often as the given one."
        ),
        caption=(
            "Images whose given label no worker selected are probably mislabelled and stand in suspects.csv; where "
            "another label is selected as often, the labels overlap or the image shows several things. A model that is "
            f"scored on such labels looks worse than it is, and more so in a {groups.one} that has more of them."
        ),
        notes=(f"The first {ROWS_SHOWN} are drawn; {count(hidden)} more in the table.",) if hidden > 0 else (),
    )


def _make_table(groups: Groups, *, doubts: tuple[Estimates, ...]) -> DataTable:
    rows: list[tuple[str | float, ...]] = []
    for key in [None, *groups.keys]:
        found = [doubt.get(region=key) for doubt in doubts]
        ends = [end for estimate in found for end in (estimate.value, estimate.low, estimate.high)]
        rows.append((groups.name(key) if key else "all", *ends, float(found[0].n)))
    numbers = [f"{what}{end}" for what in ("Never seen", "Ambiguous") for end in ("", ", low", ", high")]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            *(Field(title=number, form="percent") for number in numbers),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )
