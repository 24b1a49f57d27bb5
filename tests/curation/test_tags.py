"""Tags in any script → labels."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.curation.concepts.tags import fill_labels, fold_tag, match_tags
from graticule.curation.concepts.translations import find_shared_names, read_concepts
from graticule.errors import FileError, TableError

NAMES = """label,en,hi,ko,ja,zh,ru,he,el,tr
running_track,running track|race track,दौड़ने का ट्रैक,육상 트랙,陸上競技場,跑道,беговая дорожка,מסלול ריצה,στίβος,pist
street,street,सड़क,거리,通り; ストリート,街道,улица,רחוב,οδός,cadde
bat,bat,चमगादड़,박쥐,コウモリ,蝙蝠,летучая мышь,עטלף,νυχτερίδα,yarasa
club,bat,क्लब,배트,バット,球棒,бита,אלה,ρόπαλο,sopa
"""


@pytest.fixture
def concepts(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text(NAMES, encoding="utf-8")
    return read_concepts(path)


@pytest.mark.parametrize(
    "tag",
    [
        *("runningtrack", "Running Track", "RUNNING-TRACK", "running_track", "Race Track"),
        *("육상트랙", "육상 트랙", "陸上競技場", "跑道", "БЕГОВАЯДОРОЖКА", "Беговая Дорожка", "מסלולריצה", "ΣΤΊΒΟΣ"),
        *("दौड़ने का ट्रैक", "दौड़नेकाट्रैक"),
    ],
)
def test_a_tag_names_its_label_in_any_script_and_case(concepts, tag):
    assert match_tags(pl.Series([[tag]]), concepts)["label"].to_list() == ["running_track"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ｽﾄﾘｰﾄ", "ストリート"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "café"),
        ("ΟΔΌΣ", "οδός"),
        ("ⅣＡ", "iva"),
        ("नु\u200dक्ता", "नुक्ता"),
        ("cafe\u200d\u0301", "café"),
        ("ǰ", "\u01f0".upper()),
    ],
)
def test_what_people_read_as_one_word_folds_to_one(first, second):
    assert fold_tag(first) == fold_tag(second)


def test_what_tells_words_apart_stays():
    assert fold_tag("बल") != fold_tag("बाल")
    assert fold_tag("pêche") != fold_tag("péché")
    assert fold_tag("ばら") != fold_tag("はら")


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold_tag(fold_tag(text)) == fold_tag(text)


def test_labels_are_matched_once_each_and_rows_stay_apart(concepts):
    tags = pl.Series(
        [["улица", "STREET", "x"], None, [], ["bat"], ["通り", "跑道"], [None, " "]], dtype=pl.List(pl.String)
    )
    assert match_tags(tags, concepts).rows() == [
        (0, "street"),
        (3, "bat"),
        (3, "club"),
        (4, "running_track"),
        (4, "street"),
    ]


def test_names_of_several_labels_are_listed(concepts):
    assert find_shared_names(concepts).rows() == [("bat", ["bat", "club"])]


def test_missing_labels_are_filled_where_one_is_named_and_no_label_is_changed(concepts):
    tags = pl.Series("tags", [["улица"], ["улица"], ["улица", "跑道"], None], dtype=pl.List(pl.String))
    images = pl.DataFrame({"image_id": list("abcd"), "label": [None, "car", None, None]}).with_columns(tags)
    assert fill_labels(images, concepts)["label"].to_list() == ["street", "car", None, None]


def test_a_long_table_says_the_same(tmp_path):
    path = tmp_path / "names.jsonl"
    path.write_text('{"label": "street", "language": "ru", "name": "улица"}\n', encoding="utf-8")
    assert read_concepts(path).select("label", "name").rows() == [("street", "улица"), ("street", "street")]


@pytest.mark.parametrize(
    ("text", "says"),
    [("name,en\nstreet,street\n", "no column 'label'"), ("label,en\n,street\n", "no label in row 2")],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, says):
    path = tmp_path / "names.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=says):
        read_concepts(path)
    with pytest.raises(FileError):
        read_concepts(tmp_path / "none.csv")
