"""The page of a question about value: one file that fetches nothing and runs no script, its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from graticule.data.store import replace_atomically, write_text
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.figures.figure import Figure
from graticule.report.raster import render_png
from graticule.report.render import load_templates, read_style, write_policy

EXTRA_STYLE = (
    "@media (max-width:1179px){.contents.wide-only{display:none}}"
    ".planes{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:18px}.plane{width:100%;height:auto}"
    ".plane-frame{stroke:var(--rule)}.plane circle,.plane rect.mark-1{opacity:.6}"
    ".cards.curves .reliability{max-width:none;width:100%}.findings+h2{margin-top:22px}"
    ".cards.curves{grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:22px 28px}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A panel of the page; ``absent`` stands where there is no figure."""

    key: str
    title: str
    question: str
    figures: tuple[Figure, ...]
    absent: str = ""


def write_value_page(
    output: Path,
    sections: Sequence[Section],
    *,
    title: str,
    headline: Sequence[str],
    notes: Sequence[str],
    version: str,
) -> Path:
    """Write ``index.html`` and ``figures/`` into a folder; return the page's path."""
    style = Markup(read_style() + EXTRA_STYLE)
    text = load_templates().get_template("value.html").render(
        title=title,
        version=version,
        headline=list(headline),
        notes=list(notes),
        sections=list(sections),
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
