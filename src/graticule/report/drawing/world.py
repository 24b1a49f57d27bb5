"""A map of the world whose groups of countries are coloured by step, with a number on each where there are few."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from graticule.geo.shapes import CountryShape, WorldShapes
from graticule.report.drawing.markup import join, number, tag

MARKER_RADIUS = 7.0
LINE = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Territory:
    """Countries that are coloured alike."""

    name: str
    text: str
    """The number that stands on the map."""
    tip: str
    countries: tuple[str, ...]
    step: int | None
    """Step of the colour scale; None where nothing is known."""
    thin: bool


def draw_world(shapes: WorldShapes, territories: tuple[Territory, ...]) -> Markup:
    """Return the map in the units of its own canvas."""
    used = {code for territory in territories for code in territory.countries}
    rest = "".join(shape.path for code, shape in shapes.countries.items() if code not in used) + shapes.unassigned
    parts = [
        tag("path", {"class": "sea", "d": shapes.outline}),
        tag("path", {"class": "map-grid", "d": shapes.graticule}),
        tag("path", {"class": "land", "d": rest}),
        tag("path", {"class": "hatched wide", "d": rest}),
        *(_draw_territory(territory, shapes=shapes) for territory in territories),
    ]
    return join(parts)


def write_world_html(shapes: WorldShapes, territories: tuple[Territory, ...], *, title: str, labelled: bool) -> Markup:
    """Return the map for the page; its words keep their size while the map shrinks with the screen."""
    box = f"0 0 {shapes.width} {shapes.height}"
    drawn = tag(
        "svg", {"class": "map", "viewBox": box, "role": "img", "aria-label": title}, draw_world(shapes, territories)
    )
    if not labelled:
        return tag("div", {"class": "map-frame"}, drawn)
    words: list[Markup] = []
    for territory in territories:
        place = place_label(territory.countries, shapes=shapes.countries)
        if place is None:
            continue
        x, y = number(100 * place[0] / shapes.width) + "%", number(100 * place[1] / shapes.height) + "%"
        words.append(
            tag(
                "g",
                {},
                tag("text", {"x": x, "y": y, "dy": -2, "class": "map-name middle"}, territory.name),
                tag("text", {"x": x, "y": y, "dy": LINE - 2, "class": "map-number middle"}, territory.text),
            )
        )
    return tag("div", {"class": "map-frame"}, drawn, tag("svg", {"class": "map-labels", "aria-hidden": "true"}, *words))


def draw_world_sheet(
    shapes: WorldShapes, territories: tuple[Territory, ...], *, width: float, labelled: bool
) -> tuple[Markup, float]:
    """Return the map as SVG for a file, and its height in pixels."""
    scale = width / shapes.width
    parts = [tag("g", {"transform": f"scale({scale:.5f})"}, draw_world(shapes, territories))]
    for territory in territories if labelled else ():
        place = place_label(territory.countries, shapes=shapes.countries)
        if place is not None:
            at = {"x": place[0] * scale}
            parts.append(tag("text", {**at, "y": place[1] * scale - 2, "class": "map-name middle"}, territory.name))
            parts.append(
                tag("text", {**at, "y": place[1] * scale + LINE - 2, "class": "map-number middle"}, territory.text)
            )
    return join(parts), shapes.height * scale


def place_label(countries: tuple[str, ...], *, shapes: Mapping[str, CountryShape]) -> tuple[float, float] | None:
    """Return where the number of a group of countries goes: their middle, large countries counting more."""
    found = [shapes[code] for code in countries if code in shapes]
    weights = [math.sqrt(1.0 + len(shape.path)) for shape in found]
    total = sum(weights)
    if not total:
        return None
    x = sum(shape.x * weight for shape, weight in zip(found, weights, strict=True)) / total
    y = sum(shape.y * weight for shape, weight in zip(found, weights, strict=True)) / total
    return x, y


def _draw_territory(territory: Territory, *, shapes: WorldShapes) -> Markup:
    found = [shapes.countries[code] for code in territory.countries if code in shapes.countries]
    path = "".join(shape.path for shape in found)
    css = "land" if territory.step is None else f"step-{territory.step}"
    parts = [tag("path", {"class": "ground", "d": path})]
    parts += [
        tag("circle", {"class": "ground", "cx": shape.x, "cy": shape.y, "r": MARKER_RADIUS})
        for shape in found
        if shape.is_small
    ]
    if territory.thin or territory.step is None:
        parts.append(tag("path", {"class": "hatched wide", "d": path}))
    return tag("g", {"class": f"territory {css}", "data-tip": territory.tip}, join(parts))
