"""The query language: what it picks, what it does with missing values, and what it says of a bad query."""

from __future__ import annotations

import contextlib
import math
import operator
from datetime import UTC, date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.data.query import describe_no_match, read_query, select_rows
from graticule.errors import ConfigError

IMAGES = pl.DataFrame(
    {
        "image_id": ["a", "b", "c", "d"],
        "region": ["Europe", "Africa", None, "Europe"],
        "split": ["train", "train", "test", None],
        "latitude": [48.5, -1.25, math.nan, None],
        "width": [640, 320, None, 1280],
        "is_train": [True, False, None, True],
        "tags": [["beach", "sea"], [], None, ["sea"]],
        "captured_at": [datetime(2020, 6, 1, 12, tzinfo=UTC), datetime(2019, 1, 1, tzinfo=UTC), None, None],
        "day": [date(2020, 6, 1), date(2019, 1, 1), None, None],
        "my column": [1, 2, 3, 4],
        "class": ["x", "y", "x", "y"],
    }
).with_columns(pl.col("region").cast(pl.Categorical).alias("region_category"))


def pick(query):
    return "".join(select_rows(IMAGES, query, where="--train")["image_id"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('region == "Europe" and split == "train"', "a"),
        ("region == 'Europe' or region == 'Africa'", "abd"),
        ('"Europe" == region', "ad"),
        ('region in ["Africa", "Asia"]', "b"),
        ('region not in ("Africa", "Asia")', "ad"),
        ("region in []", ""),
        ("region not in []", "abcd"),
        ("split is None", "d"),
        ("split is null", "d"),
        ("region is not null", "abd"),
        ("latitude is None", "cd"),
        ("width >= 640", "ad"),
        ("320 < width <= 640", "a"),
        ("latitude < -1", "b"),
        ("width in [320, 640.0]", "ab"),
        ("width in [320, 1280]", "bd"),
        ("is_train", "ad"),
        ("not is_train", "b"),
        ("is_train == false", "b"),
        ("True", "abcd"),
        ('"sea" in tags', "ad"),
        ('"beach" not in tags', "bd"),
        ('"fric" in region', "b"),
        ('region_category == "Europe"', "ad"),
        ('region_category in ["Europe"]', "ad"),
        ("`my column` > 2", "cd"),
        ('`class` == "x" and `my column` == 3', "c"),
        ('captured_at >= "2020-01-01"', "a"),
        ('captured_at == "2020-06-01T14:00+02:00"', "a"),
        ('day == "2020-06-01"', "a"),
        ('captured_at in ["2019-01-01"]', "b"),
        ("latitude < width", "ab"),
        ('not (region == "Europe" and (split == "train" or split is None))', "bc"),
        ("region ==\n 'Africa'\n", "b"),
        (f"width in [{', '.join(['320'] * 1500)}]", "b"),
    ],
)
def test_a_query_picks_the_rows_for_which_it_is_true(query, expected):
    assert pick(query) == expected


def test_a_missing_value_is_neither_equal_nor_unequal():
    assert pick('region == "Europe"') + pick('region != "Europe"') == "adb"
    assert pick('not region == "Europe"') == "b"
    assert pick("not latitude > 0") == "b"
    assert pick('region != "Europe" or region is None') == "bc"


@pytest.mark.parametrize(
    ("query", "expected", "position"),
    [
        ('regoin == "Europe"', r"unknown column 'regoin'.*Columns: image_id, region.*Did you mean 'region'\?", 1),
        ("split == train", r"unknown column 'train'.*Did you mean|If it is a text, write \"train\"", 10),
        ('region = "Europe"', "compared with ==, not =", 8),
        ('region == "Europe" AND split == "train"', "small letters", 20),
        ('region == "a" && split == "b"', "joined with and, or, not", 15),
        ("width <> 3", "unequal is written !=", 7),
        ('class == "x"', "between backticks", 1),
        ("width == '640'", "a number stands without quotes", 10),
        ("region == 3", 'a text stands between quotes: "3"', 11),
        ("region == None", "write 'is None'", 11),
        ("region is 'Europe'", "'is' asks for missing values only", 11),
        ("region", "alone is no condition", 1),
        ("3 == 4", "both values; expected a column", 1),
        ("width / 2 > 3", "there is no arithmetic", 1),
        ("len(region) > 3", "neither a column nor a value", 1),
        ("region.x == 'a'", "neither a column nor a value", 1),
        ("image_id in region", "is not a list", 13),
        ("3 in tags", "cannot stand in column 'tags'", 1),
        ("3 in region", "cannot stand in column 'region'", 1),
        ('"a" in ["a"]', "expected a column in front of 'in'", 1),
        ("region in [split]", "is a column; a list holds values", 12),
        ("region in [None]", "write 'is None'", 12),
        ("captured_at > 'soon'", "is not a time; expected ISO 8601", 15),
        ("is_train > False", "has no order", 1),
        ("tags == tags", "cannot be compared", 9),
        ("region == b'x'", "is not a text, a number", 11),
        ("-region > 3", "there is no arithmetic", 1),
        ("-'a' == region", "is not a number", 1),
        ("[region == 'a']", "is no condition", 1),
        ("region == 'a", "cannot be read here", 11),
        ("(region == 'a'", "cannot be read here", 1),
        ("`ünïcode` == 1", "unknown column 'ünïcode'", 1),
        ("`my column` == 1 and reggion == 'a'", "unknown column 'reggion'", 22),
    ],
)
def test_a_bad_query_is_refused_with_the_place_of_the_fault(query, expected, position):
    with pytest.raises(ConfigError, match=f"(?s)^--train: .*(?:{expected})") as caught:
        pick(query)
    text, arrow = str(caught.value).splitlines()[-2:]
    assert text.strip() == query
    assert arrow == " " * (position + 1) + f"^ position {position}"


@pytest.mark.parametrize("query", ["", "  \n ", "a" * 10_001, "(" * 500 + "region", "not " * 2400 + "is_train"])
def test_an_empty_or_endless_query_is_refused(query):
    with pytest.raises(ConfigError, match=r"--train: the query .*as in: region == \"Europe\""):
        pick(query)


def test_nothing_is_evaluated_as_python():
    with pytest.raises(ConfigError, match="neither a column nor a value"):
        pick("__import__('os').system('true') == 0")


def test_values_that_no_row_has_are_named_with_the_nearest():
    hint = describe_no_match(IMAGES, 'region == "Europ" and split in ["train", "tset"]')
    assert "Column 'region' has no 'Europ'; it has 'Africa', 'Europe'. Did you mean 'Europe'?" in hint
    assert "Column 'split' has no 'tset'; it has 'test', 'train'. Did you mean 'test'?" in hint
    assert describe_no_match(IMAGES, 'region == "Europe" and region == "Africa"') == ""


@given(st.text(alphabet=st.sampled_from("abregionsplit width=<>!()[]\"'`,.0123 andornotis\n\\{}ü"), max_size=60))
def test_any_text_is_either_a_query_or_a_clear_error(text):
    with contextlib.suppress(ConfigError):
        select_rows(IMAGES, text)


TEXTS, NUMBERS = st.sampled_from(["Europe", "Africa", "Asia"]), st.integers(-3, 3)
SYMBOLS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _comparison(column, values):
    return st.tuples(st.just(column), st.sampled_from(sorted(SYMBOLS)), values)


CONDITIONS = st.recursive(
    _comparison("text", TEXTS) | _comparison("number", NUMBERS),
    lambda inner: st.tuples(st.just("not"), inner) | st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    max_leaves=6,
)


def _write(condition):
    if condition[0] == "not":
        return f"not ({_write(condition[1])})"
    if condition[0] in ("and", "or"):
        return f"({_write(condition[1])}) {condition[0]} ({_write(condition[2])})"
    return f"{condition[0]} {condition[1]} {condition[2]!r}"


def _judge(condition, row):
    """Three-valued logic, case by case."""
    if condition[0] == "not":
        inner = _judge(condition[1], row)
        return None if inner is None else not inner
    if condition[0] in ("and", "or"):
        sides = {_judge(condition[1], row), _judge(condition[2], row)}
        decisive = condition[0] == "or"
        return decisive if decisive in sides else None if None in sides else not decisive
    value = row[condition[0]]
    return None if value is None else SYMBOLS[condition[1]](value, condition[2])


@given(
    CONDITIONS,
    st.lists(st.tuples(st.none() | TEXTS, st.none() | NUMBERS), max_size=8),
)
def test_a_query_agrees_with_three_valued_logic(condition, rows):
    table = pl.DataFrame(rows, schema={"text": pl.String, "number": pl.Int32}, orient="row").with_row_index()
    expected = [row["index"] for row in table.iter_rows(named=True) if _judge(condition, row) is True]
    assert select_rows(table, _write(condition))["index"].to_list() == expected


def test_a_query_can_be_read_once_and_used_again():
    query = read_query('region == "Europe"', IMAGES.schema)
    assert IMAGES.lazy().filter(query.expression).collect().height == 2
    assert query.asked == (("region", "Europe"),)
