"""Accuracy of groups of labels in both regions, largest drop first: GeoNet's figure 5."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import list_cut, make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import plural, points_interval, spell

ROWS_SHOWN = 40


def draw_superclasses(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the groups' accuracies; None where no groups were given."""
    accuracy = Estimates(metrics, "superclass_accuracy", model=subject.model)
    drops = Estimates(metrics, "superclass_drop", model=subject.model)
    names = [key.group for key, _ in drops if key.group]
    if not names:
        return None
    sides = (subject.source, subject.target)
    shown = names[:ROWS_SHOWN]
    plot = plot_series(
        [
            SeriesRow(
                name=name,
                detail=f"drop {points_interval(drops.get(region=subject.target, group=name), signed=True)}",
                estimates=tuple(accuracy.get(region=side, group=name) for side in sides),
            )
            for name in shown
        ],
        series=sides,
        head="Group of labels",
        axis_title="Accuracy",
        confidence="95%",
    )
    worst = drops.get(region=subject.target, group=names[0])
    return make_row_figure(
        plot,
        name="superclasses",
        title="By group of labels",
        subtitle=f"{subject.model}; largest drop first",
        table=DataTable(
            fields=(
                Field(title="Group"),
                Field(title=subject.source, form="percent"),
                Field(title=subject.target, form="percent"),
                Field(title="Drop, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
                Field(title="Images", form="count"),
            ),
            rows=tuple(
                (
                    name,
                    *(accuracy.get(region=side, group=name).value for side in sides),
                    drops.get(region=subject.target, group=name).value,
                    drops.get(region=subject.target, group=name).low,
                    drops.get(region=subject.target, group=name).high,
                    float(drops.get(region=subject.target, group=name).n),
                )
                for name in names
            ),
        ),
        alt=f"Of {plural(len(names), 'group')}, {spell(names[0])} loses most: {points_interval(worst)} points.",
        caption="Within a group every image counts alike.",
        notes=list_cut(len(names), ROWS_SHOWN),
    )
