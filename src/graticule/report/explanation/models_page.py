"""The page of models side by side: one file that fetches nothing and runs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup

from graticule.data.store import replace_atomically, write_text
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.explanation.accuracy_line import draw_accuracy_line
from graticule.report.explanation.model_pairs import draw_model_pairs
from graticule.report.explanation.page import EXTRA_STYLE, Section
from graticule.report.explanation.subject import Subject
from graticule.report.explanation.transfer_rows import draw_robustness, draw_transfer
from graticule.report.raster import render_png
from graticule.report.render import load_templates, read_style, write_policy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelsPage:
    """What the page is made of: the metrics table, names and the findings."""

    metrics: pl.DataFrame
    models: tuple[str, ...]
    regions: tuple[str, ...]
    home: Mapping[str, str]
    by: str
    source: str
    target: str
    fit: str
    headline: Sequence[str]
    title: str
    version: str


def write_models(output: Path, page: ModelsPage) -> Path:
    """Write ``index.html`` and ``figures/`` into a folder; return the page's path."""
    sections = tuple(section for section in _draw(page) if section.figures)
    style = Markup(read_style() + EXTRA_STYLE)
    text = load_templates().get_template("explanation.html").render(
        title=page.title,
        version=page.version,
        subject=Subject(model="", source=page.source, target=page.target),
        headline=list(page.headline),
        notes=[],
        sections=sections,
        looked=[],
        style=style,
        policy=write_policy(style=style, script=""),
        symbols=define_symbols(),
        hatch=define_hatch(),
    )  # fmt: skip
    for figure in [figure for section in sections for figure in section.figures]:
        write_text(figure.svg, output / "figures" / f"{figure.name}.svg")
        with replace_atomically(output / "figures" / f"{figure.name}.png") as temporary:
            temporary.write_bytes(render_png(figure.svg, zoom=1.0))
    return write_text(text, output / "index.html")


def _draw(page: ModelsPage) -> tuple[Section, ...]:
    metrics = page.metrics
    drawn = {
        "transfer": (draw_transfer(metrics, models=page.models, regions=page.regions, home=page.home, by=page.by),),
        "line": (
            draw_accuracy_line(metrics, models=page.models, source=page.source, target=page.target, fit=page.fit),
            draw_robustness(metrics, models=page.models, target=page.target, home=page.home),
        ),
        "pairs": (draw_model_pairs(metrics, models=page.models),),
    }
    plan = {
        "transfer": ("Trained here, tested there", "What does a model lose away from home?"),
        "line": ("Accuracy on the line", "Is a model better in the target than its source accuracy promises?"),
        "pairs": ("Pairs of models", "On the same images, which model is right more often?"),
    }
    return tuple(
        Section(
            key=key,
            title=title,
            question=question,
            figures=tuple(figure for figure in drawn[key] if figure is not None),
            absent="",
        )
        for key, (title, question) in plan.items()
    )
