"""The page of an explanation: one file that fetches nothing and runs no script, its figures as files beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from markupsafe import Markup

from graticule.data.store import replace_atomically, write_text
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.explanation.common_shares import draw_common_shares
from graticule.report.explanation.distances import draw_distances
from graticule.report.explanation.label_drops import draw_before_after, draw_label_drops
from graticule.report.explanation.label_shares import draw_label_shares
from graticule.report.explanation.parts import draw_parts
from graticule.report.explanation.projection import draw_projection
from graticule.report.explanation.saliency import Looked, draw_saliency_shares
from graticule.report.explanation.subject import Subject
from graticule.report.explanation.superclasses import draw_superclasses
from graticule.report.figures.figure import Figure
from graticule.report.raster import render_png
from graticule.report.render import load_templates, read_style, write_policy

EXTRA_STYLE = (
    "@media (max-width:1179px){.contents.wide-only{display:none}}"
    ".planes{display:flex;flex-wrap:wrap;gap:24px}.plane{flex:1 1 280px;max-width:460px;height:auto}"
    ".plane .name-text{fill:var(--ink);font-weight:600}@media (max-width:600px){.plane.wide text{font-size:18px}}"
    ".plane-frame{stroke:var(--rule)}.plane circle,.plane rect.mark-1{opacity:.55}"
    ".plane.wide{max-width:620px;width:100%}.promised{stroke:var(--accent);stroke-width:2.5}"
    ".looked{display:flex;gap:4px}.looked img{width:50%;height:auto}"
)
PLAN: dict[str, tuple[str, str]] = {
    "parts": (
        "What the drop is made of",
        "Would the model do as well if only the labels were as frequent, the surroundings or the objects the same?",
    ),
    "labels": ("Label by label", "Which labels lose most, and to what?"),
    "shares": ("Label frequencies", "How much of the drop is a matter of which labels are common?"),
    "looks": (
        "Backgrounds and objects",
        "Do the same labels look different, and is it the object or what is around it?",
    ),
    "groups": ("Groups of labels", "Are whole kinds of things affected?"),
    "adapted": ("Before and after adaptation", "Are the labels that lost most the ones that adaptation mends?"),
    "saliency": ("What the model looked at", "When it fails, does it look at the object or past it?"),
}
"""Panel → its title and what it asks, in their order."""
NO_FEATURES = (
    "No features were given, so the regions' looks were not compared. Give --features, or --masks with --model."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A panel of the page."""

    key: str
    title: str
    question: str
    figures: tuple[Figure, ...]
    absent: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExplanationPage:
    """What the page is made of.

    Parameters
    ----------
    metrics, labels
        The tables of an explanation.
    subject
        Model and regions.
    headline, notes
        Sentences for the top.
    embeddings
        Kind of features → places on a plane.
    looked
        Failures with what the model looked at.
    title, version
        Of the page, and of Graticule.
    """

    metrics: pl.DataFrame
    labels: pl.DataFrame
    subject: Subject
    headline: Sequence[str]
    notes: Sequence[str]
    version: str
    title: str = ""
    embeddings: Mapping[str, pl.DataFrame] = field(default_factory=dict[str, pl.DataFrame])
    looked: Sequence[Looked] = ()


def write_explanation(output: Path, page: ExplanationPage) -> Path:
    """Write ``index.html`` and ``figures/`` into a folder; return the page's path."""
    sections = draw_sections(page)
    style = Markup(read_style() + EXTRA_STYLE)
    text = load_templates().get_template("explanation.html").render(
        title=page.title or f"Why {page.subject.target} differs from {page.subject.source}",
        version=page.version,
        subject=page.subject,
        headline=list(page.headline),
        notes=list(page.notes),
        sections=sections,
        looked=list(page.looked),
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


def draw_sections(page: ExplanationPage) -> tuple[Section, ...]:
    """Return the panels in their order; those that nothing was given for say what is missing, or are left out."""
    metrics, subject = page.metrics, page.subject
    drawn: dict[str, tuple[Figure | None, ...]] = {
        "parts": (draw_parts(metrics, subject),),
        "labels": (draw_label_drops(metrics, page.labels, subject),),
        "shares": (draw_common_shares(metrics, subject), draw_label_shares(metrics, subject)),
        "looks": (draw_distances(metrics, subject), draw_projection(dict(page.embeddings), subject)),
        "groups": (draw_superclasses(metrics, subject),),
        "adapted": (draw_before_after(metrics, subject),),
        "saliency": (draw_saliency_shares(metrics, subject),),
    }
    sections = [
        Section(
            key=key,
            title=title,
            question=question,
            figures=tuple(figure for figure in drawn[key] if figure is not None),
            absent=NO_FEATURES if key == "looks" else "",
        )
        for key, (title, question) in PLAN.items()
    ]
    return tuple(
        section
        for section in sections
        if section.figures or section.absent or (section.key == "saliency" and page.looked)
    )
