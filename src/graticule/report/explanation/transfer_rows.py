"""Models by region, and what each is beyond the line: rows of dots."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from graticule.report.drawing.marks import Point, Span
from graticule.report.drawing.rows import Line, Row, RowPlot
from graticule.report.drawing.scales import make_symmetric_axis
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import list_cut, make_row_figure
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import plural, points, points_interval

MODELS_SHOWN = 40
REGIONS_SHOWN = 6


def draw_transfer(
    metrics: pl.DataFrame, *, models: tuple[str, ...], regions: tuple[str, ...], home: Mapping[str, str], by: str
) -> Figure | None:
    """Return every model's accuracy in every region: GeoNet's tables 2 and 6 as a picture."""
    top1 = {model: Estimates(metrics, "accuracy", model=model) for model in models}
    top5 = {model: Estimates(metrics, "top5_accuracy", model=model) for model in models}
    drops = {model: Estimates(metrics, "transfer_drop", model=model) for model in models}
    drawn = regions[:REGIONS_SHOWN]
    plot = plot_series(
        [
            SeriesRow(
                name=model,
                detail=f"trained in {home[model]}" if model in home else "",
                estimates=tuple(top1[model].get(region=region) for region in drawn),
            )
            for model in models[:MODELS_SHOWN]
        ],
        series=drawn,
        head="Model",
        axis_title="Top-1 accuracy",
        confidence="95%",
    )
    lost = [
        (key.region, estimate, model)
        for model in models
        for key, estimate in drops[model]
        if estimate.n and key.group and key.region
    ]
    worst = max(lost, key=lambda found: found[1].value, default=None)
    alt = f"{plural(len(models), 'model')} in {plural(len(regions), by)}."
    if worst is not None:
        alt += (
            f" {worst[2]} loses most from its home {home[worst[2]]} to {worst[0]}: {points_interval(worst[1])} points."
        )
    return make_row_figure(
        plot,
        name="transfer",
        title="Every model everywhere",
        subtitle="Bars: 95% intervals",
        table=DataTable(
            fields=(
                Field(title="Model"),
                Field(title="Trained in"),
                Field(title="Tested in"),
                Field(title="Top-1", form="percent"),
                Field(title="Top-5", form="percent"),
                Field(title="Drop, points", form="signed"),
                Field(title="Images", form="count"),
            ),
            rows=tuple(
                (
                    model,
                    home.get(model, ""),
                    region,
                    top1[model].get(region=region).value,
                    top5[model].get(region=region).value,
                    drops[model].get(region=region, group=home.get(model)).value,
                    float(top1[model].get(region=region).n),
                )
                for model in models
                for region in regions
            ),
        ),
        alt=alt,
        caption=f"Each mark is a {by}. A model's drop is its accuracy at home minus that elsewhere.",
        notes=list_cut(len(models), MODELS_SHOWN) + list_cut(len(regions), REGIONS_SHOWN),
    )


def draw_robustness(
    metrics: pl.DataFrame, *, models: tuple[str, ...], target: str, home: Mapping[str, str]
) -> Figure | None:
    """Return what each model is beyond the line; None where no line was fitted."""
    found = [
        (model, Estimates(metrics, "effective_robustness", model=model).get(region=target or None)) for model in models
    ]
    found = sorted([(model, one) for model, one in found if one.n], key=lambda pair: -pair[1].value)
    if not found:
        return None
    ends = [end for _, one in found for end in (one.value, one.low, one.high) if math.isfinite(end)]
    plot = RowPlot(
        rows=tuple(
            Row(
                name=model,
                marks=(
                    Span(low=one.low, high=one.high, css="mark-0 interval"),
                    Point(at=one.value, css="mark-0", tip=f"{model}: {points_interval(one, signed=True)}"),
                ),
                lines=(Line(text=points_interval(one, signed=True)),),
            )
            for model, one in found[:MODELS_SHOWN]
        ),
        axis=make_symmetric_axis(ends),
        axis_title="← less than promised   ·   percentage points   ·   more than promised →",
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        head=("Model", "Points (95% interval)"),
        zero=True,
        css="regions",
    )
    model, best = next(((name, one) for name, one in found if home.get(name) != target), found[0])
    return make_row_figure(
        plot,
        name="effective_robustness",
        title="Beyond what source accuracy promises",
        subtitle=f"Accuracy in {target} minus the line's; bars: 95% intervals",
        table=DataTable(
            fields=(
                Field(title="Model"),
                Field(title="Beyond the line, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
            ),
            rows=tuple((name, one.value, one.low, one.high) for name, one in found),
        ),
        alt=(
            f"Of those not trained in {target}, {model} is furthest above the line, by "
            f"{points_interval(best, signed=True)} points."
        ),
        caption="Intervals come from drawing the images again and fitting the line again; the models are as they are.",
        notes=list_cut(len(found), MODELS_SHOWN),
    )
