"""Accuracy of every label in every region, as a grid of coloured cells; small cells are hatched, so they never "
"shout."""

from __future__ import annotations

import math

import polars as pl

from graticule.report.drawing.grid import Cell, Grid, GridRow, draw_grid, write_grid_html
from graticule.report.drawing.scales import make_bins
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimate, Estimates, list_values
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, percent_number, percent_tick, plural, points, spell

LABELS_SHOWN = 250
COLUMNS_SHOWN = 24
FILE_ROWS = 100
FILE_COLUMNS = 16


def draw_heatmap(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the grid of a model's accuracies, label by region; None if there is no label or no region."""
    model = models[0]
    accuracy = Estimates(metrics, "accuracy", model=model)
    shrunken = Estimates(metrics, "shrunken_accuracy", model=model)
    gaps = Estimates(metrics, "worst_gap", model=model)
    labels = [label for label in list_values(metrics, "label") if accuracy.get(label=label).n > 0]
    if not labels or not groups.keys:
        return None
    ordered = sorted(labels, key=lambda label: (-_known(gaps.get(label=label).value), label))
    shown, columns = ordered[:LABELS_SHOWN], groups.keys[:COLUMNS_SHOWN]
    rows = tuple(
        _make_row(
            label, columns=columns, groups=groups, accuracy=accuracy, shrunken=shrunken, gap=gaps.get(label=label)
        )
        for label in shown
    )
    grid = _make_grid(rows, columns=columns, groups=groups)
    title = f"Accuracy by label and {groups.one}"
    short = _make_grid(
        tuple(_cut(row, FILE_COLUMNS) for row in rows[:FILE_ROWS]), columns=columns[:FILE_COLUMNS], groups=groups
    )
    body, height = draw_grid(short)
    return Figure(
        name="heatmap",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"{model}; labels with the widest gap first", width=SHEET_WIDTH, height=height
        ),
        inline=write_grid_html(grid, title=f"{title}, {model}"),
        table=_make_table(shown, groups=groups, accuracy=accuracy, shrunken=shrunken),
        alt=_describe(shown, groups=groups, accuracy=accuracy, model=model),
        caption=(
            f"Percent right, per label and {groups.one}; the stronger the colour, the lower. Hatched cells hold "
            "fewer than "
            f"{count(groups.min_images)} images: read them with care, or switch to shrunken values, which pull small "
            "cells towards what is usual."
        ),
        notes=_list_cuts(len(labels), groups=groups),
    )


def _known(value: float) -> float:
    return value if math.isfinite(value) else -1.0


def _make_grid(rows: tuple[GridRow, ...], *, columns: tuple[str, ...], groups: Groups) -> Grid:
    values = [cell.value for row in rows for cell in row.cells if not cell.thin]
    return Grid(
        rows=rows,
        columns=(*(groups.name(key) for key in columns), "All"),
        column_keys=(*columns, ""),
        sums=("Gap, points", "Images"),
        corner="Label",
        bins=make_bins(values or [0.0, 1.0]),
        write_edge=percent_tick,
        legend_title="Accuracy",
        thin_text=f"fewer than {groups.min_images} images",
    )


def _make_row(
    label: str, *, columns: tuple[str, ...], groups: Groups, accuracy: Estimates, shrunken: Estimates, gap: Estimate
) -> GridRow:
    cells = [
        _make_cell(
            accuracy.get(region=key, label=label), shrunken.get(region=key, label=label), min_images=groups.min_images
        )
        for key in columns
    ]
    total = accuracy.get(label=label)
    cells.append(_make_cell(total, total, min_images=groups.min_images))
    return GridRow(
        name=label,
        cells=tuple(cells),
        sums=(points(gap.value), count(total.n)),
        keys=(gap.value, float(total.n)),
    )


def _make_cell(estimate: Estimate, shrunken: Estimate, *, min_images: int) -> Cell:
    known = math.isfinite(estimate.value)
    facts = (estimate.low, estimate.high, float(estimate.n), shrunken.value)
    return Cell(
        value=estimate.value,
        text=percent_number(estimate.value) if known else "–",
        thin=known and estimate.n < min_images,
        facts=" ".join(f"{fact:.5g}" if math.isfinite(fact) else "" for fact in facts) if known else "",
    )


def _cut(row: GridRow, width: int) -> GridRow:
    if len(row.cells) <= width + 1:
        return row
    return GridRow(name=row.name, cells=(*row.cells[:width], row.cells[-1]), sums=row.sums, keys=row.keys)


def _make_table(labels: list[str], *, groups: Groups, accuracy: Estimates, shrunken: Estimates) -> DataTable:
    rows = [
        (
            label,
            groups.name(key),
            estimate.value,
            estimate.low,
            estimate.high,
            shrunken.get(region=key, label=label).value,
            float(estimate.n),
        )
        for label in labels
        for key in groups.keys
        for estimate in [accuracy.get(region=key, label=label)]
        if estimate.n > 0
    ]
    return DataTable(
        fields=(
            Field(title="Label"),
            Field(title=groups.one.capitalize()),
            Field(title="Accuracy", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="Shrunken", form="percent"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(labels: list[str], *, groups: Groups, accuracy: Estimates, model: str) -> str:
    cells = [
        (accuracy.get(region=key, label=label).value, label, key)
        for label in labels
        for key in groups.keys
        if accuracy.get(region=key, label=label).n >= max(1, groups.min_images)
    ]
    if not cells:
        return f"{model}: no cell has {groups.min_images} images or more."
    low = min(cells)
    high = max(value for value, _, _ in cells)
    return (
        f"{model}: {plural(len(cells), 'cell')} with enough images, from {percent(low[0])} ({spell(low[1])} in "
        f"{groups.name(low[2])}) to {percent(high)}."
    )


def _list_cuts(n_labels: int, *, groups: Groups) -> tuple[str, ...]:
    notes: list[str] = []
    if n_labels > LABELS_SHOWN:
        notes.append(f"{plural(n_labels, 'label')} in all; the grid shows the {LABELS_SHOWN} with the widest gap.")
    if len(groups.keys) > COLUMNS_SHOWN:
        notes.append(
            f"{len(groups.keys):,} {groups.many} in all; the grid shows the {COLUMNS_SHOWN} with the lowest accuracy."
        )
    return (*notes, "All cells stand in metrics.csv.") if notes else ()
