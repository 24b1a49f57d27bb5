"""What is taken for what in each region: its most frequent confusions, beside their share over all regions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from graticule.report.drawing.cards import Card, draw_cards, write_cards_html
from graticule.report.drawing.marks import Span, Tick
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.scales import Axis, make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, list_words, percent, percent_tick, plural, spell

CONFUSIONS_SHOWN = 6
CONFUSIONS_IN_TABLE = 20
GROUPS_SHOWN = 12
GROUPS_TOLD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Images of one label that got another one."""

    region: str
    label: str
    predicted: str
    here: Estimate
    over_all: Estimate

    @property
    def n_images(self) -> int:
        """Return the number of images so confused: the share is a count over n."""
        return round(self.here.value * self.here.n)


def draw_confusions(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the most frequent confusions of a model, a card a region; None where there is none."""
    model = models[0]
    found = _read_confusions(metrics, groups=groups, model=model)
    if not any(found.values()):
        return None
    shown = [key for key in groups.keys if found[key] and key not in groups.thin][:GROUPS_SHOWN]
    shown = shown or [key for key in groups.keys if found[key]][:GROUPS_SHOWN]
    top = {key: found[key][:CONFUSIONS_SHOWN] for key in shown}
    drawn = [item for items in top.values() for item in items]
    sure = [item for item in drawn if item.here.n >= groups.min_images]
    weighty = sure if 2 * len(sure) >= len(drawn) else drawn
    shares = [share for item in weighty for share in (item.here.value, item.over_all.value)]
    axis = make_axis([0.0, *shares], n_ticks=4)
    cards = [_make_card(key, items=items, axis=axis, groups=groups) for key, items in top.items()]
    legend = _make_legend(groups)
    title = f"Most frequent confusions in each {groups.one}"
    body, height = draw_cards(cards, legend=legend)
    n_groups = sum(bool(items) for items in found.values())
    return Figure(
        name="confusions",
        title=title,
        svg=write_sheet(
            body,
            title=title,
            subtitle=f"{model}; label → what was predicted; share of the label's images there",
            width=SHEET_WIDTH,
            height=height,
        ),
        inline=write_cards_html(cards, legend=legend),
        table=_make_table(found, groups=groups),
        alt=_describe(top, groups=groups, model=model),
        caption=(
            f"Label → prediction, the most frequent first. The bar is the share of the label's images in this "
            f"{groups.one} that got the wrong prediction, the tick the same share over all {groups.many}: a bar well "
            f"past its tick is a confusion of this {groups.one}'s own. Faint bars rest on fewer than "
            f"{groups.min_images} images."
        ),
        notes=(f"{len(shown)} of {n_groups} {groups.many} are drawn, those with the lowest accuracy.",)
        if len(shown) < n_groups
        else (),
    )


def _read_confusions(metrics: pl.DataFrame, *, groups: Groups, model: str) -> dict[str, list[Confusion]]:
    wrong = metrics.filter((pl.col("metric") == "confusion") & (pl.col("label") != pl.col("group")))
    numbers = Estimates(wrong, "confusion", model=model)
    found: dict[str, list[Confusion]] = {key: [] for key in groups.keys}
    for key, estimate in numbers:
        if key.region is None or key.label is None or key.group is None or not math.isfinite(estimate.value):
            continue
        over_all = numbers.get(label=key.label, group=key.group)
        item = Confusion(region=key.region, label=key.label, predicted=key.group, here=estimate, over_all=over_all)
        found[key.region].append(item)
    for items in found.values():
        items.sort(key=lambda item: _rank(item, min_images=groups.min_images))
    return found


def _rank(item: Confusion, *, min_images: int) -> tuple[bool, int, float, str, str]:
    """Return what confusions are sorted by: those of labels with enough images first, the most frequent first."""
    return item.here.n < min_images, -item.n_images, -item.here.value, item.label, item.predicted


def _make_card(key: str, *, items: list[Confusion], axis: Axis, groups: Groups) -> Card:
    rows = tuple(
        Row(
            name=item.label,
            detail=f"→ {spell(item.predicted)}",
            marks=(
                Span(low=0.0, high=item.here.value, css=_style(item, groups=groups), thickness=11.0),
                Tick(at=item.over_all.value, css="overall-tick", height=17.0),
            ),
            lines=(Line(text=percent(item.here.value), detail=f"{count(item.n_images)} of {count(item.here.n)}"),),
            tip=(
                f"{groups.name(key)}: {percent(item.here.value)} of {plural(item.here.n, 'image')} of {item.label} got "
                f"{item.predicted}; over all {groups.many} {percent(item.over_all.value)}."
            ),
        )
        for item in items
    )
    plot = RowPlot(
        rows=rows,
        axis=axis,
        axis_title="",
        write_tick=percent_tick,
        head=("Label → prediction", "Share"),
        css="confusions",
    )
    return Card(key=key, title=groups.name(key), detail="", plot=plot)


def _style(item: Confusion, *, groups: Groups) -> str:
    return "bar" if item.here.n >= groups.min_images else "bar quiet-mark"


def _make_legend(groups: Groups) -> tuple[LegendItem, ...]:
    return (
        LegendItem(text=f"in this {groups.one}", css="bar", kind="band"),
        LegendItem(text=f"over all {groups.many}", css="overall-tick", kind="tick"),
    )


def _make_table(found: dict[str, list[Confusion]], *, groups: Groups) -> DataTable:
    rows = [
        (
            groups.name(key),
            item.label,
            item.predicted,
            item.here.value,
            item.here.low,
            item.here.high,
            float(item.here.n),
            item.over_all.value,
        )
        for key, items in found.items()
        for item in items[:CONFUSIONS_IN_TABLE]
    ]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            Field(title="Label"),
            Field(title="Predicted"),
            Field(title="Share", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="Images of the label", form="count"),
            Field(title=f"Share over all {groups.many}", form="percent"),
        ),
        rows=tuple(rows),
    )


def _describe(top: dict[str, list[Confusion]], *, groups: Groups, model: str) -> str:
    firsts = [
        f"{spell(items[0].label)} taken for {spell(items[0].predicted)} in {groups.name(key)} "
        f"({percent(items[0].here.value)})"
        for key, items in top.items()
        if items and items[0].here.n >= groups.min_images
    ]
    if not firsts:
        return f"{model}: no label has {groups.min_images} images or more in a {groups.one}."
    return f"{model}: the most frequent confusions are {list_words(firsts[:GROUPS_TOLD])}."
