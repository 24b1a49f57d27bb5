"""The parts of a drop: what label frequencies, backgrounds, designs and the rest have done."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.marks import Point, Span
from graticule.report.drawing.rows import Line, Row, RowPlot
from graticule.report.drawing.scales import make_symmetric_axis
from graticule.report.estimates import Estimate, Estimates
from graticule.report.explanation.row_figure import make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import points, points_interval

NAMES = {
    "prior": ("Label frequencies", "prior: other labels are common"),
    "context": ("Backgrounds", "context: what is around it"),
    "design": ("Look of the objects", "design: the thing itself"),
    "appearance": ("Look of the images", "context and design in one"),
    "rest": ("The rest", "in neither labels nor features"),
}
"""Part → its name and what it is."""


def draw_parts(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the parts of the drop; None where it was not split."""
    whole = metrics.filter(pl.col("label").is_null())
    parts = Estimates(whole, "drop_part", model=subject.model)
    found = [(cause, parts.get(region=subject.target, group=cause)) for cause in NAMES]
    found = [(cause, estimate) for cause, estimate in found if estimate.n]
    drop = Estimates(whole, "drop", model=subject.model).get(region=subject.target)
    if not found or not drop.n:
        return None
    rows = [_make_row("The whole drop", f"{subject.source} to {subject.target}", drop, css="mark-2", whole=True)]
    rows += [_make_row(*NAMES[cause], estimate, css="mark-0", whole=False) for cause, estimate in found]
    plot = RowPlot(
        rows=tuple(rows),
        axis=make_symmetric_axis([end for row in [drop, *(e for _, e in found)] for end in (row.low, row.high)]),
        axis_title="← more often right   ·   percentage points   ·   less often right →",
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        head=("", "Points (interval)"),
        zero=True,
        css="regions",
    )
    return make_row_figure(
        plot,
        name="drop_parts",
        title="What the drop is made of",
        subtitle=f"{subject.model}: from {subject.source} to {subject.target}; bars: intervals",
        table=DataTable(
            fields=(
                Field(title="Part"),
                Field(title="Points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
                Field(title="Share of the drop", form="percent"),
            ),
            rows=tuple(
                (name, part.value, part.low, part.high, part.value / drop.value if drop.value else float("nan"))
                for name, part in [("The whole drop", drop), *((NAMES[cause][0], part) for cause, part in found)]
            ),
        ),
        alt=_describe(drop, found),
        caption=(
            "The parts sum to the whole. Each is the mean effect of switching one cause from the source's way to the "
            "target's, over all orders of switching (Shapley). The parts' intervals hold together in 95 of 100 cases."
        ),
    )


def _make_row(name: str, detail: str, estimate: Estimate, *, css: str, whole: bool) -> Row:
    shape = "diamond" if whole else "circle"
    return Row(
        name=name,
        detail=detail,
        marks=(
            Span(low=estimate.low, high=estimate.high, css=f"{css} interval"),
            Point(at=estimate.value, css=css, shape=shape, tip=f"{name}: {points_interval(estimate, signed=True)}"),
        ),
        lines=(Line(text=points_interval(estimate, signed=True)),),
        css="whole" if whole else "",
    )


def _describe(drop: Estimate, found: list[tuple[str, Estimate]]) -> str:
    listed = ", ".join(f"{NAMES[cause][0].lower()} {points_interval(part, signed=True)}" for cause, part in found)
    return f"Of a drop of {points_interval(drop)} points: {listed}."
