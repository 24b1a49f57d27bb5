"""Elements of SVG and HTML as text, with everything that comes from outside escaped.

Two kinds of text exist: `markupsafe.Markup`, which is markup, and plain `str`, which is escaped wherever it goes in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from markupsafe import Markup, escape

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, even escaped."""


def clean(text: str) -> str:
    r"""Return ``text`` without the characters that XML forbids; each becomes the replacement character.

    Examples
    --------
    >>> clean("a\x00b") == "a\ufffdb"
    True
    """
    return NOT_XML.sub("\ufffd", text)


def write(text: str | Markup) -> Markup:
    """Return ``text`` as markup: escaped, unless it already is markup."""
    return text if isinstance(text, Markup) else escape(clean(text))


def tag(name: str, attributes: Mapping[str, object], /, *children: str | Markup) -> Markup:
    """Return an element.

    Parameters
    ----------
    name
        The element's name.
    attributes
        Its attributes; those that are None or False are left out, and True stands for an attribute without a value.
        Numbers are written short.
    children
        What it holds.

    Examples
    --------
    >>> print(tag("text", {"x": 1.50, "class": "name"}, "a < b"))
    <text x="1.5" class="name">a &lt; b</text>
    """
    written = "".join(
        f' {key}=""' if value is True else f' {key}="{write(_short(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(write(child) for child in children)
    if not inside and name in EMPTY_IN_SVG:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{inside}</{name}>")


EMPTY_IN_SVG = frozenset({"circle", "line", "path", "polygon", "rect", "use"})


def join(parts: Iterable[Markup]) -> Markup:
    """Return the parts as one piece of markup."""
    return Markup("".join(parts))


def number(value: float | int) -> str:
    """Return a number in as few characters as drawing needs.

    Examples
    --------
    >>> number(12.0), number(0.12345), number(-0.001)
    ('12', '0.12', '0')
    """
    if not math.isfinite(value):
        return "0"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _short(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    return str(value)
