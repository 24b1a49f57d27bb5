"""Accuracy on a map of the world; areas are true, so that no region looks larger than it is."""

from __future__ import annotations

import math

import polars as pl

from graticule.geo.shapes import load_shapes
from graticule.report.drawing.legend import draw_step_legend, write_key_notes, write_step_legend
from graticule.report.drawing.markup import number, tag
from graticule.report.drawing.scales import Bins, make_bins
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.drawing.world import Territory, draw_world_sheet, write_world_html
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, percent_interval, percent_tick, plural

STEPS = 7
LABELLED = 10
"""Up to this many groups have their numbers written on the map."""
LEGEND_HEIGHT = 46.0


def draw_world_map(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the map of a model's accuracies; None where no countries are known."""
    model = models[0]
    mapped = [key for key in groups.keys if groups.countries.get(key)]
    if not mapped:
        return None
    accuracy = Estimates(metrics.filter(pl.col("label").is_null()), "accuracy", model=model)
    judged = [accuracy.get(region=key).value for key in mapped if key not in groups.thin]
    bins = make_bins(judged or [0.0, 1.0], limit=STEPS)
    territories = tuple(_make_territory(key, groups=groups, accuracy=accuracy, bins=bins) for key in mapped)
    shapes = load_shapes(assignments=groups.disputed_areas)
    labelled = len(mapped) <= LABELLED
    title = f"Accuracy by {groups.one} on the map"
    alt = _describe(mapped, groups=groups, accuracy=accuracy, model=model)
    drawn, height = draw_world_sheet(shapes, territories, width=SHEET_WIDTH, labelled=labelled)
    legend, _ = draw_step_legend(bins, x=80.0, y=0.0, write_edge=percent_tick)
    head = tag("text", {"x": 0, "y": 11, "class": "detail-text"}, "Accuracy") + legend
    body = head + tag("g", {"transform": f"translate(0 {number(LEGEND_HEIGHT)})"}, drawn)
    notes = [("hatch-key", "no images"), ("thin", f"fewer than {groups.min_images} images")]
    return Figure(
        name="world_map",
        title=title,
        svg=write_sheet(
            body,
            title=title,
            subtitle=f"{model}; hatched: no images, or too few to judge",
            width=SHEET_WIDTH,
            height=height + LEGEND_HEIGHT,
        ),
        inline=write_step_legend(
            bins, write_edge=percent_tick, title="Accuracy", notes=write_key_notes(notes if groups.thin else notes[:1])
        )
        + write_world_html(shapes, territories, title=alt, labelled=labelled),
        table=_make_table(mapped, groups=groups, accuracy=accuracy),
        alt=alt,
        caption=(
            f"The stronger the colour, the lower the accuracy. All countries of a {groups.one} have its colour, those "
            "without images too; the Equal Earth projection shows areas true to scale."
            if groups.one != "country"
            else "The stronger the colour, the lower the accuracy. Countries without images are hatched; the Equal "
            "Earth projection shows areas true to scale."
        ),
        notes=_list_unmapped(groups),
    )


def _make_territory(key: str, *, groups: Groups, accuracy: Estimates, bins: Bins) -> Territory:
    estimate = accuracy.get(region=key)
    name = groups.name(key)
    thin = key in groups.thin
    few = ", too few to judge" if thin else ""
    return Territory(
        name=name,
        text=percent(estimate.value),
        tip=f"{name}: {percent_interval(estimate)}, {plural(estimate.n, 'image')}{few}.",
        countries=groups.countries[key],
        step=bins.step(bins.find(estimate.value)) if math.isfinite(estimate.value) else None,
        thin=thin,
    )


def _make_table(mapped: list[str], *, groups: Groups, accuracy: Estimates) -> DataTable:
    rows = [
        (groups.name(key), estimate.value, estimate.low, estimate.high, float(estimate.n))
        for key in mapped
        for estimate in [accuracy.get(region=key)]
    ]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            Field(title="Accuracy", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(mapped: list[str], *, groups: Groups, accuracy: Estimates, model: str) -> str:
    judged = sorted(
        (accuracy.get(region=key).value, key)
        for key in mapped
        if key not in groups.thin and math.isfinite(accuracy.get(region=key).value)
    )
    if not judged:
        return f"{model}: no {groups.one} on the map has {count(groups.min_images)} images or more."
    lowest = ", ".join(f"{groups.name(key)} ({percent(value)})" for value, key in judged[:3])
    low_value, high_value = judged[0][0], judged[-1][0]
    return (
        f"{model}: accuracy on the map goes from {percent(low_value)} to {percent(high_value)}; lowest are {lowest}."
        if len(judged) > 3
        else f"{model}: accuracy on the map goes from {percent(low_value)} to {percent(high_value)}."
    )


def _list_unmapped(groups: Groups) -> tuple[str, ...]:
    missing = [groups.name(key) for key in groups.keys if not groups.countries.get(key)]
    if not missing:
        return ()
    listed = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    return (f"Not on the map, for no countries are known: {listed}.",)
