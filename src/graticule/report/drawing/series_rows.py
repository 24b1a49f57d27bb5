"""Several shares a row, each with its interval: what rows of dots have in common that compare two or three numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graticule.report.drawing.marks import Mark, Point, Span
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot, spread_shifts
from graticule.report.drawing.scales import make_axis
from graticule.report.drawing.symbols import pick_symbol
from graticule.report.estimates import Estimate
from graticule.report.wording import interval, percent, percent_interval, percent_tick


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow:
    """A row: its name, what is written under it, and a number a series."""

    name: str
    detail: str
    estimates: tuple[Estimate, ...]
    thin: bool = False


def plot_series(
    rows: Sequence[SeriesRow], *, series: Sequence[str], head: str, axis_title: str, confidence: str
) -> RowPlot:
    """Return the plot of some rows.

    Parameters
    ----------
    rows
        From top to bottom.
    series
        What the numbers of each row are, in their order.
    head
        Title of the rows' names.
    axis_title
        What the axis measures.
    confidence
        Coverage of the intervals, as in 95%.
    """
    ends = [
        end
        for row in rows
        for estimate in row.estimates
        for end in (estimate.value, *(() if row.thin else (estimate.low, estimate.high)))
    ]
    legend = [
        LegendItem(text=text, css=pick_symbol(place).css, shape=pick_symbol(place).shape)
        for place, text in enumerate(series)
    ]
    if any(row.thin for row in rows):
        legend.append(LegendItem(text="too few images to judge", css="mark-thin"))
    return RowPlot(
        rows=tuple(_make_row(row, series=series) for row in rows),
        axis=make_axis(ends),
        axis_title=axis_title,
        write_tick=percent_tick,
        legend=tuple(legend),
        head=(head, f"Share ({confidence} interval)"),
        css="regions",
    )


def _make_row(row: SeriesRow, *, series: Sequence[str]) -> Row:
    marks: list[Mark] = []
    lines: list[Line] = []
    shifts = spread_shifts(len(series))
    for place, (name, estimate, shift) in enumerate(zip(series, row.estimates, shifts, strict=True)):
        symbol = pick_symbol(place)
        css = "mark-thin" if row.thin else symbol.css
        marks.append(Span(low=estimate.low, high=estimate.high, css=f"{css} interval", shift=shift))
        tip = f"{row.name}, {name}: {percent_interval(estimate)}"
        marks.append(Point(at=estimate.value, css=css, shape=symbol.shape, shift=shift, tip=tip))
        ends = interval(estimate)
        shape = symbol.shape if len(series) > 1 else ""
        lines.append(Line(text=percent(estimate.value), detail=f"({ends})" if ends else "", css=css, shape=shape))
    return Row(name=row.name, detail=row.detail, marks=tuple(marks), lines=tuple(lines), css="thin" if row.thin else "")
