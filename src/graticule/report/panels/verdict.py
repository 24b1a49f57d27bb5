"""The verdict: for each model, its worst and best region, the gap, and whether it is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from graticule.report.estimates import Estimate, Estimates
from graticule.report.groups import Groups
from graticule.report.wording import count, interval, p_value, percent, plural, points


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number with its name and what it rests on."""

    name: str
    """What it is."""
    subject: str
    """Whom it concerns."""
    value: str
    detail: str
    unit: str = ""
    tone: str = ""
    """worst, best or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one model."""

    model: str
    tiles: tuple[Tile, ...]
    sentence: str
    """The same in words."""


def judge_model(metrics: pl.DataFrame, *, model: str, groups: Groups) -> Verdict:
    """Return the verdict on a model, all of it read from the metrics table."""
    whole = metrics.filter(pl.col("label").is_null())
    accuracy = Estimates(whole, "accuracy", model=model)
    worst = Estimates(whole, "worst_region", model=model).find()
    best = Estimates(whole, "best_region", model=model).find()
    overall = accuracy.get()
    tiles = [
        Tile(
            name="Accuracy over all",
            subject="",
            value=percent(overall.value),
            detail=_rest(overall, groups=groups),
        )
    ]
    if worst is not None and best is not None:
        for name, (key, estimate), tone in (("Lowest", worst, "worst"), ("Highest", best, "best")):
            detail = _rest(estimate, groups=groups)
            tiles.append(
                Tile(name=name, subject=groups.name(key), value=percent(estimate.value), detail=detail, tone=tone)
            )
        tiles.append(_judge_gap(whole, model=model, groups=groups))
    flags = _count_flags(whole, model=model)
    if flags is not None:
        tiles.append(flags)
    return Verdict(model=model, tiles=tuple(tiles), sentence=_say(tiles, model=model, groups=groups))


def _rest(estimate: Estimate, *, groups: Groups) -> str:
    ends, images = interval(estimate), plural(estimate.n, "image")
    return f"{groups.confidence} interval {ends}, {images}" if ends else images


def _judge_gap(whole: pl.DataFrame, *, model: str, groups: Groups) -> Tile:
    """Return the gap; it is called more than chance where its interval excludes zero, as in the headline."""
    gap = Estimates(whole, "worst_gap", model=model).get()
    expected = Estimates(whole, "worst_gap_expected", model=model).get().value
    p = Estimates(whole, "worst_gap_p", model=model).get().value
    parts: list[str] = []
    if math.isfinite(gap.low) and math.isfinite(gap.high):
        parts.append(f"{groups.confidence} interval {points(gap.low)} to {points(gap.high)}")
        parts.append("more than chance" if gap.low > 0 else "may be chance")
    if math.isfinite(expected):
        parts.append(f"a random split shows {points(expected)} on average")
    if math.isfinite(p):
        parts.append(f"p {p_value(p)}")
    detail = "; ".join(parts)
    return Tile(name="Gap", subject="highest − lowest", value=points(gap.value), unit="points", detail=detail)


def _count_flags(whole: pl.DataFrame, *, model: str) -> Tile | None:
    flags = Estimates(whole, "partition_flags", model=model)
    expected = Estimates(whole, "partition_flags_expected", model=model)
    found = flags.get(group="extremes")
    if not math.isfinite(found.value):
        return None
    tested = f"of {count(found.n)}" if found.n else ""
    pooled = flags.get(group="pooled").value
    detail = f"{count(expected.get(group='extremes').value)} expected by chance alone"
    if math.isfinite(pooled):
        by_chance = count(expected.get(group="pooled").value)
        detail += f"; GeoDE's pooled reading flags {count(pooled)}, {by_chance} by chance"
    return Tile(
        name="Labels that differ", subject="beyond chance", value=count(found.value), unit=tested, detail=detail
    )


def _say(tiles: list[Tile], *, model: str, groups: Groups) -> str:
    by_name = {tile.name: tile for tile in tiles}
    if "Lowest" not in by_name:
        return f"{model} is right on {by_name['Accuracy over all'].value} of the images."
    low, high = by_name["Lowest"], by_name["Highest"]
    return (
        f"{model} is right on {low.value} of the images in {low.subject} and on {high.value} in {high.subject}, "
        f"a gap of {by_name['Gap'].value} points."
    )
