"""Whatever a name holds, it stays text."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from graticule.report.drawing.markup import clean, number, tag


@given(st.text(), st.text())
def test_any_text_comes_out_of_an_element_as_it_went_in(inside, attribute):
    element = ElementTree.fromstring(str(tag("text", {"data-name": attribute}, inside)))
    # XML turns line ends and, in attributes, all white space into its own kind; nothing else may change.
    assert (element.text or "").split() == clean(inside).split()
    assert element.attrib["data-name"].split() == clean(attribute).split()
    assert len(element) == 0


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_numbers_are_short_and_finite(value):
    text = number(value)
    assert "e" not in text or abs(value) >= 1e16
    assert "nan" not in text
    assert "inf" not in text


def test_attributes_that_are_none_or_false_are_left_out():
    assert str(tag("input", {"checked": True, "disabled": False, "value": None})) == '<input checked=""></input>'
