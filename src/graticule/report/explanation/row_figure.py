"""A figure that is a plot of rows: its page form, its file form and its table, made alike everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable

from graticule.report.drawing.rows import RowPlot
from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.scales import Axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.figures.figure import DataTable, Figure
from graticule.report.wording import count

STEPS = (1.0, 2.0, 5.0, 10.0)


def make_row_figure(
    plot: RowPlot,
    *,
    name: str,
    title: str,
    subtitle: str,
    table: DataTable,
    alt: str,
    caption: str,
    notes: tuple[str, ...] = (),
) -> Figure:
    """Return the figure of a plot of rows."""
    body, height = draw_rows(plot)
    return Figure(
        name=name,
        title=title,
        svg=write_sheet(body, title=title, subtitle=subtitle, width=SHEET_WIDTH, height=height),
        inline=write_rows_html(plot),
        table=table,
        alt=alt,
        caption=caption,
        notes=notes,
    )


def make_number_axis(values: Iterable[float], *, n_ticks: int = 5) -> Axis:
    """Return an axis of plain numbers with round ticks that holds all values and 0.

    Examples
    --------
    >>> make_number_axis([0.4, 3.1]).ticks
    (0.0, 1.0, 2.0, 3.0, 4.0)
    """
    known = [value for value in values if math.isfinite(value)] or [1.0]
    low, high = min(0.0, *known), max(0.0, *known)
    rough = (high - low or 1.0) / n_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * size for size in STEPS if power * size >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 10) for place in range(first, max(last, first + 1) + 1))
    return Axis(low=ticks[0], high=ticks[-1], ticks=ticks)


def write_number(value: float) -> str:
    """Return a tick of such an axis.

    Examples
    --------
    >>> write_number(0.5), write_number(20.0)
    ('0.5', '20')
    """
    return f"{value:g}"


def list_cut(n_rows: int, shown: int) -> tuple[str, ...]:
    """Return a note that not all rows are drawn; none where they are."""
    return (f"The first {shown} of {count(n_rows)} are drawn; all stand in the table.",) if n_rows > shown else ()
