"""Images of two regions on a plane, near where their features are alike: GeoNet's figure 8."""

from __future__ import annotations

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.explanation.distances import KINDS
from graticule.report.explanation.subject import Subject
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import count, plural

SIDE = 440.0
GAP = 24.0
MARGIN = 10.0
HEAD = 28.0
RADIUS = 2.2
SIDES = (("mark-0", "source"), ("mark-1", "target"))


def draw_projection(embeddings: dict[str, pl.DataFrame], subject: Subject) -> Figure | None:
    """Return the planes side by side, one a kind of features; None where there are none.

    Parameters
    ----------
    embeddings
        Kind of features → ``image_id``, ``x``, ``y``, ``label`` and ``is_target``.
    subject
        Names of the regions.
    """
    kinds = [kind for kind in KINDS if kind in embeddings]
    kinds = [kind for kind in kinds if kind != "appearance"] or kinds
    if not kinds:
        return None
    legend = (
        LegendItem(text=subject.source, css="mark-0"),
        LegendItem(text=subject.target, css="mark-1", shape="square"),
    )
    head, top = draw_legend(legend, x=0.0, y=0.0, width=SHEET_WIDTH)
    body = join(
        [
            head,
            *(
                tag(
                    "g",
                    {"transform": f"translate({number(place * (SIDE + GAP))} {number(top + 8)})"},
                    _draw_plane(embeddings[kind], title=KINDS[kind].capitalize()),
                )
                for place, kind in enumerate(kinds)
            ),
        ]
    )
    n = embeddings[kinds[0]].height
    title = "Images near each other where their features are alike"
    planes = join(
        tag(
            "svg",
            {
                "viewBox": f"0 0 {number(SIDE)} {number(SIDE + HEAD)}",
                "role": "img",
                "class": "plane",
                "style": None,
                "aria-label": f"{KINDS[kind].capitalize()} of both regions on a plane (t-SNE)",
            },
            _draw_plane(embeddings[kind], title=KINDS[kind].capitalize()),
        )
        for kind in kinds
    )
    named = " and of ".join(KINDS[kind] for kind in kinds)
    return Figure(
        name="projection",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle="t-SNE of mask-pooled features", width=SHEET_WIDTH, height=top + SIDE + HEAD + 8
        ),
        inline=write_legend(legend) + tag("div", {"class": "planes"}, planes),
        table=DataTable(
            fields=(
                Field(title="Features"),
                Field(title=f"Images, {subject.source}", form="count"),
                Field(title=f"Images, {subject.target}", form="count"),
            ),
            rows=tuple(
                (
                    KINDS[kind],
                    float((~embeddings[kind]["is_target"]).sum()),
                    float(embeddings[kind]["is_target"].sum()),
                )
                for kind in kinds
            ),
        ),
        alt=f"t-SNE of {named}, {plural(n, 'image')}. Where the two colours lie apart, the regions differ.",
        caption=(
            "Distances between clusters and their sizes mean little in such a picture; the distances above have tests. "
            f"All places stand in the files embedding*.parquet ({count(n)} images)."
        ),
    )


def _draw_plane(table: pl.DataFrame, *, title: str) -> Markup:
    x, y = table["x"].to_numpy(), table["y"].to_numpy()
    low, high = (min(float(x.min()), float(y.min())), max(float(x.max()), float(y.max())))
    scale = (SIDE - 2 * MARGIN) / ((high - low) or 1.0)
    marks: list[Markup] = []
    half = RADIUS * 0.9
    for across, down, is_target in zip(x.tolist(), y.tolist(), table["is_target"].to_list(), strict=True):
        left, top = MARGIN + (across - low) * scale, HEAD + MARGIN + (high - down) * scale
        if is_target:
            box = {"x": left - half, "y": top - half, "width": 2 * half, "height": 2 * half}
            marks.append(tag("rect", {"class": "mark-1", **box}))
        else:
            marks.append(tag("circle", {"class": "mark-0", "cx": left, "cy": top, "r": RADIUS}))
    frame = tag(
        "rect",
        {"class": "plane-frame", "x": 0.5, "y": HEAD, "width": SIDE - 1, "height": SIDE - 1, "fill": "none"},
    )
    return join([tag("text", {"x": 0, "y": 16, "class": "name-text"}, title), frame, *marks])
