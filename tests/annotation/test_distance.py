"""Distances between labels, and the glossary that they and the tasks are described by."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.annotation.distance import load_distance
from graticule.annotation.glossary import Glossary, make_glossary
from graticule.errors import ConfigError, TableError


def test_none_calls_every_label_near():
    assert load_distance("none").measure(["a", "b"], ["c", "d"]).tolist() == [0.0, 0.0]


def test_a_file_gives_the_distance_in_both_orders(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("label,other,distance\ncat,dog,3\ncat,owl,7.5\n")
    distance = load_distance(f"file:{path}")
    assert distance.measure(["cat", "dog", "owl"], ["dog", "cat", "owl"]).tolist() == [3.0, 3.0, 0.0]
    with pytest.raises(TableError, match=r"no distance for 1 pairs of labels: \('dog', 'owl'\)"):
        distance.measure(["dog"], ["owl"])


def test_a_file_that_contradicts_itself_is_refused(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("label,other,distance\ncat,dog,3\ndog,cat,4\n")
    with pytest.raises(TableError, match="1 pairs have different distances"):
        load_distance(f"file:{path}")
    with pytest.raises(ConfigError, match=r"file:pairs\.csv"):
        load_distance("file")


def test_an_unknown_distance_is_named():
    with pytest.raises(ConfigError, match="Did you mean 'wordnet'"):
        load_distance("wordnett")


def test_a_glossary_describes_what_it_knows():
    table = pl.DataFrame(
        {"label": ["0", "1", "2"], "name": ["tench", None, ""], "description": ["a fish", "an egg", None],
         "wordnet_id": ["n01440764", None, None]}
    )  # fmt: skip
    glossary = make_glossary(table, where="labels.csv")
    assert glossary.describe(["0", "1", "2", "3"]) == {"0": "tench: a fish", "1": "an egg"}
    assert glossary.find_wordnet_id("0") == "n01440764"
    assert glossary.find_wordnet_id("1") is None
    assert Glossary().find_wordnet_id("n02123045") == "n02123045"


def test_a_glossary_names_a_label_once():
    with pytest.raises(TableError, match="row 2"):
        make_glossary(pl.DataFrame({"label": ["a", "a"], "name": ["x", "y"]}), where="labels.csv")
