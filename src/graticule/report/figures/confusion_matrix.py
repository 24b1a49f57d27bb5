"""Every label against every prediction, over all images and region by region, for up to 60 labels."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.markup import join, tag
from graticule.report.drawing.matrix import EDGES, STEPS, Matrix, MatrixCell, draw_matrix, write_matrix_html
from graticule.report.drawing.sheet import write_sheet
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, percent_tick, spell

LABELS_LIMIT = 60
GROUPS_SHOWN = 12
ROWS_IN_TABLE = 60
SMALLEST_WIDTH = 620.0
LEGEND_HEIGHT = 44.0
SWATCH = 52.0


def draw_confusion_matrix(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the confusion matrices of a model; None where there are no predictions or more than 60 labels."""
    model = models[0]
    rows = metrics.filter((pl.col("metric") == "confusion") & (pl.col("model") == model))
    names = tuple(sorted(set(rows["label"].drop_nulls()) | set(rows["group"].drop_nulls())))
    if not 1 < len(names) <= LABELS_LIMIT:
        return None
    numbers = Estimates(metrics, "confusion", model=model)
    by_region = _read_matrices(numbers, names=names)
    if None not in by_region:
        return None
    shown: list[str | None] = [None, *(key for key in groups.keys if key in by_region)][: GROUPS_SHOWN + 1]
    title = "Confusion matrix"
    body, width, height = draw_matrix(by_region[None])
    subtitle = f"{model}, all {groups.many}; rows: label, columns: prediction; grey: right"
    legend = tag("g", {"transform": f"translate(0 {height + 16:.0f})"}, _draw_legend())
    parts = [
        write_matrix_html(
            by_region[key], key=_name(key, groups=groups), title=f"{title}, {model}, {_name(key, groups=groups)}"
        )
        for key in shown
    ]
    inline = tag("div", {"class": "matrices", "data-chooser": groups.one.capitalize()}, join(parts))
    cut = len(groups.keys) - (len(shown) - 1)
    return Figure(
        name="confusion_matrix",
        title=title,
        svg=write_sheet(
            body + legend,
            title=title,
            subtitle=subtitle,
            width=max(width, SMALLEST_WIDTH),
            height=height + LEGEND_HEIGHT,
        ),
        inline=_write_legend() + inline,
        table=_make_table(numbers, groups=groups),
        alt=_describe(numbers, groups=groups, model=model),
        caption=(
            "A row holds the images of one label, a column what was predicted; the diagonal (grey) is right. "
            "Strong colours "
            "are the label's usual mistakes. A strong column is a prediction that attracts images of many labels."
        ),
        notes=(f"Matrices are drawn for the {len(shown) - 1} {groups.many} with the lowest accuracy.",)
        if cut > 0
        else (),
    )


def _name(key: str | None, *, groups: Groups) -> str:
    return f"All {groups.many}" if key is None else groups.name(key)


def _read_matrices(numbers: Estimates, *, names: tuple[str, ...]) -> dict[str | None, Matrix]:
    places = {name: place for place, name in enumerate(names)}
    cells: dict[str | None, list[MatrixCell]] = {}
    sizes: dict[str | None, list[int]] = {}
    for key, estimate in numbers:
        if key.label is None or key.group is None or not estimate.value > 0:
            continue
        cell = MatrixCell(row=places[key.label], column=places[key.group], share=estimate.value)
        cells.setdefault(key.region, []).append(cell)
        sizes.setdefault(key.region, [0] * len(names))[cell.row] = estimate.n
    return {
        region: Matrix(names=names, cells=tuple(found), row_sizes=tuple(sizes[region]))
        for region, found in cells.items()
    }


def _list_steps() -> list[tuple[int, str]]:
    texts = [f"under {percent_tick(EDGES[1])}"]
    texts += [f"{percent_tick(low)} to {percent_tick(high)}" for low, high in pairwise(EDGES[1:-1])]
    texts.append(f"over {percent_tick(EDGES[-2])}")
    return list(zip(STEPS, texts, strict=True))


def _draw_legend() -> Markup:
    parts: list[Markup] = []
    for place, (step, _) in enumerate(_list_steps()):
        parts.append(tag("rect", {"class": f"step-{step} swatch", "x": place * SWATCH, "width": SWATCH, "height": 12}))
        if place:
            edge = {"x": place * SWATCH, "y": 27, "class": "tick-text middle"}
            parts.append(tag("text", edge, percent_tick(EDGES[place])))
    after = len(STEPS) * SWATCH
    parts.append(tag("text", {"x": after + 10, "y": 11, "class": "detail-text"}, "share of the label's images"))
    return join(parts)


def _write_legend() -> Markup:
    items = [
        tag("li", {}, tag("span", {"class": f"key-cell step-{step}"}), tag("span", {}, text))
        for step, text in _list_steps()
    ]
    right = tag("li", {}, tag("span", {"class": "key-cell right"}), tag("span", {}, "right"))
    return tag("ul", {"class": "legend"}, right, join(items))


def _list_errors(numbers: Estimates) -> list[tuple[str, str, float, float]]:
    errors = [
        (key.label, key.group, estimate.value, float(estimate.n))
        for key, estimate in numbers
        if key.region is None and key.label is not None and key.group is not None and key.label != key.group
    ]
    return sorted(errors, key=lambda row: (-row[2] * row[3], row[0], row[1]))


def _make_table(numbers: Estimates, *, groups: Groups) -> DataTable:
    return DataTable(
        fields=(
            Field(title="Label"),
            Field(title="Predicted"),
            Field(title=f"Share over all {groups.many}", form="percent"),
            Field(title="Images of the label", form="count"),
        ),
        rows=tuple(_list_errors(numbers)[:ROWS_IN_TABLE]),
    )


def _describe(numbers: Estimates, *, groups: Groups, model: str) -> str:
    errors = _list_errors(numbers)
    if not errors:
        return f"{model}: no image is confused."
    label, predicted, share, n = errors[0]
    return (
        f"{model}: over all {groups.many} the most frequent confusion is {spell(label)} taken for {spell(predicted)}, "
        f"{percent(share)} of {count(n)} images."
    )
