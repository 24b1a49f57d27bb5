"""Where a data set's images come from: countries, or sub-regions, coloured by how many."""

from __future__ import annotations

from collections.abc import Mapping

from graticule.errors import GeoError
from graticule.geo.countries import find_country
from graticule.geo.schemes import load_scheme
from graticule.geo.shapes import load_shapes
from graticule.report.drawing.legend import draw_step_legend, write_key_notes, write_step_legend
from graticule.report.drawing.markup import number, tag
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.drawing.world import Territory, draw_world_sheet, write_world_html
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.statistics.numbers import SetNumbers, make_count_bins, shorten_count
from graticule.report.wording import count, percent, plural

LEGEND_HEIGHT = 46.0
SUBREGIONS = "m49_subregions"


def draw_country_map(numbers: SetNumbers) -> Figure | None:
    """Return the choropleth of a data set's countries; None where no country is known."""
    counts = numbers.count_places("images_in_country")
    names = {code: _name(code) for code in counts}
    return _draw(numbers, counts, names, {code: (code,) for code in counts}, one="country", many="countries")


def draw_subregion_map(numbers: SetNumbers) -> Figure | None:
    """Return the map of the United Nations' sub-regions; None where no country is known."""
    counts = numbers.count_places("images_in_subregion")
    regions = load_scheme(SUBREGIONS).regions
    territories = {name: tuple(regions.get(name, ())) for name in counts}
    return _draw(numbers, counts, {name: name for name in counts}, territories, one="sub-region", many="sub-regions")


def _draw(
    numbers: SetNumbers,
    counts: Mapping[str, int],
    names: Mapping[str, str],
    territories: Mapping[str, tuple[str, ...]],
    *,
    one: str,
    many: str,
) -> Figure | None:
    if not counts:
        return None
    shapes = load_shapes()
    bins = make_count_bins(list(counts.values()))
    total = sum(counts.values())
    drawn = tuple(
        Territory(
            name=names[key],
            text=count(n),
            tip=f"{names[key]}: {plural(n, 'image')}, {percent(n / total)} of those with a country.",
            countries=territories[key],
            step=bins.step(bins.find(float(n))),
            thin=False,
        )
        for key, n in counts.items()
    )
    title = f"Images by {one}"
    most = list(counts)[:3]
    alt = (
        f"{plural(total, 'image')} from {plural(len(counts), one, many)}; most from "
        + ", ".join(f"{names[key]} ({percent(counts[key] / total)})" for key in most)
        + "."
    )
    world, height = draw_world_sheet(shapes, drawn, width=SHEET_WIDTH, labelled=False)
    legend, _ = draw_step_legend(bins, x=80.0, y=0.0, write_edge=shorten_count)
    body = (
        tag("text", {"x": 0, "y": 11, "class": "detail-text"}, "Images")
        + legend
        + tag("g", {"transform": f"translate(0 {number(LEGEND_HEIGHT)})"}, world)
    )
    notes = write_key_notes([("hatch-key", "no images")])
    return Figure(
        name=f"{one.replace('-', '')}_map",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"{numbers.name}; hatched: no images", width=SHEET_WIDTH, height=height + 46
        ),
        inline=write_step_legend(bins, write_edge=shorten_count, title="Images", notes=notes)
        + write_world_html(shapes, drawn, title=alt, labelled=False),
        table=DataTable(
            fields=(
                Field(title=one.capitalize()),
                Field(title="Images", form="count"),
                Field(title="Share", form="percent"),
            ),
            rows=tuple((names[key], float(n), n / total) for key, n in counts.items()),
        ),
        alt=alt,
        caption=f"The stronger the colour, the fewer images; {many} without any are hatched. The Equal Earth "
        "projection shows areas true to scale.",
    )


def _name(code: str) -> str:
    try:
        return find_country(code).name
    except GeoError:
        return code
