"""From the page's content to its HTML: templates, style, script and fonts put together, and the security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from graticule.data.audit_record import AuditRecord
from graticule.report.drawing.lettering import FONTS
from graticule.report.drawing.markup import clean
from graticule.report.drawing.palette import list_variables
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.figures.figure import FORMATS, TABLE_ROWS, DataTable
from graticule.report.groups import Groups
from graticule.report.panels.figure_panels import Panel
from graticule.report.panels.findings import Findings, sort_findings
from graticule.report.panels.gallery import Gallery
from graticule.report.panels.method import Method
from graticule.report.panels.verdict import Verdict
from graticule.report.wording import UNKNOWN, count, plural, spell

WEIGHTS = {"InterRegular": 400, "InterSemiBold": 600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything that the page shows."""

    title: str
    record: AuditRecord
    groups: Groups
    models: tuple[str, ...]
    """Models with panels of their own."""
    verdicts: tuple[Verdict, ...]
    panels: Mapping[str, Panel]
    gallery: Gallery
    models_table: DataTable
    method: Method


def render_page(content: Content) -> str:
    """Return the page as HTML."""
    style, script = Markup(read_style()), Markup(_read("page.js"))
    return load_templates().get_template("page.html").render(
        content=content,
        style=style,
        script=script,
        policy=write_policy(style=style, script=script),
        symbols=define_symbols(),
        hatch=define_hatch(),
        findings=read_headline(content),
        names=list_names(content),
    )  # fmt: skip


def write_policy(*, style: str, script: str) -> str:
    """Return the content security policy: nothing from outside, and no style or script but the page's own."""
    return (
        "default-src 'none'; img-src data:; font-src data:; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )


def read_headline(content: Content) -> tuple[Findings, ...]:
    """Return the audit's own sentences, or where it has none, each model's verdict in a sentence."""
    sentences = [sentence for sentence in content.record.headline if sentence.strip()]
    if not sentences:
        sentences = [verdict.sentence for verdict in content.verdicts]
    names = content.groups.names if content.groups.one == "country" else {}
    return sort_findings(sentences, models=content.models, names=names)


def list_names(content: Content) -> dict[str, object]:
    """Return the names that the page's script offers as choices."""
    gallery = content.gallery
    return {
        "one": content.groups.one,
        "groups": [[clean(key), clean(content.groups.name(key))] for key in content.groups.keys],
        "shown": [clean(key) for key in gallery.regions],
        "labels": [clean(label) for label in gallery.labels],
        "models": [clean(model) for model in content.models],
        "pictured": [content.models.index(model) for model in gallery.models],
    }


def write_value(value: str | float, form: str) -> str:
    """Return a cell of a table in words."""
    if isinstance(value, str):
        return value or UNKNOWN
    return FORMATS[form](value)


def begin_without(sentence: str, model: str) -> str:
    """Return a figure's sentence without the model's name in front, where the page already shows it.

    Examples
    --------
    >>> begin_without("resnet: most are right.", "resnet")
    'Most are right.'
    """
    rest = sentence.removeprefix(f"{model}: ") if model else sentence
    return rest[:1].upper() + rest[1:] if rest != sentence else sentence


@cache
def load_templates() -> Environment:
    """Return the templates of the pages, with what they need to write numbers."""
    environment = Environment(
        loader=PackageLoader("graticule.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finish,
    )
    filters: dict[str, Any] = {
        "write_value": write_value,
        "count": count,
        "plural": plural,
        "lead": begin_without,
        "spell": spell,
    }
    constants: dict[str, Any] = {"table_rows": TABLE_ROWS}
    environment.filters.update(filters)
    environment.globals.update(constants)
    return environment


def _finish(value: object) -> object:
    """Return what a template writes, without characters that no document may hold."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def read_style() -> str:
    """Return the style of the pages: fonts, light and dark colours, screen and paper."""
    fonts = "".join(
        f"@font-face{{font-family:Inter;font-weight:{weight};font-display:block;"
        f"src:url(data:font/woff2;base64,{_encode_font(name)}) format('woff2')}}"
        for name, weight in WEIGHTS.items()
    )
    light, dark = list_variables("light"), list_variables("dark")
    themes = (
        f":root{{color-scheme:light;{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{color-scheme:light;{light}}}}}"
    )
    return fonts + themes + _read("figures.css") + _read("page.css") + _read("print.css")


def _encode_font(name: str) -> str:
    return base64.b64encode((FONTS / f"{name}.woff2").read_bytes()).decode("ascii")


def _read(name: str) -> str:
    return files("graticule.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
