"""Accuracy of every region with its interval, all models side by side, and the overall accuracy as a line."""

from __future__ import annotations

import math

import polars as pl

from graticule.report.drawing.marks import Mark, Point, Span, Tick
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot, spread_shifts
from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.scales import make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.drawing.symbols import pick_symbol
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, interval, percent, percent_interval, percent_tick, plural

ROWS_SHOWN = 60


def draw_region_accuracy(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the dot-and-interval plot of accuracy by region; None if there is no region."""
    if not groups.keys:
        return None
    accuracy = {
        model: Estimates(metrics.filter(pl.col("label").is_null()), "accuracy", model=model) for model in models
    }
    shown = groups.keys[:ROWS_SHOWN]
    ends = [
        end
        for model in models
        for key in [*shown, None]
        for estimate in [accuracy[model].get(region=key)]
        for end in (estimate.value, *(() if key in groups.thin else (estimate.low, estimate.high)))
    ]
    plot = RowPlot(
        rows=tuple(_make_row(key, groups=groups, accuracy=accuracy) for key in shown),
        axis=make_axis(ends),
        axis_title="Accuracy (share of images predicted right)",
        write_tick=percent_tick,
        legend=_make_legend(models, groups=groups),
        head=(groups.one.capitalize(), f"Accuracy ({groups.confidence} interval)"),
        css="regions",
    )
    title = f"Accuracy by {groups.one}"
    subtitle = f"Dots: accuracy; bars: {groups.confidence} intervals; dashed: overall"
    body, height = draw_rows(plot)
    hidden = len(groups.keys) - len(shown)
    return Figure(
        name="region_accuracy",
        title=title,
        svg=write_sheet(body, title=title, subtitle=subtitle, width=SHEET_WIDTH, height=height),
        inline=write_rows_html(plot),
        table=_make_table(groups, accuracy=accuracy, mixes=_read_mixes(metrics, models=models)),
        alt=_describe(groups, accuracy=accuracy),
        caption=(
            f"Each dot is a {groups.one}'s accuracy, the bar its {groups.confidence} interval (Wilson), the dashed "
            "line the accuracy over all images. Where two bars do not overlap, chance is an unlikely explanation."
        ),
        notes=(f"The {ROWS_SHOWN} lowest are drawn; {count(hidden)} more in the table.",) if hidden > 0 else (),
    )


def _make_row(key: str, *, groups: Groups, accuracy: dict[str, Estimates]) -> Row:
    marks: list[Mark] = []
    lines: list[Line] = []
    thin = key in groups.thin
    for place, ((model, values), shift) in enumerate(zip(accuracy.items(), spread_shifts(len(accuracy)), strict=True)):
        symbol = pick_symbol(place)
        estimate, overall = values.get(region=key), values.get()
        css = "mark-thin" if thin else symbol.css
        marks.append(Tick(at=overall.value, css=f"{symbol.css} overall", height=19.0, shift=shift))
        marks.append(Span(low=estimate.low, high=estimate.high, css=f"{css} interval", shift=shift))
        tip = f"{groups.name(key)}, {model}: {percent_interval(estimate)}"
        marks.append(Point(at=estimate.value, css=css, shape=symbol.shape, shift=shift, tip=tip))
        ends = interval(estimate)
        shape = symbol.shape if len(accuracy) > 1 else ""
        lines.append(Line(text=percent(estimate.value), detail=f"({ends})" if ends else "", css=css, shape=shape))
    n = max(values.get(region=key).n for values in accuracy.values())
    return Row(
        name=groups.name(key),
        detail=plural(n, "image") + (" – too few to judge" if thin else ""),
        marks=tuple(marks),
        lines=tuple(lines),
        css="thin" if thin else "",
    )


def _make_legend(models: tuple[str, ...], *, groups: Groups) -> tuple[LegendItem, ...]:
    several = len(models) > 1
    items = [
        LegendItem(text=model, css=pick_symbol(place).css, shape=pick_symbol(place).shape)
        for place, model in enumerate(models)
    ]
    items.append(
        LegendItem(
            text="each model over all images" if several else "over all images", css="mark-0 overall", kind="tick"
        )
    )
    if groups.thin:
        items.append(LegendItem(text=f"fewer than {groups.min_images} images", css="mark-thin"))
    return tuple(items)


def _read_mixes(metrics: pl.DataFrame, *, models: tuple[str, ...]) -> dict[str, Estimates]:
    return {model: Estimates(metrics, "label_mix_accuracy", model=model) for model in models}


def _make_table(groups: Groups, *, accuracy: dict[str, Estimates], mixes: dict[str, Estimates]) -> DataTable:
    rows = [
        (
            groups.name(key) if key else "all",
            model,
            estimate.value,
            estimate.low,
            estimate.high,
            mixes[model].get(region=key).value,
            float(estimate.n),
        )
        for key in [None, *groups.keys]
        for model, values in accuracy.items()
        for estimate in [values.get(region=key)]
    ]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            Field(title="Model"),
            Field(title="Accuracy", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="From its mix of labels alone", form="percent"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(groups: Groups, *, accuracy: dict[str, Estimates]) -> str:
    sentences: list[str] = []
    for model, values in accuracy.items():
        judged = [
            (values.get(region=key).value, key)
            for key in groups.keys
            if key not in groups.thin and math.isfinite(values.get(region=key).value)
        ]
        overall = percent(values.get().value)
        if not judged:
            sentences.append(f"{model}: {overall} over all images.")
            continue
        low, high = min(judged), max(judged)
        sentences.append(
            f"{model}: {overall} over all images, lowest in {groups.name(low[1])} ({percent(low[0])}), "
            f"highest in {groups.name(high[1])} ({percent(high[0])})."
        )
    return " ".join(sentences)
