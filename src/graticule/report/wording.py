"""Numbers in words: the only place in Graticule where a fraction becomes a percentage.

Percentages and differences have one decimal everywhere, so that columns align and nothing looks surer than it is. What
is not known is a dash with a word behind it for those who listen, never a zero.
"""

from __future__ import annotations

import math
import unicodedata

from graticule.report.estimates import Estimate

UNKNOWN = "n/a"
SMALLEST_P = 0.001
MINUS = "−"
LONGEST_NAME = 60
"""Characters of a name within a sentence."""


def percent(value: float | int) -> str:
    """Return a fraction as a percentage with one decimal.

    Examples
    --------
    >>> percent(0.7213), percent(1.0), percent(float("nan"))
    ('72.1%', '100.0%', 'n/a')
    """
    return UNKNOWN if not math.isfinite(value) else f"{100 * value:.1f}%"


def percent_tick(value: float) -> str:
    """Return a round fraction as a percentage, with a decimal only where it has one.

    Examples
    --------
    >>> percent_tick(0.8), percent_tick(0.825)
    ('80%', '82.5%')
    """
    return f"{100 * value:.1f}".removesuffix(".0") + "%"


def percent_number(value: float) -> str:
    """Return a fraction as a percentage without the sign, for cells of a table whose head has it."""
    return UNKNOWN if not math.isfinite(value) else f"{100 * value:.1f}"


def interval(estimate: Estimate) -> str:
    """Return the ends of an interval of fractions; empty where there is none.

    Examples
    --------
    >>> interval(Estimate(value=0.72, low=0.7, high=0.741, n=900))
    '70.0–74.1'
    """
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    return f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}"


def percent_interval(estimate: Estimate) -> str:
    """Return a fraction with its interval.

    Examples
    --------
    >>> percent_interval(Estimate(value=0.72, low=0.7, high=0.741, n=900))
    '72.0% (70.0–74.1)'
    """
    ends = interval(estimate)
    return percent(estimate.value) + (f" ({ends})" if ends else "")


def points(value: float, *, signed: bool = False) -> str:
    """Return a difference of fractions in percentage points.

    Examples
    --------
    >>> points(0.173), points(-0.021, signed=True), points(0.021, signed=True)
    ('17.3', '−2.1', '+2.1')
    """
    if not math.isfinite(value):
        return UNKNOWN
    text = f"{abs(100 * value):.1f}"
    if text == "0.0" or not (signed or value < 0):
        return text
    return (MINUS if value < 0 else "+") + text


def points_interval(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a difference in percentage points with its interval.

    Examples
    --------
    >>> points_interval(Estimate(value=-0.05, low=-0.08, high=-0.02, n=10), signed=True)
    '−5.0 (−8.0 to −2.0)'
    """
    text = points(estimate.value, signed=signed)
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return text
    return f"{text} ({points(estimate.low, signed=signed)} to {points(estimate.high, signed=signed)})"


def count(value: float | int) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count(60000), count(2.0), count(10.25)
    ('60,000', '2', '10.2')
    """
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def p_value(value: float) -> str:
    """Return a p-value with its sign of relation.

    Examples
    --------
    >>> p_value(0.00004), p_value(0.0132), p_value(0.41)
    ('< 0.001', '= 0.013', '= 0.41')
    """
    if not math.isfinite(value):
        return UNKNOWN
    if value < SMALLEST_P:
        return f"< {SMALLEST_P}"
    return f"= {value:.3f}" if value < 0.1 else f"= {value:.2f}"


def p_number(value: float) -> str:
    """Return a p-value for a column of them."""
    return p_value(value).removeprefix("= ").replace("< ", "<")


def plural(number: float | int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "label"), plural(1200, "country", "countries")
    ('1 label', '1,200 countries')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def list_words(words: list[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> list_words(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""


def spell(text: str) -> str:
    """Return a label's or a region's name for a sentence: cut where it is very long, and kept in its own direction.

    Examples
    --------
    >>> spell("bus"), len(spell("x" * 200))
    ('bus', 60)
    """
    short = text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    if any(unicodedata.bidirectional(character) in {"R", "AL"} for character in short):
        return f"\u2068{short}\u2069"
    return short
