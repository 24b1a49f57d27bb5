"""The report: tables of an audit as one page that a person can show to others, and as figures.

The page is a single file: style, script, fonts and thumbnails stand in it, nothing is fetched, and a content security
policy holds the browser to that. It reads without a script, in light and dark, on a phone, on paper, with a keyboard
and with a screen reader; a table of numbers stands behind every figure.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import polars as pl

from graticule.data.audit_record import AuditRecord
from graticule.data.store import replace_atomically
from graticule.data.tables import FAILURES, METRICS, REJECTS
from graticule.data.validate import validate_table
from graticule.errors import FileError, TableError
from graticule.report.figure_files import write_figures
from graticule.report.groups import order_groups
from graticule.report.panels.figure_panels import draw_panels
from graticule.report.panels.gallery import hang_gallery
from graticule.report.panels.method import describe_method
from graticule.report.panels.models_table import tabulate_models
from graticule.report.panels.verdict import judge_model
from graticule.report.render import Content, render_page

MODELS_SHOWN = 4
"""Models with panels of their own; all stand in the table of models."""
PAGE_NAME = "index.html"
FIGURES_FOLDER = "figures"


def write_report(
    output: Path,
    *,
    metrics: pl.DataFrame,
    failures: pl.DataFrame,
    dropped: pl.DataFrame,
    record: AuditRecord,
    base: Path | None = None,
    title: str | None = None,
) -> Path:
    """Write the page and the figures of an audit into a folder, and return the page's path.

    Figures are made beside their place and moved in whole; the page comes last, so that a page that is there is
    complete.

    Parameters
    ----------
    output
        The folder; made if it is missing.
    metrics, failures, dropped
        The audit's tables, as `graticule.data.tables` declares them.
    record
        What the audit was made of.
    base
        Folder that the failures' paths start from; None shows no photos.
    title
        Title of the page; made from the models' names when None.

    Raises
    ------
    TableError
        A table breaks its declaration, or the record names no model.
    FileError
        The folder cannot be written to.
    """
    metrics = validate_table(metrics, METRICS, where="metrics of the report")
    failures = validate_table(failures, FAILURES, where="failures of the report")
    dropped = validate_table(dropped, REJECTS, where="what the report says was dropped")
    if not record.models:
        raise TableError("the audit's record names no model; expected one or more. Run `graticule audit` again.")
    groups = order_groups(metrics, record=record)
    models = tuple(model.name for model in record.models[:MODELS_SHOWN])
    content = Content(
        title=title or name_page(record),
        record=record,
        groups=groups,
        models=models,
        verdicts=tuple(judge_model(metrics, model=model, groups=groups) for model in models),
        panels=draw_panels(metrics, groups=groups, models=models),
        gallery=hang_gallery(failures, groups=groups, models=models, base=base),
        models_table=tabulate_models(metrics, record=record, groups=groups),
        method=describe_method(record, dropped=dropped),
    )
    page = render_page(content)
    _replace_figures(output, content=content)
    with replace_atomically(output / PAGE_NAME) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return output / PAGE_NAME


def name_page(record: AuditRecord) -> str:
    """Return the title of an audit's page."""
    if len(record.models) == 1:
        return f"Where in the world {record.models[0].name} fails"
    return f"Where in the world {len(record.models)} models fail"


def _replace_figures(output: Path, *, content: Content) -> None:
    """Write the figures into a new folder and put it in the place of the old one."""
    place = output / FIGURES_FOLDER
    try:
        output.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=output, prefix=f".{FIGURES_FOLDER}."))
    except OSError as error:
        raise FileError(f"{output}: cannot be written ({error}). Choose another place with -o.") from error
    try:
        write_figures(made, panels=content.panels)
        made.chmod(0o755)
        if place.exists():
            shutil.rmtree(place)
        made.replace(place)
    except OSError as error:
        raise FileError(f"{place}: writing failed ({error}). Free room and run again.") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
