"""Several small plots of one kind, side by side: for the page as cards that wrap, for a file in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.lettering import shorten
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem, RowPlot
from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.sheet import SHEET_WIDTH

GUTTER = 40.0
HEAD = 28.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A small plot with its heading."""

    key: str
    """What the page's script chooses by."""
    title: str
    detail: str
    plot: RowPlot


def write_cards_html(cards: Sequence[Card], *, legend: tuple[LegendItem, ...] = (), wide: bool = False) -> Markup:
    """Return plots as cards of a page, side by side, or below each other where they need the width."""
    css = "cards single" if wide else "cards"
    return write_legend(legend) + tag("div", {"class": css}, join(write_card_html(card) for card in cards))


def write_card_html(card: Card) -> Markup:
    """Return one plot as a card of a page."""
    detail = tag("span", {"class": "quiet"}, " " + card.detail) if card.detail else Markup("")
    heading = tag("h4", {}, tag("bdi", {}, card.title), detail)
    return tag("section", {"class": "card", "data-choice": card.key}, heading, write_rows_html(card.plot))


def draw_cards(
    cards: Sequence[Card], *, legend: tuple[LegendItem, ...] = (), n_columns: int = 2, width: float = SHEET_WIDTH
) -> tuple[Markup, float]:
    """Return plots as SVG in columns, and the height in pixels."""
    drawn_legend, top = draw_legend(legend, x=0.0, y=0.0, width=width)
    column_width = (width - GUTTER * (n_columns - 1)) / n_columns
    parts = [drawn_legend]
    for start in range(0, len(cards), n_columns):
        line = cards[start : start + n_columns]
        drawn = [draw_rows(card.plot, width=column_width) for card in line]
        for place, (card, (body, _)) in enumerate(zip(line, drawn, strict=True)):
            x = place * (column_width + GUTTER)
            title = shorten(card.title, width=column_width - 120, size=14.0, bold=True)
            detail = tag("tspan", {"class": "detail-text", "dx": 7}, card.detail)
            parts.append(tag("text", {"class": "card-title", "x": x, "y": top + 18}, title, detail))
            parts.append(tag("g", {"transform": f"translate({number(x)} {number(top + HEAD)})"}, body))
        top += HEAD + max(height for _, height in drawn) + 22
    return join(parts), top
