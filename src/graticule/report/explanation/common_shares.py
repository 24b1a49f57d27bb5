"""Accuracies of both regions as they are and with their labels weighed alike: GeoNet's table 3 as a picture."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import percent, points_interval

WAYS = {
    "own": ("As they are", "each region's own shares of labels"),
    "balanced": ("Balanced", "every label the same; labels with few images left out"),
    "matched": ("Matched", "of each label as many as the region with fewer has"),
    "source": ("Source's shares", "both regions with the source's shares"),
    "target": ("Target's shares", "both regions with the target's shares"),
}


def draw_common_shares(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return both regions' accuracies under common shares of labels; None where they were not measured."""
    accuracy = Estimates(metrics, "weighed_accuracy", model=subject.model)
    drops = Estimates(metrics, "weighed_drop", model=subject.model)
    ways = [way for way in WAYS if drops.get(region=subject.target, group=way).n]
    if not ways:
        return None
    sides = (subject.source, subject.target)
    rows = [
        SeriesRow(
            name=WAYS[way][0],
            detail=WAYS[way][1],
            estimates=tuple(accuracy.get(region=side, group=way) for side in sides),
        )
        for way in ways
    ]
    plot = plot_series(rows, series=sides, head="Labels weighed", axis_title="Accuracy", confidence="95%")
    own, matched = (drops.get(region=subject.target, group=way) for way in ("own", "matched"))
    apart = Estimates(metrics, "label_total_variation", model=None).get(region=subject.target)
    return make_row_figure(
        plot,
        name="common_shares",
        title="With labels weighed alike",
        subtitle=f"{subject.model}; bars: 95% intervals",
        table=DataTable(
            fields=(
                Field(title="Labels weighed"),
                Field(title=subject.source, form="percent"),
                Field(title=subject.target, form="percent"),
                Field(title="Drop, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
            ),
            rows=tuple(
                (
                    WAYS[way][0],
                    *(accuracy.get(region=side, group=way).value for side in sides),
                    drops.get(region=subject.target, group=way).value,
                    drops.get(region=subject.target, group=way).low,
                    drops.get(region=subject.target, group=way).high,
                )
                for way in ways
            ),
        ),
        alt=(
            f"{percent(apart.value)} of one region's images would need another label for both to have the same shares. "
            f"The drop is {points_interval(own)} points as the regions are and "
            f"{points_interval(matched)} with as many images of each label on both sides."
        ),
        caption=(
            "Where a drop shrinks once labels are weighed alike, the rest of it was a matter of which labels are "
            "frequent. “Balanced” is how GeoNet's table 3 compares, computed over all choices of images at once."
        ),
    )
