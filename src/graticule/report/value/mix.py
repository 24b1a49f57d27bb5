"""Mixes at a fixed budget: accuracy as regional images come in, and what each label gains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from graticule.report.drawing.marks import Point, Span
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.scales import make_symmetric_axis
from graticule.report.estimates import Estimate, Estimates
from graticule.report.explanation.row_figure import make_row_figure
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.value.curve_figure import CurvePanel, make_curve_figure
from graticule.report.value.read_curves import read_curve
from graticule.report.wording import count, points, points_interval, spell

PLACES = {"region": "in the region itself", "control": "in the control region", "elsewhere": "elsewhere"}
ROWS_SHOWN = 60


def draw_mix_curves(metrics: pl.DataFrame, regions: Sequence[str], *, source: str, control: str) -> Figure | None:
    """Return a panel a region whose images came in."""
    rows = metrics.filter(pl.col("metric") == "mix_accuracy")
    panels: list[CurvePanel] = []
    gains: dict[str, float] = {}
    for region in regions:
        own = rows.filter(pl.col("region") == region)
        curves = tuple(
            read_curve(part, name=name)
            for place, name in PLACES.items()
            for part in [own.filter(pl.col("group") == place)]
            if part.height
        )
        if not curves:
            continue
        inside = curves[0].estimates
        gains[region] = inside[-1].value - inside[0].value
        panels.append(
            CurvePanel(title=region, detail=f"{points(gains[region], signed=True)} points there", curves=curves)
        )
    if not panels:
        return None
    most, least = max(gains, key=lambda region: gains[region]), min(gains, key=lambda region: gains[region])
    return make_curve_figure(
        panels,
        name="mix_curves",
        title="Source images replaced by regional ones",
        subtitle=f"Source: {source}; control region: {control}; mean over seeds with 95% intervals",
        legend=tuple(PLACES.values()),
        x_title="regional images among the training images",
        alt=(
            f"Accuracy in {spell(most)} changes by {points(gains[most], signed=True)} points."
            if len(gains) == 1
            else f"Accuracy in the region itself rises most in {spell(most)} ({points(gains[most], signed=True)}) "
            f"and least in {spell(least)} ({points(gains[least], signed=True)})."
        ),
        caption=(
            "The number of training images and each label's share stay the same from left to right. What the control "
            "region gains too is not the region's own doing."
        ),
    )


def draw_gains(metrics: pl.DataFrame, region: str) -> Figure | None:
    """Return what each label's average precision gained in a region, most first."""
    gains = Estimates(metrics, "average_precision_gain", model=None)
    paper = Estimates(metrics, "average_precision_gain_median", model=None)
    before = Estimates(metrics, "average_precision_before", model=None)
    relative = Estimates(metrics, "average_precision_gain_relative", model=None)
    labels = [key.label for key, gain in gains if key.region == region and key.label and math.isfinite(gain.value)]
    if not labels:
        return None

    def get(found: Estimates, label: str) -> Estimate:
        return found.get(region=region, label=label)

    labels.sort(key=lambda label: (-get(relative, label).value, label))
    ends = [end for label in labels for gain in [get(gains, label)] for end in (gain.low, gain.high)]
    ends += [end for label in labels for gain in [get(paper, label)] for end in (gain.low, gain.high)]
    plot = RowPlot(
        rows=tuple(_make_row(label, get(gains, label), get(paper, label)) for label in labels[:ROWS_SHOWN]),
        axis=make_symmetric_axis(ends),
        axis_title="Gain in average precision, points",
        write_tick=lambda value: points(value, signed=True),
        legend=(
            LegendItem(text="gain with percentile interval", css="mark-0"),
            LegendItem(text="median of the draws ± 2 standard deviations", css="mark-1", shape="square"),
        ),
        head=("Label", "Gain (95% interval)"),
        css="regions",
        zero=True,
    )
    return make_row_figure(
        plot,
        name=f"gains-{_slug(region)}",
        title=f"What labels gain from images of {region}",
        subtitle="Average precision in the region, last step against first; largest gain in proportion first",
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title="Before", form="percent"),
                Field(title="Gain, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
                Field(title="Gain in proportion", form="percent"),
                Field(title="Test images", form="count"),
            ),
            rows=tuple(
                (
                    label,
                    get(before, label).value,
                    get(gains, label).value,
                    get(gains, label).low,
                    get(gains, label).high,
                    get(relative, label).value,
                    float(get(gains, label).n),
                )
                for label in labels
            ),
        ),
        alt=(
            f"{spell(labels[0])} gains most in proportion: {points_interval(get(gains, labels[0]), signed=True)} "
            f"points of average precision. {sum(get(gains, label).low > 0 for label in labels)} of "
            f"{count(len(labels))} labels gain more than chance would give."
        ),
        caption="The test images were drawn again, and an interval is read off the draws in two ways.",
        notes=(f"The first {ROWS_SHOWN} of {count(len(labels))} labels are drawn.",)
        if len(labels) > ROWS_SHOWN
        else (),
    )


def _make_row(label: str, gain: Estimate, paper: Estimate) -> Row:
    return Row(
        name=label,
        marks=(
            Span(low=gain.low, high=gain.high, css="mark-0 interval", shift=-5.0),
            Point(at=gain.value, css="mark-0", shift=-5.0, tip=f"{label}: {points_interval(gain, signed=True)} points"),
            Span(low=paper.low, high=paper.high, css="mark-1 interval", shift=6.0),
            Point(
                at=paper.value,
                css="mark-1",
                shape="square",
                shift=6.0,
                tip=f"{label}: {points_interval(paper, signed=True)} points",
            ),
        ),
        lines=(
            Line(
                text=points(gain.value, signed=True),
                detail=f"({points(gain.low, signed=True)} to {points(gain.high, signed=True)})",
            ),
        ),
    )


def _slug(text: str) -> str:
    return (
        "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in text.lower()).strip("-")
        or "region"
    )
