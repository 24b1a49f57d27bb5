"""What a model looked at where it failed: pictures, and how much of its attention lies on the object."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import make_row_figure
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import percent_interval, plural

METRIC, AREA = "saliency_on_foreground", "foreground_area"
OUTCOMES = ("right", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A failure: the photo and the same with what the model looked at, as data URIs."""

    image_id: str
    region: str
    label: str
    predicted: str
    photo: str
    overlay: str
    share: str
    """Share of the saliency on the object, in words; empty without a mask."""


def draw_saliency_shares(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the share of saliency on the object for right and wrong images; None without masks."""
    found = Estimates(metrics, METRIC, model=subject.model)
    sides = [side for side in (subject.source, subject.target) if found.get(region=side, group="all").n]
    if not sides:
        return None
    area = Estimates(metrics, AREA, model=subject.model)
    rows = [
        SeriesRow(
            name=side,
            detail=f"objects cover {percent_interval(area.get(region=side))} of the images",
            estimates=tuple(found.get(region=side, group=outcome) for outcome in OUTCOMES),
        )
        for side in sides
    ]
    plot = plot_series(
        rows, series=OUTCOMES, head="Region", axis_title="Share of saliency on the object", confidence="95%"
    )
    n = sum(found.get(region=side, group="all").n for side in sides)
    told = "; ".join(
        f"in {side} {percent_interval(found.get(region=side, group='right'))} where the model is right and "
        f"{percent_interval(found.get(region=side, group='wrong'))} where it is wrong"
        for side in sides
    )
    return make_row_figure(
        plot,
        name="saliency_shares",
        title="Does it look at the object?",
        subtitle=f"{subject.model}; bars: 95% intervals",
        table=DataTable(
            fields=(
                Field(title="Region"),
                Field(title="Outcome"),
                Field(title="On the object", form="percent"),
                Field(title="Low", form="percent"),
                Field(title="High", form="percent"),
                Field(title="Images", form="count"),
            ),
            rows=tuple(
                (side, outcome, one.value, one.low, one.high, float(one.n))
                for side in sides
                for outcome in (*OUTCOMES, "all")
                for one in [found.get(region=side, group=outcome)]
            ),
        ),
        alt=f"Of {plural(n, 'image')}, the share of saliency on the object is {told}.",
        caption="A model that looks evenly at the whole image would have the share that the object covers.",
    )
