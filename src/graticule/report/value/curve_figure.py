"""A figure of several panels of curves over the same axes: its page form, its file form and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.line_panel import WIDTH, Curve, CurvePoint, LinePanel, draw_panels, write_panel_html
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem
from graticule.report.drawing.scales import Axis, make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.drawing.symbols import pick_symbol
from graticule.report.estimates import Estimate
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, percent_interval, percent_tick

COLUMNS = 2
NICE = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedCurve:
    """Estimates at numbers of images."""

    name: str
    x: tuple[float, ...]
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePanel:
    """A panel: its curves in the order of the legend, and a level to reach."""

    title: str
    detail: str
    curves: tuple[NumberedCurve, ...]
    level: float = math.nan


def make_curve_figure(
    panels: Sequence[CurvePanel],
    *,
    name: str,
    title: str,
    subtitle: str,
    legend: Sequence[str],
    x_title: str,
    alt: str,
    caption: str,
    is_log: bool = False,
    level_name: str = "",
) -> Figure:
    """Return the figure of some panels; curves of the same place in their panel share colour and shape."""
    points = [point for panel in panels for curve in panel.curves for point in curve.estimates]
    ends = [end for point in points for end in (point.value, point.low, point.high)]
    levels = [panel.level for panel in panels if math.isfinite(panel.level)]
    y_axis = make_axis([*ends, *levels])
    drawn = tuple(
        LinePanel(
            title=panel.title,
            detail=panel.detail,
            curves=tuple(_draw(curve, place) for place, curve in enumerate(panel.curves)),
            x_axis=make_image_axis([x for curve in panel.curves for x in curve.x], is_log=is_log),
            y_axis=y_axis,
            x_title=x_title,
            write_x=_write_count,
            write_y=percent_tick,
            is_log=is_log,
            level=panel.level,
        )
        for panel in panels
    )
    items = [
        LegendItem(text=text, css=pick_symbol(place).css, shape=pick_symbol(place).shape)
        for place, text in enumerate(legend)
    ]
    if level_name:
        items.append(LegendItem(text=level_name, css="diagonal", kind="span"))
    head, top = draw_legend(items, x=0.0, y=0.0, width=SHEET_WIDTH)
    body, height = draw_panels(drawn, columns=COLUMNS, gap=SHEET_WIDTH - COLUMNS * WIDTH if len(drawn) > 1 else 0.0)
    moved = tag("g", {"transform": f"translate(0 {number(top + 8)})"}, body)
    return Figure(
        name=name,
        title=title,
        svg=write_sheet(head + moved, title=title, subtitle=subtitle, width=SHEET_WIDTH, height=top + 8 + height),
        inline=write_legend(items)
        + tag("div", {"class": "cards curves"}, join(write_panel_html(panel) for panel in drawn)),
        table=DataTable(
            fields=(
                Field(title="Panel"),
                Field(title="Curve"),
                Field(title="Images", form="count"),
                Field(title="Accuracy", form="percent"),
                Field(title="Low", form="percent"),
                Field(title="High", form="percent"),
            ),
            rows=tuple(
                (panel.title, curve.name, x, point.value, point.low, point.high)
                for panel in panels
                for curve in panel.curves
                for x, point in zip(curve.x, curve.estimates, strict=True)
            ),
        ),
        alt=alt,
        caption=caption,
    )


def make_image_axis(values: Sequence[float], *, is_log: bool) -> Axis:
    """Return an axis of numbers of images that begins and ends at round ones; of logarithms where ``is_log``.

    Examples
    --------
    >>> make_image_axis([62, 1700], is_log=True).ticks[0].__round__(2)
    1.7
    >>> make_image_axis([0, 1700], is_log=False).ticks
    (0.0, 500.0, 1000.0, 1500.0, 2000.0)
    """
    high = max([*values, 1.0])
    if not is_log:
        rough = high / 5
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * nice for nice in (*NICE, 10) if power * nice >= rough)
        ticks = tuple(float(step * place) for place in range(math.ceil(high / step) + 1))
        return Axis(low=0.0, high=ticks[-1], ticks=ticks)
    low = max(min(values), 1.0)
    ladder = [nice * 10**power for power in range(10) for nice in NICE]
    first = max(place for place, tick in enumerate(ladder) if tick <= low)
    last = next(place for place, tick in enumerate(ladder) if tick >= high)
    kept = ladder[first : max(last, first + 1) + 1]
    step = math.ceil(len(kept) / 7)
    ticks = tuple(math.log10(tick) for tick in kept[::step])
    return Axis(low=math.log10(kept[0]), high=math.log10(kept[-1]), ticks=ticks)


def _write_count(value: float) -> str:
    return count(round(value))


def _draw(curve: NumberedCurve, place: int) -> Curve:
    symbol = pick_symbol(place)
    return Curve(
        css=symbol.css,
        shape=symbol.shape,
        points=tuple(
            CurvePoint(
                x=x,
                y=point.value,
                low=point.low,
                high=point.high,
                tip=f"{curve.name}, {count(x)} images: {percent_interval(point)}",
            )
            for x, point in zip(curve.x, curve.estimates, strict=True)
        ),
    )
