"""Two data sets: what each covers of the other, how far labels lie apart, and t-SNE of cells."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.lettering import shorten
from graticule.report.drawing.marks import Mark, Point, Span
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot
from graticule.report.drawing.series_rows import SeriesRow, plot_series
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.explanation.row_figure import make_number_axis, make_row_figure, write_number
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, p_value, percent_interval, spell

ROWS_SHOWN = 40
SIDE = 220.0
HEAD = 24.0
COLUMNS = 4
LEVEL = 0.05


def draw_coverage(metrics: pl.DataFrame, names: tuple[str, str]) -> Figure | None:
    """Return how much of each data set the other covers, over all labels and label by label."""
    coverage = Estimates(metrics, "coverage", model=None)
    itself = Estimates(metrics, "coverage_of_itself", model=None)
    rows: list[tuple[str, str | None, str]] = []
    for first, second in (names, names[::-1]):
        group = f"{first} covers {second}"
        if not coverage.get(group=group).n:
            continue
        rows.append((group, None, group))
        own = [key.label for key, _ in coverage if key.group == group and key.label]
        own.sort(key=lambda label: (coverage.get(label=label, group=group).value, label))
        rows += [(label, label, group) for label in own]
    if not rows:
        return None
    found = [
        (name, coverage.get(label=label, group=group), itself.get(label=label, group=group))
        for name, label, group in rows
    ]
    plot = plot_series(
        [
            SeriesRow(name=name, detail="all labels" if " covers " in name else "", estimates=(part, own))
            for name, part, own in found[:ROWS_SHOWN]
        ],
        series=("covered by the other data set", "covered by other images of its own"),
        head="Label",
        axis_title="Share of images covered",
        confidence="95%",
    )
    return make_row_figure(
        plot,
        name="coverage",
        title="How much of one data set the other covers",
        subtitle="coverage (Naeem et al. 2020) within each label, equal numbers of both; least covered first",
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title="Covered", form="percent"),
                Field(title="Low", form="percent"),
                Field(title="High", form="percent"),
                Field(title="By its own", form="percent"),
                Field(title="Images", form="count"),
            ),
            rows=tuple((name, part.value, part.low, part.high, own.value, float(part.n)) for name, part, own in found),
        ),
        alt=f"{found[0][0]}: {percent_interval(found[0][1])}; its own images: {percent_interval(found[0][2])}.",
        caption=(
            "An image is covered where an image of the other data set with the same label is nearer than its own fifth "
            "neighbour (by default) in its own data set: coverage as Naeem et al. (2020) define it."
        ),
        notes=(f"The first {ROWS_SHOWN} of {count(len(found))} rows are drawn.",) if len(found) > ROWS_SHOWN else (),
    )


def draw_label_distances(metrics: pl.DataFrame, *, distance: str) -> Figure | None:
    """Return how far apart two data sets lie, label by label, against what chance gives."""
    found = Estimates(metrics, f"dataset_distance_{distance}", model=None)
    tests = Estimates(metrics, "dataset_distance_p_holm", model=None)
    if not len(found):
        return None
    numbers = {key.label: (estimate, tests.get(label=key.label, group=key.group).value) for key, estimate in found}
    labels = sorted((label for label in numbers if label), key=lambda label: (-numbers[label][0].value, label))
    shown: list[str | None] = [None, *labels[:ROWS_SHOWN]]
    rows: list[Row] = []
    for label in shown:
        estimate, p = numbers[label]
        name = label or "All, label and region alike"
        marks: tuple[Mark, ...] = (
            Span(low=estimate.low, high=estimate.high, css="band", thickness=9.0),
            Point(at=estimate.value, css="mark-0", tip=f"{name}: {estimate.value:.3g}, p {p_value(p)}"),
        )
        rows.append(
            Row(
                name=name,
                marks=marks,
                lines=(Line(text=f"{estimate.value:.3g}", detail=f"p {p_value(p)}"),),
                css="" if label else "whole",
            )
        )
    plot = RowPlot(
        rows=tuple(rows),
        axis=make_number_axis([end for label in shown for end in (numbers[label][0].value, numbers[label][0].high)]),
        axis_title=f"Distance ({distance})",
        write_tick=write_number,
        legend=(
            LegendItem(text="distance between the data sets", css="mark-0"),
            LegendItem(text="what chance gives in 95 of 100 cases", css="band", kind="band"),
        ),
        head=("Label", "Distance, p"),
        css="regions",
    )
    n_far = sum(numbers[label][1] < LEVEL for label in labels)
    return make_row_figure(
        plot,
        name="distances",
        title="How far apart the data sets look",
        subtitle="p-values by permutation, adjusted for the number of labels",
        table=DataTable(
            fields=(
                Field(title="Label"),
                Field(title="Distance"),
                Field(title="By chance, up to"),
                Field(title="p", form="p"),
            ),
            rows=tuple(
                (label or "All", f"{numbers[label][0].value:.3g}", f"{numbers[label][0].high:.3g}", numbers[label][1])
                for label in [None, *labels]
            ),
        ),
        alt=f"{count(n_far)} of {count(len(labels))} labels differ by more than chance, adjusted for their number.",
        caption="The first row takes as many images of each label from both, so that frequencies do not count.",
        notes=(f"The first {ROWS_SHOWN} of {count(len(labels))} labels are drawn.",)
        if len(labels) > ROWS_SHOWN
        else (),
    )


def draw_planes(planes: Mapping[str, pl.DataFrame], names: tuple[str, str]) -> Figure | None:
    """Return t-SNE of some cells, the two data sets in two colours: GeoDE's figure 5.

    Parameters
    ----------
    planes
        Name of a cell → ``x``, ``y`` and ``is_second``.
    names
        Of the data sets.
    """
    if not planes:
        return None
    legend = (LegendItem(text=names[0], css="mark-0"), LegendItem(text=names[1], css="mark-1", shape="square"))
    head, top = draw_legend(legend, x=0.0, y=0.0, width=SHEET_WIDTH)
    gap = (SHEET_WIDTH - COLUMNS * SIDE) / (COLUMNS - 1)
    parts, cards = [head], []
    for place, (name, table) in enumerate(planes.items()):
        drawn = _draw_plane(table, title=name)
        across = place % COLUMNS * (SIDE + gap)
        down = top + 8 + place // COLUMNS * (SIDE + HEAD + 14)
        parts.append(tag("g", {"transform": f"translate({number(across)} {number(down)})"}, drawn))
        facts = {"viewBox": f"0 0 {number(SIDE)} {number(SIDE + HEAD)}", "role": "img", "class": "plane"}
        cards.append(tag("svg", {**facts, "aria-label": f"t-SNE of {name}"}, drawn))
    n_rows = (len(planes) + COLUMNS - 1) // COLUMNS
    title = "Images near each other where their features are alike"
    return Figure(
        name="planes",
        title=title,
        svg=write_sheet(
            join(parts),
            title=title,
            subtitle="t-SNE, each label and region by itself",
            width=SHEET_WIDTH,
            height=top + 8 + n_rows * (SIDE + HEAD + 14),
        ),
        inline=write_legend(legend) + tag("div", {"class": "planes"}, join(cards)),
        table=DataTable(
            fields=(Field(title="Cell"), Field(title=names[0], form="count"), Field(title=names[1], form="count")),
            rows=tuple(
                (name, float((~table["is_second"]).sum()), float(table["is_second"].sum()))
                for name, table in planes.items()
            ),
        ),
        alt=f"t-SNE of {count(len(planes))} cells of {spell(names[0])} and {spell(names[1])}, those with most images.",
        caption="Where the colours lie apart the data sets differ. The tests above measure by how much.",
    )


def _draw_plane(table: pl.DataFrame, *, title: str) -> Markup:
    x, y = table["x"].to_numpy(), table["y"].to_numpy()
    low, high = min(float(x.min()), float(y.min())), max(float(x.max()), float(y.max()))
    scale = (SIDE - 16) / ((high - low) or 1.0)
    marks: list[Markup] = []
    for across, down, is_second in zip(x.tolist(), y.tolist(), table["is_second"].to_list(), strict=True):
        left, top = 8 + (across - low) * scale, HEAD + 8 + (high - down) * scale
        if is_second:
            marks.append(tag("rect", {"class": "mark-1", "x": left - 1.8, "y": top - 1.8, "width": 3.6, "height": 3.6}))
        else:
            marks.append(tag("circle", {"class": "mark-0", "cx": left, "cy": top, "r": 2}))
    frame = {"class": "plane-frame", "x": 0.5, "y": HEAD, "width": SIDE - 1, "height": SIDE - 1, "fill": "none"}
    name = tag("text", {"x": 0, "y": 15, "class": "name-text"}, shorten(title, width=SIDE, size=13.0))
    return join([name, tag("rect", frame), *marks])
