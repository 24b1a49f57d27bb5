"""Accuracy by region twice: by the labels that the data set gives, and by those that people accept."""

from __future__ import annotations

import math

import polars as pl

from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, percent_interval, plural, points

ROWS_SHOWN = 60
GIVEN, ACCEPTED = "given_label_accuracy", "multi_label_accuracy"
SERIES = ("by the given label", "by any label that people accept")
EXTREMES = "best to worst"


def draw_label_fidelity(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return a model's accuracies by given and by accepted labels; None without labels of people."""
    model = models[0]
    overall = metrics.filter(pl.col("label").is_null())
    given, accepted = (Estimates(overall, name, model=model) for name in (GIVEN, ACCEPTED))
    if not groups.keys or given.get().n == 0:
        return None
    keys = [None, *groups.keys[:ROWS_SHOWN]]
    rows = [
        SeriesRow(
            name=groups.name(key) if key else "all",
            detail=plural(given.get(region=key).n, "image"),
            estimates=(given.get(region=key), accepted.get(region=key)),
            thin=given.get(region=key).n < groups.min_images,
        )
        for key in keys
    ]
    plot = plot_series(
        rows,
        series=SERIES,
        head=groups.one.capitalize(),
        axis_title="Accuracy on the images that people labelled",
        confidence=groups.confidence,
    )
    body, height = draw_rows(plot)
    title = "Accuracy by given and by accepted labels"
    hidden = len(groups.keys) - ROWS_SHOWN
    return Figure(
        name="label_fidelity",
        title=title,
        svg=write_sheet(
            body,
            title=title,
            subtitle=f"{model}; bars: {groups.confidence} intervals",
            width=SHEET_WIDTH,
            height=height,
        ),
        inline=write_rows_html(plot),
        table=_make_table(groups, given=given, accepted=accepted),
        alt=_describe(overall, model=model, given=given, accepted=accepted),
        caption=(
            "On the same images, once with the data set's label as the only right answer and once with the labels that "
            "people accept; of several that fit one object, the one that most selected. Where a "
            f"{groups.one}'s two dots differ, its labels tell part of the story; a difference between {groups.many} "
            "that is there twice is the model's own."
        ),
        notes=(f"The {ROWS_SHOWN} lowest are drawn; {count(hidden)} more in the table.",) if hidden > 0 else (),
    )


def _make_table(groups: Groups, *, given: Estimates, accepted: Estimates) -> DataTable:
    rows = [
        (
            groups.name(key) if key else "all",
            first.value,
            first.low,
            first.high,
            second.value,
            second.low,
            second.high,
            float(first.n),
        )
        for key in [None, *groups.keys]
        for first, second in [(given.get(region=key), accepted.get(region=key))]
    ]
    numbers = [f"{what}{end}" for what in ("Given", "Accepted") for end in ("", ", low", ", high")]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            *(Field(title=number, form="percent") for number in numbers),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(overall: pl.DataFrame, *, model: str, given: Estimates, accepted: Estimates) -> str:
    text = (
        f"{model}: {percent(given.get().value)} of {plural(given.get().n, 'image')} by the given label, "
        f"{percent(accepted.get().value)} by any label that people accept."
    )
    before, after, left = (
        Estimates(overall, name, model=model).get(group=EXTREMES)
        for name in ("given_gap", "accepted_gap", "remaining_gap")
    )
    if math.isfinite(before.value) and math.isfinite(after.value):
        text += (
            f" The gap between worst and best is {points(abs(before.value))} points by the given labels and "
            f"{points(abs(after.value))} points by the accepted ones."
        )
    if math.isfinite(left.value):
        text += f" Of the gap {percent_interval(left)} remains."
    return text
