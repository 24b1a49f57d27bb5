"""PNG figures show their text on a machine without a single font."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from graticule.report.drawing.markup import tag
from graticule.report.drawing.sheet import write_sheet
from graticule.report.raster import render_png


def count_ink(text: str, *, system_fonts: bool) -> int:
    """Return how many pixels of a sheet differ from its paper where a text stands."""
    drawn = tag("text", {"x": 0, "y": 40}, text)
    svg = write_sheet(drawn, title=" ", subtitle=" ", width=300.0, height=80.0)
    picture = np.asarray(Image.open(io.BytesIO(render_png(svg, zoom=2.0, system_fonts=system_fonts))).convert("L"))
    return int((picture < 128).sum())


def test_latin_greek_and_cyrillic_need_no_font_of_the_machine():
    for text in ("Accuracy 72.1% → bus, −3.6 points", "Ακρίβεια", "Точность", "Łódź, São Tomé, Đà Nẵng"):
        assert count_ink(text, system_fonts=False) > 200, text


def test_the_packaged_font_is_the_one_that_draws():
    text = "Worst and best region of each label"
    assert abs(count_ink(text, system_fonts=False) - count_ink(text, system_fonts=True)) <= 2


def test_a_sheet_has_the_colours_of_paper():
    svg = write_sheet(tag("g", {}), title="A title", subtitle="More", width=300.0, height=80.0)
    picture = Image.open(io.BytesIO(render_png(svg, zoom=1.0))).convert("RGB")
    assert picture.getpixel((2, picture.height - 2)) == (255, 255, 255)
