"""How far two regions' backgrounds and objects lie apart, label by label, against what chance gives."""

from __future__ import annotations

import polars as pl

from graticule.report.drawing.marks import Mark, Point, Span
from graticule.report.drawing.rows import LegendItem, Line, Row, RowPlot, spread_shifts
from graticule.report.estimates import Estimate, Estimates
from graticule.report.explanation.row_figure import list_cut, make_number_axis, make_row_figure, write_number
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, p_value, percent, plural

ROWS_SHOWN = 30
KINDS = {"context": "backgrounds", "design": "objects", "appearance": "whole images"}
CSS = {"context": ("mark-3", "triangle"), "design": ("mark-4", "diamond"), "appearance": ("mark-0", "circle")}
LEVEL = 0.05


def draw_distances(metrics: pl.DataFrame, subject: Subject) -> Figure | None:
    """Return the distances by label; None where no features were compared."""
    found = {kind: Estimates(metrics, f"{kind}_distance", model=None) for kind in KINDS}
    kinds = [kind for kind in KINDS if len(found[kind])]
    if not kinds:
        return None
    kinds = [kind for kind in kinds if kind != "appearance"] or kinds
    tests = {kind: Estimates(metrics, f"{kind}_distance_p_holm", model=None) for kind in kinds}
    distance = next(key.group for key, _ in found[kinds[0]])
    labels = list(dict.fromkeys(key.label for kind in kinds for key, _ in found[kind] if key.label))

    def get(kind: str, label: str | None) -> Estimate:
        return found[kind].get(region=subject.target, label=label, group=distance)

    def test(kind: str, label: str | None) -> float:
        return tests[kind].get(region=subject.target, label=label, group=distance).value

    labels.sort(key=lambda label: (-max(get(kind, label).value for kind in kinds), label))
    n_clear = {kind: sum(test(kind, label) < LEVEL for label in labels) for kind in kinds}
    shown: list[str | None] = [None, *labels[:ROWS_SHOWN]]
    ends = [end for label in shown for kind in kinds for end in (get(kind, label).value, get(kind, label).high)]
    legend = [LegendItem(text=KINDS[kind], css=CSS[kind][0], shape=CSS[kind][1]) for kind in kinds]
    legend.append(LegendItem(text="what chance gives in 95 of 100 cases", css="band", kind="band"))
    plot = RowPlot(
        rows=tuple(
            _make_row(label or "All images", [(kind, get(kind, label), test(kind, label)) for kind in kinds])
            for label in shown
        ),
        axis=make_number_axis(ends),
        axis_title=f"Distance between the regions ({distance})",
        write_tick=write_number,
        legend=tuple(legend),
        head=("Label", "Distance, p"),
        css="regions",
    )
    return make_row_figure(
        plot,
        name="distances",
        title="How far apart the regions look",
        subtitle=f"{subject.source} and {subject.target}; p-values by permutation, adjusted for the number of labels",
        table=DataTable(
            fields=(
                Field(title="Label"),
                *(
                    field
                    for kind in kinds
                    for field in (
                        Field(title=f"Distance of {KINDS[kind]}"),
                        Field(title="By chance, up to"),
                        Field(title="p", form="p"),
                    )
                ),
            ),
            rows=tuple(
                (
                    label or "All images",
                    *(
                        value
                        for kind in kinds
                        for value in (
                            f"{get(kind, label).value:.3g}",
                            f"{get(kind, label).high:.3g}",
                            test(kind, label),
                        )
                    ),
                )
                for label in [None, *labels]
            ),
        ),
        alt=_describe(n_clear, n_labels=len(labels), metrics=metrics, subject=subject),
        caption=(
            "Grey bands show how far apart the same images would be if their region were dealt by chance. Distances of "
            "backgrounds and of objects are in the features' own units and do not compare with each other."
        ),
        notes=list_cut(len(labels), ROWS_SHOWN),
    )


def _make_row(name: str, found: list[tuple[str, Estimate, float]]) -> Row:
    marks: list[Mark] = []
    lines: list[Line] = []
    for (kind, estimate, p), shift in zip(found, spread_shifts(len(found)), strict=True):
        css, shape = CSS[kind]
        marks.append(Span(low=estimate.low, high=estimate.high, css="band", thickness=9.0, shift=shift))
        marks.append(Point(at=estimate.value, css=css, shape=shape, shift=shift, tip=f"{name}, {KINDS[kind]}"))
        lines.append(Line(text=f"{estimate.value:.3g}", detail=f"p {p_value(p)}", css=css, shape=shape))
    return Row(name=name, marks=tuple(marks), lines=tuple(lines), css="whole" if name == "All images" else "")


def _describe(n_clear: dict[str, int], *, n_labels: int, metrics: pl.DataFrame, subject: Subject) -> str:
    sentences: list[str] = []
    for kind, n in n_clear.items():
        sentences.append(
            f"The {KINDS[kind]} of {count(n)} of {plural(n_labels, 'label')} differ between the regions by more than "
            "chance."
        )
        told = Estimates(metrics, f"{kind}_distance", model=None).get(region=subject.target, group="domain_classifier")
        if told.n:
            sentences.append(
                f"From the {KINDS[kind]} alone the region is told right for {percent(told.value)} of images."
            )
    return " ".join(sentences)
