"""What a figure is: a drawing for the page, the same drawing as a file, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl
from markupsafe import Markup

from graticule.report.groups import Groups
from graticule.report.wording import count, p_number, percent, points

TABLE_ROWS = 400
"""Rows of a figure's table on the page; the rest is in ``metrics.csv``."""


def _write_signed(value: float) -> str:
    return points(value, signed=True)


FORMATS: dict[str, Callable[[float], str]] = {
    "percent": percent,
    "points": points,
    "signed": _write_signed,
    "count": count,
    "p": p_number,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of a figure's table; ``form`` is ``text`` or one of `FORMATS`."""

    title: str
    form: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """The numbers of a figure, fractions as fractions."""

    fields: tuple[Field, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure, ready for a page and for a file."""

    name: str
    """File name without ending."""
    title: str
    svg: str
    """A document of its own, in light colours."""
    inline: Markup
    """The same for the page, in the page's colours; it flows with the screen."""
    table: DataTable
    alt: str
    """What the figure shows, in a few sentences, with the numbers that matter."""
    caption: str
    """How to read it."""
    notes: tuple[str, ...] = field(default=())
    """What was left out and why."""


Draw = Callable[[pl.DataFrame, Groups, tuple[str, ...]], Figure | None]
"""Gives a figure of the metrics table, the groups and one or more models; None where the table lacks the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """A figure in the registry."""

    draw: Draw
    each_model: bool
    """Whether there is one figure a model, or one for all of them."""
    needs: str = ""
    """What to say where the table lacks the numbers."""
