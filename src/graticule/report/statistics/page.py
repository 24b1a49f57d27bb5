"""The page of a data set's statistics, or of several side by side: one file that fetches nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup

from graticule.data.store import replace_atomically, write_text
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.figures.figure import DataTable, Figure
from graticule.report.raster import render_png
from graticule.report.render import load_templates, read_style, write_policy
from graticule.report.statistics.count_grid import draw_count_grid
from graticule.report.statistics.count_map import draw_country_map, draw_subregion_map
from graticule.report.statistics.numbers import SetNumbers
from graticule.report.statistics.spread_tables import tabulate_distances, tabulate_regions, tabulate_sets

SETS_SHOWN = 6
"""Data sets with figures of their own; all stand in the tables."""
NARROW = "@media (max-width:1179px){.contents.wide-only{display:none}}"
"""Without a script the contents cannot fold away, so a narrow page goes without them."""
ABSENT = {
    "maps": "No country is known for any image, so there is no map. `graticule locate` adds countries.",
    "grid": "No image has a label and a region, so there is nothing to count by cell.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """The figures of one data set."""

    name: str
    maps: tuple[Figure, ...]
    grid: Figure | None
    regions: DataTable


def write_statistics(
    output: Path,
    metrics: pl.DataFrame,
    *,
    headline: Sequence[str],
    by: str,
    min_images: int,
    title: str,
    version: str,
) -> Path:
    """Write ``index.html`` and the figures of a table of statistics into a folder; return the page's path.

    Parameters
    ----------
    output
        The folder; made if it is missing.
    metrics
        A `METRICS` table with the column ``dataset``, as ``graticule curate stats`` makes it.
    headline
        Sentences for the top of the page.
    by
        What one of the compared places is called.
    min_images
        Cells below are thin.
    title
        Title of the page.
    version
        Graticule's version, for the foot of the page.
    """
    names: list[str] = metrics["dataset"].unique(maintain_order=True).to_list()
    sets = tuple(SetNumbers.of(metrics, name, by=by, min_images=min_images) for name in names)
    figures = tuple(_draw(numbers) for numbers in sets[:SETS_SHOWN])
    style = Markup(read_style() + NARROW)
    page = load_templates().get_template("statistics.html").render(
        title=title,
        version=version,
        headline=join_headline(headline),
        sets=figures,
        n_sets=len(sets),
        absent=ABSENT,
        table=tabulate_sets(sets),
        distances=tabulate_distances(metrics),
        style=style,
        policy=write_policy(style=style, script=""),
        symbols=define_symbols(),
        hatch=define_hatch(),
    )  # fmt: skip
    for place, found in enumerate(figures):
        for figure in (*found.maps, *([found.grid] if found.grid else [])):
            stem = figure.name if len(figures) == 1 else f"{figure.name}-{place + 1}"
            write_text(figure.svg, output / "figures" / f"{stem}.svg")
            with replace_atomically(output / "figures" / f"{stem}.png") as temporary:
                temporary.write_bytes(render_png(figure.svg, zoom=1.0))
    return write_text(page, output / "index.html")


def join_headline(sentences: Sequence[str]) -> list[str]:
    """Return one paragraph a data set: sentences that are indented belong to the one before.

    Examples
    --------
    >>> join_headline(["a: 3 images.", "  1 cell is thin.", "b: 5 images."])
    ['a: 3 images. 1 cell is thin.', 'b: 5 images.']
    """
    joined: list[str] = []
    for sentence in sentences:
        if sentence.startswith(" ") and joined:
            joined[-1] += f" {sentence.strip()}"
        else:
            joined.append(sentence)
    return joined


def _draw(numbers: SetNumbers) -> SetFigures:
    maps = [draw_country_map(numbers), draw_subregion_map(numbers)]
    return SetFigures(
        name=numbers.name,
        maps=tuple(figure for figure in maps if figure is not None),
        grid=draw_count_grid(numbers),
        regions=tabulate_regions(numbers),
    )
