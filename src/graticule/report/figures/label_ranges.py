"""Per label, the range between its worst and its best region, over the band that chance alone would give.

After GeoDE's figure 9: a label whose worst or best region lies outside the band differs by region more than a random
partition of its images into regions of the same sizes would. The band has two readings, both drawn: the *pooled* one is
the paper's (all regions of all partitions), the *extremes* one is calibrated on the minimum and the maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.marks import Mark, Point, Span, Tick
from graticule.report.drawing.markup import join, tag
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.rows_html import write_rows_html
from graticule.report.drawing.rows_svg import draw_rows
from graticule.report.drawing.scales import make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, p_value, percent, percent_tick, plural, spell

ROWS_SHOWN = 60
SYMBOLS_ENOUGH = 6
"""Up to this many regions a symbol names one; with more, names are written out."""
READINGS = {
    "extremes": "by worst and best {one} (calibrated)",
    "pooled": "by all {many}, as in GeoDE (flags more)",
    "both": "both",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRange:
    """What the plot shows of a label."""

    label: str
    overall: Estimate
    worst_region: str
    worst: Estimate
    best_region: str
    best: Estimate
    bands: dict[str, tuple[float, float]]
    flags: dict[str, bool]
    gap: float
    p_adjusted: float
    others: tuple[float, ...]


def draw_label_ranges(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the range plot of a model's labels; None where no label has two regions to compare."""
    model = models[0]
    ranges = _read_ranges(metrics, groups=groups, model=model)
    if not ranges:
        return None
    shown = _choose(ranges)
    plot = _plot(shown, groups=groups)
    title = f"Worst and best {groups.one} of each label"
    body, height = draw_rows(plot)
    subtitle = f"{model}; grey: what chance alone would give; flagged labels in bold"
    notes = ()
    if len(shown) < len(ranges):
        notes = (
            f"{plural(len(ranges), 'label')} in all; drawn are the {len(shown)} least likely to be chance. "
            "All stand in metrics.csv.",
        )
    return Figure(
        name="label_ranges",
        title=title,
        svg=write_sheet(body, title=title, subtitle=subtitle, width=SHEET_WIDTH, height=height),
        inline=tag(
            "form", {"class": "switched"}, tag("div", {"class": "tools"}, _write_switch(groups)), write_rows_html(plot)
        ),
        table=_make_table(ranges, groups=groups),
        alt=_describe(ranges, groups=groups, model=model),
        caption=(
            f"A line joins the accuracy in the label's worst {groups.one} to that in its best; the black tick is its "
            f"accuracy over all. Grey is where worst and best would fall if {groups.many} made no difference "
            f"({groups.confidence}). A label "
            "that leaves the grey is flagged (bold). p is adjusted for testing many labels (Benjamini–Hochberg)."
        ),
        notes=notes,
    )


def _read_ranges(metrics: pl.DataFrame, *, groups: Groups, model: str) -> list[LabelRange]:
    def read(metric: str) -> Estimates:
        return Estimates(metrics, metric, model=model)

    accuracy, gap = read("accuracy"), read("worst_gap")
    best, worst = read("best_region").extremes(), read("worst_region").extremes()
    low, high, flag, adjusted = map(read, ("partition_low", "partition_high", "partition_flag", "partition_p_adjusted"))
    found: list[LabelRange] = []
    for label in sorted(name for name in worst if name is not None and name in best):
        readings = ("extremes", "pooled")
        cells = [accuracy.get(region=key, label=label) for key in groups.keys]
        found.append(
            LabelRange(
                label=label,
                overall=accuracy.get(label=label),
                worst_region=worst[label][0],
                worst=worst[label][1],
                best_region=best[label][0],
                best=best[label][1],
                bands={
                    r: (low.get(label=label, group=r).value, high.get(label=label, group=r).value) for r in readings
                },
                flags={r: flag.get(label=label, group=r).value == 1 for r in readings},
                gap=gap.get(label=label).value,
                p_adjusted=adjusted.get(label=label, group="benjamini-hochberg").value,
                others=tuple(cell.value for cell in cells if cell.n >= groups.min_images),
            )
        )
    return found


def _choose(ranges: list[LabelRange]) -> list[LabelRange]:
    def unlikely(item: LabelRange) -> tuple[float, float]:
        return (item.p_adjusted if math.isfinite(item.p_adjusted) else 1.0), -item.gap

    kept = sorted(ranges, key=unlikely)[:ROWS_SHOWN]
    return sorted(kept, key=lambda item: (item.overall.value, item.label))


def _plot(ranges: list[LabelRange], *, groups: Groups) -> RowPlot:
    values = [v for item in ranges for v in (item.worst.value, item.best.value, *item.bands["extremes"])]
    return RowPlot(
        rows=tuple(_make_row(item, groups=groups) for item in ranges),
        axis=make_axis(values),
        axis_title="Accuracy",
        write_tick=percent_tick,
        legend=_make_legend(ranges, groups=groups),
        head=("Label", "Worst, best, adjusted p"),
        css="ranges",
        abreast=True,
    )


def _make_row(item: LabelRange, *, groups: Groups) -> Row:
    marks: list[Mark] = [
        Span(low=item.bands["extremes"][0], high=item.bands["extremes"][1], css="band read-extremes", thickness=20.0),
        Span(low=item.bands["pooled"][0], high=item.bands["pooled"][1], css="band-core read-pooled", thickness=12.0),
        Span(low=item.worst.value, high=item.best.value, css="range", thickness=1.5),
        *(Tick(at=value, css="other", height=8.0) for value in item.others),
        Tick(at=item.overall.value, css="overall-tick", height=16.0),
    ]
    lines: list[Line] = []
    for key, estimate in ((item.worst_region, item.worst), (item.best_region, item.best)):
        symbol = groups.symbols[key]
        marks.append(Point(at=estimate.value, css=symbol.css, shape=symbol.shape, tip=f"{groups.name(key)}"))
        named = f"{groups.name(key)} " if len(groups.keys) > SYMBOLS_ENOUGH else ""
        lines.append(Line(text=f"{named}{percent(estimate.value)}", css=symbol.css, shape=symbol.shape))
    lines.append(Line(text=f"p {p_value(item.p_adjusted)}", css="p-text"))
    flags = " ".join(f"flag-{reading}" for reading, flagged in item.flags.items() if flagged)
    return Row(
        name=item.label,
        marks=tuple(marks),
        lines=tuple(lines),
        css=flags,
        tip=_say(item, groups=groups),
        keys={
            "name": item.label,
            "accuracy": f"{item.overall.value:.6g}",
            "gap": f"{item.gap:.6g}",
            "p": f"{item.p_adjusted:.6g}",
        },
    )


def _say(item: LabelRange, *, groups: Groups) -> str:
    worst = f"{groups.name(item.worst_region)} {percent(item.worst.value)} ({count(item.worst.n)} images)"
    best = f"{groups.name(item.best_region)} {percent(item.best.value)} ({count(item.best.n)} images)"
    low, high = item.bands["extremes"]
    return (
        f"{spell(item.label)}: worst {worst}, best {best}, overall {percent(item.overall.value)}. "
        f"By chance: {percent(low)} to {percent(high)}. Adjusted p {p_value(item.p_adjusted)}."
    )


def _make_legend(ranges: list[LabelRange], *, groups: Groups) -> tuple[LegendItem, ...]:
    items = [
        LegendItem(text=f"by chance, worst and best {groups.one}", css="band read-extremes", kind="band"),
        LegendItem(text=f"by chance, all {groups.many} pooled (GeoDE)", css="band-core read-pooled", kind="band"),
        LegendItem(text="over all", css="overall-tick", kind="tick"),
    ]
    if len(groups.keys) > 2:
        items.append(LegendItem(text=f"other {groups.many}", css="other", kind="tick"))
    if len(groups.keys) <= SYMBOLS_ENOUGH:
        used = {key for item in ranges for key in (item.worst_region, item.best_region)}
        symbols = [(key, groups.symbols[key]) for key in groups.keys if key in used]
        items = [LegendItem(text=groups.name(key), css=s.css, shape=s.shape) for key, s in symbols] + items
    return tuple(items)


def _write_switch(groups: Groups) -> Markup:
    """Return the choice of the band's reading; it works by style alone, without a script."""
    options = join(
        tag(
            "label",
            {},
            tag("input", {"type": "radio", "name": "reading", "value": key, "checked": key == "extremes"}),
            tag("span", {}, text.format(one=groups.one, many=groups.many)),
        )
        for key, text in READINGS.items()
    )
    return tag("fieldset", {"class": "switch"}, tag("legend", {}, "Grey band"), options)


def _make_table(ranges: list[LabelRange], *, groups: Groups) -> DataTable:
    rows = [
        (
            item.label,
            item.overall.value,
            groups.name(item.worst_region),
            item.worst.value,
            float(item.worst.n),
            groups.name(item.best_region),
            item.best.value,
            float(item.best.n),
            item.gap,
            *item.bands["extremes"],
            *item.bands["pooled"],
            _name_flags(item),
            item.p_adjusted,
        )
        for item in sorted(ranges, key=lambda item: (item.p_adjusted, -item.gap, item.label))
    ]
    return DataTable(
        fields=(
            Field(title="Label"),
            Field(title="Accuracy", form="percent"),
            Field(title=f"Worst {groups.one}"),
            Field(title="Accuracy there", form="percent"),
            Field(title="Images there", form="count"),
            Field(title=f"Best {groups.one}"),
            Field(title="Accuracy there", form="percent"),
            Field(title="Images there", form="count"),
            Field(title="Gap, points", form="points"),
            Field(title="Chance from", form="percent"),
            Field(title="to", form="percent"),
            Field(title="Pooled from", form="percent"),
            Field(title="to", form="percent"),
            Field(title="Flagged"),
            Field(title="p, adjusted", form="p"),
        ),
        rows=tuple(rows),
    )


def _name_flags(item: LabelRange) -> str:
    if item.flags["extremes"]:
        return "yes"
    return "pooled reading only" if item.flags["pooled"] else "no"


def _describe(ranges: list[LabelRange], *, groups: Groups, model: str) -> str:
    flagged = [item for item in ranges if item.flags["extremes"]]
    widest = max(ranges, key=lambda item: item.gap if math.isfinite(item.gap) else -1.0)
    worst, best = groups.name(widest.worst_region), groups.name(widest.best_region)
    return (
        f"{model}: {plural(len(flagged), 'label')} of {len(ranges)} differ between {groups.many} beyond the band "
        "of chance. "
        f"Widest: {spell(widest.label)}, from {percent(widest.worst.value)} in {worst} to {percent(widest.best.value)} "
        f"in {best}."
    )
