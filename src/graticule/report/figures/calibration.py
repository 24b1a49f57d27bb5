"""Is the model as sure as it is right? A reliability diagram per region, with the expected calibration error."""

from __future__ import annotations

import math

import polars as pl
from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend, write_legend
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.reliability import (
    HEIGHT,
    WIDTH,
    Bin,
    draw_reliability_card,
    write_reliability_html,
)
from graticule.report.drawing.rows import LegendItem
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.estimates import Estimates
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.groups import Groups
from graticule.report.wording import count, percent, plural, points

GROUPS_SHOWN = 12
COLUMNS = 5
CARD_HEIGHT = HEIGHT + 58


def draw_calibration(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return reliability diagrams of a model; None where the predictions had no probabilities."""
    model = models[0]
    accuracy = Estimates(metrics, "calibration_accuracy", model=model)
    confidence = Estimates(metrics, "calibration_confidence", model=model)
    errors = Estimates(metrics, "calibration_error", model=model)
    if len(accuracy) == 0:
        return None
    bins = sorted({key.group for key, _ in accuracy if key.group is not None})
    shown: list[str | None] = [None, *groups.keys[:GROUPS_SHOWN]]
    cards = [
        (
            f"All {groups.many}" if key is None else groups.name(key),
            f"error {points(errors.get(region=key).value)} points",
            _read_bins(key, bins=bins, accuracy=accuracy, confidence=confidence, groups=groups),
        )
        for key in shown
    ]
    legend = _make_legend(groups)
    title = f"Confidence against accuracy, by {groups.one}"
    body, height = _draw_sheet(cards, legend=legend)
    written = join(write_reliability_html(found, title=name, detail=detail) for name, detail, found in cards)
    return Figure(
        name="calibration",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"{model}; up: share right, right: confidence", width=SHEET_WIDTH, height=height
        ),
        inline=write_legend(legend) + tag("div", {"class": "cards tight"}, written),
        table=_make_table(bins, groups=groups, accuracy=accuracy, confidence=confidence),
        alt=_describe(groups, errors=errors, model=model),
        caption=(
            "Each dot gathers predictions of about one confidence (larger: more images) and stands as high as the "
            "share "
            "that is right. Dots below the diagonal mean that the model is surer than it should be. The error is "
            "the mean distance from the diagonal, weighted by images (15 equal bins)."
        ),
        notes=(f"Drawn are the {GROUPS_SHOWN} {groups.many} with the lowest accuracy.",)
        if len(groups.keys) > GROUPS_SHOWN
        else (),
    )


def _read_bins(
    key: str | None, *, bins: list[str], accuracy: Estimates, confidence: Estimates, groups: Groups
) -> tuple[Bin, ...]:
    found: list[Bin] = []
    for name in bins:
        right = accuracy.get(region=key, group=name)
        sure = confidence.get(region=key, group=name).value
        tip = f"confidence {percent(sure)}: {percent(right.value)} right, {plural(right.n, 'image')}"
        found.append(
            Bin(
                confidence=sure,
                accuracy=right.value,
                low=right.low,
                high=right.high,
                n=right.n,
                thin=right.n < groups.min_images,
                tip=tip,
            )
        )
    return tuple(found)


def _make_legend(groups: Groups) -> tuple[LegendItem, ...]:
    return (
        LegendItem(text="predictions of one confidence", css="mark-0"),
        LegendItem(text=f"fewer than {groups.min_images} images", css="mark-thin"),
        LegendItem(text="as sure as it is right", css="diagonal", kind="span"),
    )


def _draw_sheet(
    cards: list[tuple[str, str, tuple[Bin, ...]]], *, legend: tuple[LegendItem, ...]
) -> tuple[Markup, float]:
    drawn_legend, top = draw_legend(legend, x=0.0, y=0.0, width=SHEET_WIDTH)
    step = (SHEET_WIDTH - WIDTH) / (COLUMNS - 1)
    parts = [drawn_legend]
    for place, (name, detail, found) in enumerate(cards):
        x, y = (place % COLUMNS) * step, top + 8 + (place // COLUMNS) * CARD_HEIGHT
        card = draw_reliability_card(found, title=name, detail=detail)
        parts.append(tag("g", {"transform": f"translate({number(x)} {number(y)})"}, card))
    return join(parts), top + 8 + math.ceil(len(cards) / COLUMNS) * CARD_HEIGHT


def _make_table(bins: list[str], *, groups: Groups, accuracy: Estimates, confidence: Estimates) -> DataTable:
    rows = [
        (
            "all" if key is None else groups.name(key),
            name,
            confidence.get(region=key, group=name).value,
            estimate.value,
            estimate.low,
            estimate.high,
            float(estimate.n),
        )
        for key in [None, *groups.keys[:GROUPS_SHOWN]]
        for name in bins
        for estimate in [accuracy.get(region=key, group=name)]
        if estimate.n > 0
    ]
    return DataTable(
        fields=(
            Field(title=groups.one.capitalize()),
            Field(title="Bin"),
            Field(title="Mean confidence", form="percent"),
            Field(title="Accuracy", form="percent"),
            Field(title="Low", form="percent"),
            Field(title="High", form="percent"),
            Field(title="Images", form="count"),
        ),
        rows=tuple(rows),
    )


def _describe(groups: Groups, *, errors: Estimates, model: str) -> str:
    whole = errors.get()
    text = f"{model}: expected calibration error {points(whole.value)} points over {count(whole.n)} images"
    known = [
        (errors.get(region=key).value, key)
        for key in groups.keys
        if key not in groups.thin and math.isfinite(errors.get(region=key).value)
    ]
    if not known:
        return text + "."
    worst, best = max(known), min(known)
    return (
        f"{text}; largest in {groups.name(worst[1])} ({points(worst[0])}), smallest in {groups.name(best[1])} "
        f"({points(best[0])})."
    )
