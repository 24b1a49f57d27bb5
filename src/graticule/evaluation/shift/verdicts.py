"""What a decomposition says, in plain words: which causes are named, and a sentence for the drop and for each label."""

from __future__ import annotations

import numpy as np

from graticule.evaluation.shift.decomposition import APPEARANCE, CONTEXT, DESIGN, PRIOR, REST, Decomposition

LEAST_SHARE = 0.2
"""A cause is named if its interval keeps clear of 0 and it makes up at least this share of the drop."""
LEAST_OVERLAP = 0.1
"""Effective share of images below which backgrounds and designs are not told apart with any confidence."""
NO_OVERLAP = (
    "Backgrounds and designs change together, with hardly an image in between: how these two share their part is a "
    "guess."
)


WORDS = {
    PRIOR: "label frequencies",
    CONTEXT: "backgrounds",
    DESIGN: "the look of the objects",
    APPEARANCE: "the look of the images",
    REST: "what neither labels nor features show",
}


def name_causes(found: Decomposition) -> tuple[str, ...]:
    """Return the causes that a drop is put down to, largest first; the rest is none (see `has_clear_rest`)."""
    named = _name(found.causes, found.drop.value[0], found.parts.value, found.parts.low, found.parts.high)
    return tuple(cause for cause in named if cause != REST)


def has_clear_rest(found: Decomposition) -> bool:
    """Return whether a sizeable part of a drop is due to something that neither labels nor features show."""
    return REST in _name(found.causes, found.drop.value[0], found.parts.value, found.parts.low, found.parts.high)


def name_label_causes(found: Decomposition, label: int) -> tuple[str, ...]:
    """Return the causes that one label's own drop is put down to."""
    parts = [(part.value[label], part.low[label], part.high[label]) for part in found.label_parts]
    value, low, high = np.array(parts).T
    named = _name(found.causes, found.label_drops.value[label], value, low, high)
    return tuple(cause for cause in named if cause != REST) or named


def has_overlap(found: Decomposition) -> bool:
    """Return whether the regions' images overlap enough for backgrounds and designs to be told apart."""
    return all(share >= LEAST_OVERLAP for share in found.overlap.values())


def write_verdict(found: Decomposition, *, source: str, target: str) -> str:
    """Return a sentence on the drop and what it is put down to."""
    drop, low, high = (float(side[0]) for side in (found.drop.value, found.drop.low, found.drop.high))
    if low <= 0 <= high:
        return f"{target} is not clearly worse than {source}: the drop is {_points(drop)} points ({_range(low, high)})."
    verb = "loses" if drop > 0 else "gains"
    opening = f"From {source} to {target} the model {verb} {_points(abs(drop))} points ({_ends(low, high)})."
    named = (*name_causes(found), *((REST,) if has_clear_rest(found) else ()))
    if not named:
        return f"{opening} No single cause is clearly larger than chance."
    places = [found.causes.index(cause) for cause in named]
    listed = _list([f"{WORDS[cause]} {_write_part(found, at)}" for cause, at in zip(named, places, strict=True)])
    doubt = "" if has_overlap(found) else f" {NO_OVERLAP}"
    return f"{opening} Of these points, with all intervals holding together: {listed}.{doubt}"


def write_label_verdict(found: Decomposition, label: int) -> str:
    """Return a few words on one label's own drop."""
    if found.label_drops.n[label] == 0:
        return "on one side only"
    if found.label_parts[0].n[label] == 0:
        return "too few images to tell"
    low, high = found.label_drops.low[label], found.label_drops.high[label]
    if not (low > 0 or high < 0):
        return "no clear change"
    named = name_label_causes(found, label)
    if not named:
        return "clear change, cause unclear"
    return "mostly " + " and ".join(WORDS[cause] for cause in named)


def _name(
    causes: tuple[str, ...], drop: float, value: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[str, ...]:
    sign = 1.0 if drop >= 0 else -1.0
    is_clear = np.where(sign > 0, low > 0, high < 0) & (sign * value >= LEAST_SHARE * abs(drop))
    order = np.argsort(-sign * value, kind="stable")
    return tuple(causes[place] for place in order if is_clear[place])


def _write_part(found: Decomposition, at: int) -> str:
    ends = _ends(found.parts.low[at], found.parts.high[at])
    return f"{_points(abs(found.parts.value[at]))} ({ends})"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def _range(low: float, high: float) -> str:
    return f"{_points(low)} to {_points(high)}"


def _ends(low: float, high: float) -> str:
    smaller, larger = sorted((abs(low), abs(high)))
    return _range(smaller, larger)


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
