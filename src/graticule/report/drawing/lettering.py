"""How wide text is, so that a drawing can leave room for it or shorten it.

Widths are those of the font that travels with the package; another font differs by a few per cent.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FONTS = Path(__file__).parents[1] / "fonts"
REFERENCE_SIZE = 100
ELLIPSIS = "…"


def measure(text: str, *, size: float, bold: bool = False) -> float:
    """Return the width of ``text`` in pixels at a font size in pixels.

    Examples
    --------
    >>> measure("iii", size=12.0) < measure("MMM", size=12.0)
    True
    """
    return _load_font(bold).getlength(text) * size / REFERENCE_SIZE


def shorten(text: str, *, width: float, size: float, bold: bool = False) -> str:
    """Return ``text``, or its beginning and an ellipsis where it is wider than ``width`` pixels.

    Examples
    --------
    >>> shorten("cat", width=100.0, size=12.0)
    'cat'
    >>> shorten("a very long label indeed", width=60.0, size=12.0)
    'a very lo…'
    """
    if measure(text, size=size, bold=bold) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle].rstrip() + ELLIPSIS, size=size, bold=bold) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + ELLIPSIS


@cache
def _load_font(bold: bool) -> FreeTypeFont:
    from PIL import ImageFont

    name = "InterSemiBold.ttf" if bold else "InterRegular.ttf"
    return ImageFont.truetype(str(FONTS / name), REFERENCE_SIZE, layout_engine=ImageFont.Layout.BASIC)
