"""Each label's own drop with what it is put down to; and before and after adaptation."""

from __future__ import annotations

import math

import polars as pl

from graticule.report.drawing.marks import Mark, Point, Span
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot, spread_shifts
from graticule.report.drawing.scales import make_symmetric_axis
from graticule.report.estimates import Estimate, Estimates
from graticule.report.explanation.parts import NAMES
from graticule.report.explanation.row_figure import list_cut, make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, plural, points, points_interval, spell

ROWS_SHOWN = 40
AXIS_TITLE = "← more often right   ·   percentage points   ·   less often right →"


def draw_label_drops(metrics: pl.DataFrame, labels: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the labels with the largest drops and their verdicts; None where no label is on both sides."""
    drops = Estimates(metrics, "drop", model=subject.model)
    parts = Estimates(metrics, "drop_part", model=subject.model)
    known = [row for row in labels.iter_rows(named=True) if drops.get(region=subject.target, label=row["label"]).n]
    if not known:
        return None
    shown = known[:ROWS_SHOWN]
    causes = [cause for cause in NAMES if parts.get(region=subject.target, group=cause).n]
    rows = [_make_row(row, drops.get(region=subject.target, label=row["label"])) for row in shown]
    ends = [end for row in shown for end in (row["drop"], row["drop_low"], row["drop_high"])]
    plot = RowPlot(
        rows=tuple(rows),
        axis=make_symmetric_axis([min(1.0, max(-1.0, end)) for end in ends]),
        axis_title=AXIS_TITLE,
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        head=("Label", "Drop (95% interval), put down to"),
        zero=True,
        css="regions",
    )
    worst = [row for row in known if row["drop_low"] > 0]
    listed = ", ".join(f"{spell(row['label'])} ({points(row['drop'])})" for row in worst[:3])
    return make_row_figure(
        plot,
        name="label_drops",
        title="Label by label",
        subtitle=f"{subject.model}: labels with the largest drops, {subject.source} to {subject.target}",
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title=f"Images, {subject.source}", form="count"),
                Field(title=f"Images, {subject.target}", form="count"),
                Field(title="Drop, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
                *(Field(title=NAMES[cause][0], form="signed") for cause in causes if cause != "prior"),
                Field(title="Put down to"),
            ),
            rows=tuple(
                (
                    str(row["label"]),
                    float(row["n_source"]),
                    float(row["n_target"]),
                    row["drop"],
                    row["drop_low"],
                    row["drop_high"],
                    *(
                        parts.get(region=subject.target, label=row["label"], group=cause).value
                        for cause in causes
                        if cause != "prior"
                    ),
                    str(row["verdict"]),
                )
                for row in known
            ),
        ),
        alt=(
            f"Of {plural(len(known), 'label')}, {count(len(worst))} lose clearly"
            + (f"; most: {listed} points." if worst else ".")
        ),
        caption=(
            "A label's own drop has no part of label frequencies. A cause is named where its interval keeps clear of "
            "zero "
            "and it makes up a fifth of the drop or more."
        ),
        notes=list_cut(len(known), ROWS_SHOWN),
    )


def draw_before_after(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return labels' drops before and after adaptation: GeoNet's figure 10; None without predictions after it."""
    if not subject.adapted:
        return None
    before, after = (Estimates(metrics, "drop", model=name) for name in (subject.model, subject.adapted))
    pairs = [
        (key.label, estimate, after.get(region=subject.target, label=key.label))
        for key, estimate in before
        if key.region == subject.target and estimate.n
    ]
    pairs = [(label, one, other) for label, one, other in pairs if other.n]
    if not pairs:
        return None
    pairs.sort(key=lambda pair: (pair[0] is not None, -pair[1].value, str(pair[0])))
    shown = pairs[: ROWS_SHOWN + 1]
    ends = [end for _, one, other in shown for part in (one, other) for end in (part.value, part.low, part.high)]
    plot = RowPlot(
        rows=tuple(_make_pair(label or "All labels", one, other, whole=label is None) for label, one, other in shown),
        axis=make_symmetric_axis([min(1.0, max(-1.0, end)) for end in ends if math.isfinite(end)]),
        axis_title=AXIS_TITLE,
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        legend=(
            LegendItem(text=f"before: {subject.model}", css="mark-0", shape="circle"),
            LegendItem(text=f"after: {subject.adapted}", css="mark-1", shape="square"),
        ),
        head=("Label", "Drop (95% interval)"),
        zero=True,
        css="regions",
    )
    own = [(one.value, other.value) for label, one, other in pairs if label is not None]
    better = sum(other < one for one, other in own)
    whole = next(((one, other) for label, one, other in pairs if label is None), None)
    text = f"Adaptation makes the drop smaller for {count(better)} of {plural(len(own), 'label')}."
    if whole:
        text = f"The drop is {points(whole[0].value)} points before and {points(whole[1].value)} after. {text}"
    return make_row_figure(
        plot,
        name="before_after",
        title="Before and after adaptation",
        subtitle=f"Drop from {subject.source} to {subject.target}",
        table=DataTable(
            fields=(
                Field(title="Label"),
                *(Field(title=f"{what}, points", form="signed") for what in ("Before", "After", "Change")),
            ),
            rows=tuple(
                (label or "All labels", one.value, other.value, other.value - one.value) for label, one, other in pairs
            ),
        ),
        alt=text,
        caption="If adaptation mended a region, its squares would lie nearer zero than the circles.",
        notes=list_cut(len(own), ROWS_SHOWN),
    )


def _make_row(row: dict[str, object], drop: Estimate) -> Row:
    clear = drop.low > 0 or drop.high < 0
    css = "mark-0" if clear else "mark-thin"
    name = str(row["label"])
    return Row(
        name=name,
        detail=f"{count(int(str(row['n_source'])))} and {count(int(str(row['n_target'])))} images",
        marks=(
            Span(low=max(-1.0, drop.low), high=min(1.0, drop.high), css=f"{css} interval"),
            Point(at=drop.value, css=css, tip=f"{name}: {points_interval(drop, signed=True)}"),
        ),
        lines=(Line(text=points_interval(drop, signed=True)), Line(text=str(row["verdict"]), css="p-text")),
        css="" if clear else "thin",
    )


def _make_pair(name: str, before: Estimate, after: Estimate, *, whole: bool) -> Row:
    marks: list[Mark] = []
    lines: list[Line] = []
    for estimate, css, shape, shift in zip(
        (before, after), ("mark-0", "mark-1"), ("circle", "square"), spread_shifts(2), strict=True
    ):
        marks.append(
            Span(low=max(-1.0, estimate.low), high=min(1.0, estimate.high), css=f"{css} interval", shift=shift)
        )
        marks.append(Point(at=estimate.value, css=css, shape=shape, shift=shift))
        lines.append(Line(text=points_interval(estimate, signed=True), css=css, shape=shape))
    return Row(name=name, marks=tuple(marks), lines=tuple(lines), css="whole" if whole else "")
