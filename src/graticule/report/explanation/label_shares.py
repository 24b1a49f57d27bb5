"""Labels' shares in both regions, and what is estimated of the target's from predictions alone."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.marks import Mark, Point, Span, Tick
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.scales import make_axis
from graticule.report.estimates import Estimate, Estimates
from graticule.report.explanation.row_figure import list_cut, make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import percent, percent_interval, percent_tick

ROWS_SHOWN = 30
METHODS = ("bbse", "rlls", "mlls")


def draw_label_shares(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the shares of labels, those that differ most first; None where there are none."""
    real = Estimates(metrics, "label_share", model=None)
    guesses = Estimates(metrics, "estimated_label_share", model=subject.model)
    errors = Estimates(metrics, "estimated_share_error", model=subject.model)
    labels = [key.label for key, _ in real if key.region == subject.target and key.label]
    if not labels:
        return None
    methods = [name for name in METHODS if errors.get(region=subject.target, group=name).n]
    best = min(methods, key=lambda name: errors.get(region=subject.target, group=name).value, default="")

    def find(label: str) -> tuple[Estimate, Estimate, Estimate]:
        return (
            real.get(region=subject.source, label=label),
            real.get(region=subject.target, label=label),
            guesses.get(region=subject.target, label=label, group=best),
        )

    labels.sort(key=lambda label: (-abs(find(label)[0].value - find(label)[1].value), label))
    shown = labels[:ROWS_SHOWN]
    ends = [end for label in shown for part in find(label) for end in (part.value, part.high)]
    legend = [
        LegendItem(text=f"{subject.source}, real", css="mark-0", kind="tick"),
        LegendItem(text=f"{subject.target}, real", css="mark-1", shape="square"),
    ]
    if best:
        legend.append(LegendItem(text=f"{subject.target}, estimated ({best})", css="mark-2", shape="diamond"))
    plot = RowPlot(
        rows=tuple(_make_row(label, *find(label), estimated=bool(best)) for label in shown),
        axis=make_axis(ends),
        axis_title="Share of a region's images",
        write_tick=percent_tick,
        legend=tuple(legend),
        head=("Label", "Real, estimated (95% interval)"),
        css="regions",
    )
    apart = Estimates(metrics, "label_total_variation", model=None).get(region=subject.target)
    told = ", ".join(f"{name} {percent(errors.get(region=subject.target, group=name).value)}" for name in methods)
    return make_row_figure(
        plot,
        name="label_shares",
        title="How frequent the labels are",
        subtitle="Labels whose shares differ most first",
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title=subject.source, form="percent"),
                Field(title=subject.target, form="percent"),
                *(Field(title=f"Estimated, {name}", form="percent") for name in methods),
            ),
            rows=tuple(
                (
                    label,
                    find(label)[0].value,
                    find(label)[1].value,
                    *(guesses.get(region=subject.target, label=label, group=name).value for name in methods),
                )
                for label in labels
            ),
        ),
        alt=(
            f"Between the regions' real shares lies a total variation of {percent(apart.value)}. Estimates of "
            f"{subject.target}'s shares that look at no label there miss them by {told}."
        ),
        caption=(
            "Estimates without the target's labels assume that images of a label look the same in both regions. Where "
            "they miss by more than the regions differ, that does not hold here, and they should not be used."
        ),
        notes=list_cut(len(labels), ROWS_SHOWN),
    )


def _make_row(label: str, source: Estimate, target: Estimate, guess: Estimate, *, estimated: bool) -> Row:
    marks: list[Mark] = [
        Tick(at=source.value, css="mark-0"),
        Point(at=target.value, css="mark-1", shape="square", tip=f"{label}: {percent_interval(target)}"),
    ]
    lines = [Line(text=percent(target.value), css="mark-1", shape="square")]
    if estimated:
        marks.insert(0, Span(low=guess.low, high=guess.high, css="mark-2 interval"))
        marks.append(Point(at=guess.value, css="mark-2", shape="diamond"))
        lines.append(Line(text=percent_interval(guess), css="mark-2", shape="diamond"))
    return Row(name=label, marks=tuple(marks), lines=tuple(lines), detail=f"{percent(source.value)} in the source")
