"""Times in any common ISO form are one instant in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table
from graticule.errors import TableError

TEN = datetime(2020, 1, 1, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-01T10:00:00Z",
        "2020-01-01 10:00",
        "2020-01-01T12:00+02:00",
        "2020-01-01T05:00-05",
        "2020-01-01 12:00:00.000 +0200",
        " 2020-01-01 10:00:00 UTC ",
    ],
)
def test_times_in_every_common_form_mean_the_same(text):
    frame = pl.DataFrame({"image_id": ["a", "b"], "captured_at": [text, "2020-01-01"]})
    found = validate_table(frame, IMAGES, where="t")["captured_at"].to_list()
    assert found == [TEN, datetime(2020, 1, 1, tzinfo=UTC)]


def test_values_of_a_wrong_type_and_out_of_range_are_both_named():
    frame = pl.DataFrame({"image_id": ["a", "b", "c"], "width": ["x", "0", "3"]})
    with pytest.raises(
        TableError, match=r"(?s)row 1: width is 'x'; expected a whole number.*row 2: width is 0; expected at least 1"
    ):
        validate_table(frame, IMAGES, where="t")


def test_the_hint_of_swapped_coordinates_stands_with_the_range_alone():
    with pytest.raises(
        TableError, match=r"latitude is 97.2; expected -90 to 90. Were latitude and longitude swapped\?"
    ):
        validate_table(pl.DataFrame({"image_id": ["a"], "latitude": [97.2]}), IMAGES, where="t")
    with pytest.raises(TableError) as raised:
        validate_table(pl.DataFrame({"image_id": ["a"], "latitude": ["north"]}), IMAGES, where="t")
    assert "swapped" not in str(raised.value)
