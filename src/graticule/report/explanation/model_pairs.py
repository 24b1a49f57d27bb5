"""Pairs of models on the same images: the difference of their accuracies, and McNemar's test."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.marks import Point, Span
from graticule.report.drawing.rows import Line, Row, RowPlot
from graticule.report.drawing.scales import make_symmetric_axis
from graticule.report.estimates import NAN, Estimates
from graticule.report.explanation.row_figure import list_cut, make_row_figure
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, p_value, plural, points, points_interval

PAIRS_SHOWN = 30
LEVEL = 0.05


def draw_model_pairs(metrics: pl.DataFrame, *, models: tuple[str, ...]) -> Figure | None:
    """Return the paired differences over all regions; None for a single model."""
    differences = {model: Estimates(metrics, "paired_difference", model=model) for model in models}
    tests = {model: Estimates(metrics, "mcnemar_p_holm", model=model) for model in models}
    drops = {model: Estimates(metrics, "paired_drop_difference", model=model) for model in models}
    pairs = [
        (model, other, differences[model].get(group=other), tests[model].get(group=other).value)
        for place, model in enumerate(models)
        for other in models[place + 1 :]
        if differences[model].get(group=other).n
    ]
    if not pairs:
        return None
    ends = [end for *_, one, _ in pairs for end in (one.value, one.low, one.high)]
    plot = RowPlot(
        rows=tuple(
            Row(
                name=model,
                detail=f"minus {other}",
                marks=(Span(low=one.low, high=one.high, css="mark-2 interval"), Point(at=one.value, css="mark-2")),
                lines=(
                    Line(text=points_interval(one, signed=True)),
                    Line(text=f"p {p_value(p)}", css="p-text"),
                ),
            )
            for model, other, one, p in pairs[:PAIRS_SHOWN]
        ),
        axis=make_symmetric_axis(ends),
        axis_title="← the second is better   ·   percentage points   ·   the first is better →",
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        head=("Pair", "Points (95% interval), p"),
        zero=True,
        css="regions",
    )
    clear = sum(p < LEVEL for *_, p in pairs)

    def find_drop(model: str, other: str) -> tuple[float, float, float]:
        found = next((one for key, one in drops[model] if key.group == other), None)
        return (found.value, found.low, found.high) if found else (NAN, NAN, NAN)

    return make_row_figure(
        plot,
        name="model_pairs",
        title="Pairs on the same images",
        subtitle="Over all regions; p: McNemar's mid-p, adjusted by Holm",
        table=DataTable(
            fields=(
                Field(title="Model"),
                Field(title="Other"),
                Field(title="Difference, points", form="signed"),
                Field(title="Low", form="signed"),
                Field(title="High", form="signed"),
                Field(title="p (Holm)", form="p"),
                Field(title="Difference of drops", form="signed"),
                Field(title="Drop low", form="signed"),
                Field(title="Drop high", form="signed"),
            ),
            rows=tuple(
                (model, other, one.value, one.low, one.high, p, *find_drop(model, other))
                for model, other, one, p in pairs
            ),
        ),
        alt=f"{count(clear)} of {plural(len(pairs), 'pair')} can be told apart on the same images.",
        caption="McNemar's test looks only at images that one model gets right and the other wrong.",
        notes=list_cut(len(pairs), PAIRS_SHOWN),
    )
