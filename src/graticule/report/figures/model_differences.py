"""Two models on the same images: the difference of their accuracies, region by region, with its interval."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.cards import Card, draw_cards, write_cards_html
from graticule.report.drawing.marks import Point, Span
from graticule.report.drawing.rows import Line, Row, RowPlot
from graticule.report.drawing.scales import Axis, make_symmetric_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import p_value, points, points_interval

GROUPS_SHOWN = 40
LEVEL = 0.05


def draw_model_differences(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the paired differences between the first model and each other one; None for a single model."""
    first, others = models[0], models[1:]
    differences = Estimates(metrics, "paired_difference", model=first)
    tests = Estimates(metrics, "mcnemar_p", model=first)
    others = tuple(other for other in others if differences.get(group=other).n > 0)
    if not others:
        return None
    keys = [None, *groups.keys[:GROUPS_SHOWN]]
    ends = [
        end
        for other in others
        for key in keys
        for estimate in [differences.get(region=key, group=other)]
        for end in (estimate.value, *(() if key in groups.thin else (estimate.low, estimate.high)))
    ]
    axis = make_symmetric_axis(ends)
    cards = [
        _make_card(other, first=first, keys=keys, axis=axis, groups=groups, differences=differences, tests=tests)
        for other in others
    ]
    title = f"Paired differences by {groups.one}"
    body, height = draw_cards(cards, n_columns=1)
    subtitle = f"Accuracy of {first} minus that of the other model on the same images, {groups.confidence} interval"
    return Figure(
        name="model_differences",
        title=title,
        svg=write_sheet(body, title=title, subtitle=subtitle, width=SHEET_WIDTH, height=height),
        inline=write_cards_html(cards, wide=True),
        table=_make_table(others, groups=groups, differences=differences, tests=tests),
        alt=_describe(others, first=first, differences=differences, tests=tests),
        caption=(
            f"Right of zero, {first} is better on the same images; left, the other model. p is McNemar's test, "
            "which looks only at images that one model gets right and the other wrong."
        ),
    )


def _make_card(
    other: str,
    *,
    first: str,
    keys: list[str | None],
    axis: Axis,
    groups: Groups,
    differences: Estimates,
    tests: Estimates,
) -> Card:
    rows: list[Row] = []
    for key in keys:
        estimate = differences.get(region=key, group=other)
        if estimate.n == 0:
            continue
        thin = key in groups.thin
        css = "mark-thin" if thin else "mark-2"
        name = f"All {groups.many}" if key is None else groups.name(key)
        p = tests.get(region=key, group=other).value
        rows.append(
            Row(
                name=name,
                marks=(
                    Span(low=estimate.low, high=estimate.high, css=f"{css} interval"),
                    Point(at=estimate.value, css=css, shape="diamond" if key is None else "circle"),
                ),
                lines=(Line(text=points_interval(estimate, signed=True)), Line(text=f"p {p_value(p)}", css="p-text")),
                css="whole" if key is None else "thin" if thin else "",
            )
        )
    plot = RowPlot(
        rows=tuple(rows),
        axis=axis,
        axis_title=f"← {other} is better   ·   percentage points   ·   {first} is better →",
        write_tick=lambda value: points(value, signed=True).removesuffix(".0"),
        head=("", f"Points ({groups.confidence} interval), p"),
        css="differences",
        zero=True,
        abreast=True,
    )
    return Card(key=other, title=f"{first} minus {other}", detail="", plot=plot)


def _make_table(others: tuple[str, ...], *, groups: Groups, differences: Estimates, tests: Estimates) -> DataTable:
    rows = [
        (
            other,
            "all" if key is None else groups.name(key),
            estimate.value,
            estimate.low,
            estimate.high,
            tests.get(region=key, group=other).value,
            float(estimate.n),
        )
        for other in others
        for key in [None, *groups.keys]
        for estimate in [differences.get(region=key, group=other)]
        if estimate.n > 0
    ]
    return DataTable(
        fields=(
            Field(title="Other model"),
            Field(title=groups.one.capitalize()),
            Field(title="Difference, points", form="signed"),
            Field(title="Low", form="signed"),
            Field(title="High", form="signed"),
            Field(title="p (McNemar)", form="p"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(others: tuple[str, ...], *, first: str, differences: Estimates, tests: Estimates) -> str:
    return " ".join(
        _compare(first, other, estimate=differences.get(group=other), p=tests.get(group=other).value)
        for other in others
    )


def _compare(first: str, other: str, *, estimate: Estimate, p: float) -> str:
    if not p < LEVEL:
        return (
            f"{first} and {other} cannot be told apart on the same images: they differ by "
            f"{points_interval(estimate, signed=True)} points, p {p_value(p)}."
        )
    better, worse = (first, other) if estimate.value > 0 else (other, first)
    ends = sorted((abs(estimate.low), abs(estimate.high)))
    return (
        f"On the same images {better} is right more often than {worse}, by {points(abs(estimate.value))} points "
        f"({points(ends[0])} to {points(ends[1])}), p {p_value(p)}."
    )
