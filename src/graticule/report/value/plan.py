"""What to buy next: quotas as a grid, learning curves by region, and what the plan should give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from graticule.report.drawing.grid import Cell, Grid, GridRow, draw_grid, write_grid_html
from graticule.report.drawing.scales import Bins
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import make_row_figure
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.statistics.numbers import shorten_count
from graticule.report.value.curve_figure import CurvePanel, make_curve_figure, make_image_axis
from graticule.report.value.read_curves import read_curve
from graticule.report.wording import count, plural, points_interval, spell

ROWS_SHOWN = 100
FEW = 10


def draw_quotas(metrics: pl.DataFrame, regions: Sequence[str], labels: Sequence[str]) -> Figure:
    """Return the quotas of every label and region as a grid."""
    quotas = Estimates(metrics, "quota", model=None)
    have = Estimates(metrics, "images", model=None)
    value = {(label, region): quotas.get(region=region, label=label).value for label in labels for region in regions}
    ordered = sorted(labels, key=lambda label: (-sum(value[label, region] for region in regions), label))
    steps = make_image_axis(list(value.values()), is_log=False).ticks
    grid = Grid(
        rows=tuple(
            GridRow(
                name=label,
                cells=tuple(_make_cell(value[label, region]) for region in regions),
                sums=(count(sum(value[label, region] for region in regions)),),
                keys=(sum(value[label, region] for region in regions),),
            )
            for label in ordered[:ROWS_SHOWN]
        ),
        columns=tuple(spell(region) for region in regions),
        column_keys=tuple(regions),
        sums=("All",),
        corner="Label",
        bins=Bins(edges=tuple(-edge for edge in reversed(steps))),
        write_edge=lambda edge: shorten_count(abs(edge)),
        legend_title="Images to buy",
        thin_text=f"fewer than {FEW}",
    )
    most = max(value, key=lambda cell: (value[cell], cell))
    body, height = draw_grid(grid)
    title = "Images to buy, by label and region"
    return Figure(
        name="quotas",
        title=title,
        svg=write_sheet(body, title=title, subtitle="labels with most first", width=SHEET_WIDTH, height=height),
        inline=write_grid_html(grid, title=title),
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title="Region"),
                Field(title="There are", form="count"),
                Field(title="To buy", form="count"),
            ),
            rows=tuple(
                (label, region, have.get(region=region, label=label).value, value[label, region])
                for label in ordered
                for region in regions
            ),
        ),
        alt=f"Most are of {spell(most[0])} in {spell(most[1])}: {plural(value[most], 'image')}.",
        caption="The same numbers stand in quotas.csv and quotas.yaml, for a collection campaign.",
        notes=(f"The first {ROWS_SHOWN} of {count(len(ordered))} labels are drawn.",)
        if len(ordered) > ROWS_SHOWN
        else (),
    )


def _make_cell(number: float) -> Cell:
    """Return a cell, its colour the stronger the more is to be bought: the scale runs downwards, so it is negated."""
    return Cell(value=-number if number else math.nan, text=count(number), thin=0 < number < FEW, facts="")


def draw_expected(metrics: pl.DataFrame, regions: Sequence[str]) -> Figure:
    """Return the expected accuracy of every region before and after the purchase."""
    now, then, gain = (
        Estimates(metrics, name, model=None) for name in ("accuracy_now", "accuracy_then", "accuracy_gain")
    )
    keys: list[tuple[str, str | None, str | None]] = [(region, region, None) for region in regions]
    keys += [("Worst region", None, "worst region"), ("Mean of regions", None, "mean of regions")]
    found = [
        (name, *(part.get(region=region, group=group) for part in (now, then, gain))) for name, region, group in keys
    ]
    plot = plot_series(
        [
            SeriesRow(name=name, detail=f"{points_interval(gained, signed=True)} points", estimates=(before, after))
            for name, before, after, gained in found
        ],
        series=("with what there is", "with what the plan buys"),
        head="Region",
        axis_title="Expected accuracy, labels alike",
        confidence="95%",
    )
    worst = gain.get(group="worst region")
    return make_row_figure(
        plot,
        name="expected",
        title="What the purchase should give",
        subtitle="from the fitted learning curves",
        table=DataTable(
            fields=(
                Field(title="Region"),
                Field(title="Now", form="percent"),
                Field(title="Then", form="percent"),
                Field(title="Gain, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
            ),
            rows=tuple(
                (name, before.value, after.value, gained.value, gained.low, gained.high)
                for name, before, after, gained in found
            ),
        ),
        alt=f"The worst region should gain {points_interval(worst, signed=True)} points.",
        caption="Each label of a region counts alike. Ranges come from drawing trials and test images again.",
    )


def draw_learning_curves(metrics: pl.DataFrame, regions: Sequence[str]) -> Figure:
    """Return the learning curve of every region, all cells growing in proportion."""
    rows = metrics.filter(pl.col("metric") == "learning_curve")
    curves = {region: read_curve(rows.filter(pl.col("region") == region), name="fitted") for region in regions}
    last = {region: curve.estimates[-1].value - curve.estimates[2].value for region, curve in curves.items()}
    steepest = max(last, key=lambda region: last[region])
    return make_curve_figure(
        [CurvePanel(title=region, detail="", curves=(curve,)) for region, curve in curves.items()],
        name="learning_curves",
        title="Expected accuracy by number of images",
        subtitle="all regions and labels growing in proportion, from a quarter to four times what there is",
        legend=("fitted curve with 95% range",),
        x_title="training images of the region (logarithmic)",
        alt=f"With four times the images {spell(steepest)} would still gain most.",
        caption="Points right of the middle one are beyond what was tried: the curve is drawn on as it began.",
        is_log=True,
    )
