"""How sure a model is of the right label, region by region, as box plots (GeoDE's figure 12).

A label can be right equally often everywhere and still be recognised with less assurance in one region.
"""

from __future__ import annotations

import math

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.cards import Card, draw_cards, write_card_html, write_cards_html
from graticule.report.drawing.marks import Span, Tick
from graticule.report.drawing.markup import join, tag
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.scales import make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import percent, percent_tick, plural, points, spell

QUANTILES = ("p05", "p25", "p50", "p75", "p95")
LABELS_FIRST = 6
LABELS_SHOWN = 100
GROUPS_SHOWN = 12


def draw_probability_boxes(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return box plots of the right label's probability; None where the predictions had no scores."""
    model = models[0]
    numbers = Estimates(metrics, "label_probability", model=model)
    labels = sorted({key.label for key, estimate in numbers if key.label is not None and estimate.n > 0})
    if not labels:
        return None
    spreads = {label: _measure_spread(label, numbers=numbers, groups=groups) for label in labels}
    ordered = sorted(labels, key=lambda label: (-spreads[label], label))
    cards = {
        label: _make_card(label, numbers=numbers, groups=groups, spread=spreads[label])
        for label in ordered[:LABELS_SHOWN]
    }
    first = [cards[label] for label in ordered[:LABELS_FIRST]]
    legend = _make_legend(groups)
    title = f"Probability of the right label, by {groups.one}"
    body, height = draw_cards(first, legend=legend)
    return Figure(
        name="probability_boxes",
        title=title,
        svg=write_sheet(
            body,
            title=title,
            subtitle=f"{model}; the labels whose medians differ most between {groups.many}",
            width=SHEET_WIDTH,
            height=height,
        ),
        inline=_write_inline(first, cards=cards, legend=legend),
        table=_make_table(ordered, numbers=numbers, groups=groups),
        alt=_describe(ordered, spreads=spreads, numbers=numbers, groups=groups, model=model),
        caption=(
            "Half of the images lie in the box, nine tenths between the whiskers; the thick tick is the median. "
            "Boxes far "
            "to the left mean that the model gives the right label little probability there, right or wrong."
        ),
        notes=_list_cuts(len(labels), groups=groups),
    )


def _list_medians(label: str, *, numbers: Estimates, groups: Groups) -> list[tuple[float, str]]:
    cells = [(numbers.get(region=key, label=label, group="p50"), key) for key in groups.keys]
    return [(cell.value, key) for cell, key in cells if cell.n >= groups.min_images and math.isfinite(cell.value)]


def _measure_spread(label: str, *, numbers: Estimates, groups: Groups) -> float:
    medians = [value for value, _ in _list_medians(label, numbers=numbers, groups=groups)]
    return max(medians) - min(medians) if medians else -1.0


def _make_card(label: str, *, numbers: Estimates, groups: Groups, spread: float) -> Card:
    rows: list[Row] = []
    for key in groups.keys[:GROUPS_SHOWN]:
        p05, p25, p50, p75, p95 = (numbers.get(region=key, label=label, group=name) for name in QUANTILES)
        if p50.n == 0:
            continue
        thin = p50.n < groups.min_images
        quiet = " quiet-mark" if thin else ""
        rows.append(
            Row(
                name=groups.name(key),
                marks=(
                    Span(low=p05.value, high=p95.value, css=f"whisker{quiet}", thickness=1.5),
                    Span(low=p25.value, high=p75.value, css=f"box{quiet}", thickness=13.0),
                    Tick(at=p50.value, css="median", height=17.0),
                ),
                lines=(Line(text=percent(p50.value)),),
                css="thin" if thin else "",
                tip=(
                    f"{groups.name(key)}, {label}: median {percent(p50.value)}, half between {percent(p25.value)} and "
                    f"{percent(p75.value)}, {plural(p50.n, 'image')}"
                    + (f" (fewer than {groups.min_images})." if thin else ".")
                ),
            )
        )
    plot = RowPlot(
        rows=tuple(rows),
        axis=make_axis([0.0, 1.0], n_ticks=3),
        axis_title="",
        write_tick=percent_tick,
        head=(groups.one.capitalize(), "Median"),
        css="boxes",
    )
    return Card(
        key=label, title=label, detail=f"medians differ by {points(spread)} points" if spread >= 0 else "", plot=plot
    )


def _make_legend(groups: Groups) -> tuple[LegendItem, ...]:
    return (
        LegendItem(text="half of the images", css="box", kind="band"),
        LegendItem(text="nine tenths", css="whisker", kind="span"),
        LegendItem(text="median", css="median", kind="tick"),
    )


def _write_inline(first: list[Card], *, cards: dict[str, Card], legend: tuple[LegendItem, ...]) -> Markup:
    others = [cards[label] for label in sorted(cards)]
    if len(cards) <= len(first):
        return write_cards_html(first, legend=legend)
    chooser = tag(
        "div",
        {"class": "cards single", "data-chooser": "Label"},
        join(write_card_html(card) for card in others),
    )
    more = tag("details", {"class": "more"}, tag("summary", {}, "Any other label"), chooser)
    return write_cards_html(first, legend=legend) + more


def _make_table(labels: list[str], *, numbers: Estimates, groups: Groups) -> DataTable:
    rows = [
        (label, groups.name(key), *(cell.value for cell in cells), float(cells[0].n))
        for label in labels
        for key in groups.keys
        for cells in [[numbers.get(region=key, label=label, group=name) for name in QUANTILES]]
        if cells[0].n > 0
    ]
    titles = ("5th percentile", "25th", "Median", "75th", "95th")
    return DataTable(
        fields=(
            Field(title="Label"),
            Field(title=groups.one.capitalize()),
            *(Field(title=title, form="percent") for title in titles),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(ordered: list[str], *, spreads: dict[str, float], numbers: Estimates, groups: Groups, model: str) -> str:
    label = ordered[0]
    medians = _list_medians(label, numbers=numbers, groups=groups)
    if not medians:
        return f"{model}: no label has {groups.min_images} images or more in a {groups.one}."
    low, high = min(medians), max(medians)
    return (
        f"{model}: medians differ most for {spell(label)}, by {points(spreads[label])} points, from "
        f"{percent(low[0])} in {groups.name(low[1])} to {percent(high[0])} in {groups.name(high[1])}."
    )


def _list_cuts(n_labels: int, *, groups: Groups) -> tuple[str, ...]:
    notes: list[str] = []
    if n_labels > LABELS_SHOWN:
        notes.append(f"{plural(n_labels, 'label')} in all; the {LABELS_SHOWN} that differ most can be chosen.")
    if len(groups.keys) > GROUPS_SHOWN:
        notes.append(
            f"{len(groups.keys):,} {groups.many} in all; boxes are drawn for the {GROUPS_SHOWN} with the lowest "
            "accuracy."
        )
    return tuple(notes)
