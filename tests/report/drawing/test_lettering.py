"""Text that is too wide is cut, and only then."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graticule.report.drawing.lettering import measure, shorten


@given(st.text(max_size=80), st.floats(20, 300))
def test_shortened_text_fits_and_begins_as_the_text_does(text, width):
    short = shorten(text, width=width, size=13.0)
    assert short == text or measure(short, size=13.0) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_bold_text_is_wider():
    assert measure("Southeast Asia", size=13.0, bold=True) > measure("Southeast Asia", size=13.0)
