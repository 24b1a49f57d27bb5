"""Target against source accuracy, one mark a model, with the line through them: GeoNet's figures 1, 7 and 11."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem
from graticule.report.drawing.scales import Axis, make_axis
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.drawing.symbols import pick_symbol
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.wording import percent, percent_tick, plural

WIDTH, HEIGHT = 560.0, 400.0
LEFT, BOTTOM, TOP, RIGHT = 52.0, 46.0, 12.0, 14.0
LINE_STEPS = 60
NAMED_UP_TO = 12
NORMAL = NormalDist()
EDGE = 1e-3


def _probit(value: float) -> float:
    return NORMAL.inv_cdf(min(1 - EDGE, max(EDGE, value)))


def _logit(value: float) -> float:
    kept = min(1 - EDGE, max(EDGE, value))
    return math.log(kept / (1 - kept))


FORTH: dict[str, Callable[[float], float]] = {"linear": float, "logit": _logit, "probit": _probit}
BACK: dict[str, Callable[[float], float]] = {
    "linear": float,
    "logit": lambda value: 1 / (1 + math.exp(-value)),
    "probit": NORMAL.cdf,
}


def draw_accuracy_line(
    metrics: pl.DataFrame, *, models: tuple[str, ...], source: str, target: str, fit: str
) -> Figure | None:
    """Return the picture; None without a source and a target."""
    if not source or not target:
        return None
    both = [
        (model, found.get(region=source), found.get(region=target))
        for model in models
        for found in [Estimates(metrics, "accuracy", model=model)]
    ]
    both = [(model, one, other) for model, one, other in both if one.n and other.n]
    if not both:
        return None
    ends = [end for _, one, other in both for part in (one, other) for end in (part.low, part.high)]
    axis = make_axis(ends)
    slope = Estimates(metrics, "line_slope", model=None).get(region=target)
    level = Estimates(metrics, "line_intercept", model=None).get(region=target)
    explained = Estimates(metrics, "line_explained", model=None).get(region=target)

    def promise(value: float) -> float:
        return BACK[fit](level.value + slope.value * FORTH[fit](value))

    plane = _draw_plane(both, axis, source=source, target=target, promise=promise if slope.n else None)
    legend = [
        LegendItem(text=model, css=pick_symbol(place).css, shape=pick_symbol(place).shape)
        for place, (model, _, _) in enumerate(both[:NAMED_UP_TO])
    ]
    head, top = draw_legend(tuple(legend), x=0.0, y=0.0, width=SHEET_WIDTH)
    box = f"0 0 {number(WIDTH)} {number(HEIGHT)}"
    title = f"Accuracy in {target} against accuracy in {source}"
    body = head + tag("g", {"transform": f"translate(0 {number(top + 8)})"}, plane)
    told = (
        f" A {fit} line through those not trained in {target} explains {percent(explained.value)} of how they vary."
        if slope.n
        else ""
    )
    return Figure(
        name="accuracy_line",
        title=title,
        svg=write_sheet(body, title=title, subtitle="Bars: 95% intervals", width=SHEET_WIDTH, height=top + HEIGHT + 8),
        inline=write_legend(tuple(legend))
        + tag(
            "svg",
            {
                "viewBox": box,
                "class": "plane wide",
                "role": "img",
                "aria-label": title,
            },
            plane,
        ),
        table=DataTable(
            fields=(
                Field(title="Model"),
                Field(title=source, form="percent"),
                Field(title=target, form="percent"),
                Field(title="Promised", form="percent"),
            ),
            rows=tuple(
                (model, one.value, other.value, promise(one.value) if slope.n else float("nan"))
                for model, one, other in both
            ),
        ),
        alt=f"{plural(len(both), 'model')}; those below the diagonal lose on the way.{told}",
        caption=(
            "On the thin diagonal nothing is lost. The thick line is what source accuracy promises; models that were "
            "trained in the target take no part in it."
        ),
    )


def _draw_plane(
    both: list[tuple[str, Estimate, Estimate]],
    axis: Axis,
    *,
    source: str,
    target: str,
    promise: Callable[[float], float] | None,
) -> Markup:
    def across(value: float) -> float:
        return LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - BOTTOM - TOP)

    parts: list[Markup] = []
    for tick in axis.ticks:
        x, y = across(tick), up(tick)
        parts.append(tag("line", {"class": "grid", "x1": x, "x2": x, "y1": TOP, "y2": HEIGHT - BOTTOM}))
        parts.append(tag("line", {"class": "grid", "x1": LEFT, "x2": WIDTH - RIGHT, "y1": y, "y2": y}))
        parts.append(tag("text", {"class": "tick-text middle", "x": x, "y": HEIGHT - BOTTOM + 16}, percent_tick(tick)))
        parts.append(tag("text", {"class": "tick-text", "x": 8, "y": y + 4}, percent_tick(tick)))
    ends = {"x1": across(axis.low), "y1": up(axis.low), "x2": across(axis.high), "y2": up(axis.high)}
    parts.append(tag("line", {"class": "zero", **ends}))
    if promise is not None:
        steps = [axis.low + (axis.high - axis.low) * place / LINE_STEPS for place in range(LINE_STEPS + 1)]
        line = [(across(value), up(promise(value))) for value in steps if axis.low <= promise(value) <= axis.high]
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in line)
        parts.append(tag("path", {"class": "promised", "d": path, "fill": "none"}))
    for place, (model, one, other) in enumerate(both):
        symbol = pick_symbol(place)
        x, y = across(one.value), up(other.value)
        wide = {"x1": across(one.low), "x2": across(one.high), "y1": y, "y2": y}
        tall = {"x1": x, "x2": x, "y1": up(other.low), "y2": up(other.high)}
        parts += [tag("line", {"class": f"{symbol.css} interval", "stroke-width": 1.5, **bar}) for bar in (wide, tall)]
        tip = tag("title", {}, f"{model}: {percent(one.value)} and {percent(other.value)}")
        parts.append(tag("use", {"href": f"#shape-{symbol.shape}", "class": symbol.css, "x": x, "y": y}, tip))
    middle = {"class": "tick-text middle", "x": (LEFT + WIDTH - RIGHT) / 2, "y": HEIGHT - 8}
    parts.append(tag("text", middle, f"Across: accuracy in {source}   ·   upwards: accuracy in {target}"))
    return join(parts)
