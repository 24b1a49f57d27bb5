from __future__ import annotations

import pytest

from graticule.errors import ConfigError, FileError
from graticule.models.label_file import LabelRule, read_label_file


def read(tmp_path, text, name="labels.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_label_file(tmp_path / name)


def test_a_list_and_a_text_file_give_labels_alone(tmp_path):
    expected = (LabelRule(label="cup"), LabelRule(label="no"), LabelRule(label="3"))
    assert read(tmp_path, "[cup, no, 3]").rules == expected
    assert read(tmp_path, "- cup\n- no\n- 3\n").rules == expected
    assert read(tmp_path, "cup\n\nno \n3", "labels.txt").rules == expected


def test_a_mapping_says_what_each_label_means(tmp_path):
    file = read(
        tmp_path,
        "lamp: {synsets: [n03637318, lamp.n.01], classes: [torch, 845], prompts: a lamp, description: a desk lamp}\n"
        "cup:\nno: {synsets: n03147509}\n",
    )
    assert file.labels == ("lamp", "cup", "no")
    assert file.rules[0] == LabelRule(
        label="lamp",
        synsets=("n03637318", "lamp.n.01"),
        classes=("torch", "845"),
        prompts=("a lamp",),
        description="a desk lamp",
    )
    assert file.rules[1] == LabelRule(label="cup")
    assert file.rules[2].synsets == ("n03147509",)
    assert len(file.sha256) == 64


def test_csv_is_read_with_and_without_a_header(tmp_path):
    plain = read(tmp_path, "Bag,n02773037,n02774152,\nBackyard,,,\n", "synsets.csv")
    assert [(rule.label, rule.synsets) for rule in plain.rules] == [
        ("Bag", ("n02773037", "n02774152")),
        ("Backyard", ()),
    ]
    headed = read(tmp_path, "label,synset1,synset2,class,description\nBag,n1,n2,purse,a bag\nYard,,,,\n", "a.csv")
    assert headed.rules[0] == LabelRule(label="Bag", synsets=("n1", "n2"), classes=("purse",), description="a bag")
    assert headed.rules[1] == LabelRule(label="Yard")


def test_the_files_of_the_papers_data_can_be_read(shared):
    file = read_label_file(shared("data/geode_index/imagenet_synsets.csv"))
    assert len(file.rules) == 40
    assert sum(bool(rule.synsets) for rule in file.rules) == 38


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no labels in it"),
        ("{}", "no labels in it"),
        ("cup", "holds the text 'cup'"),
        ("cup: 1\ncup: 2", "'cup' stands twice"),
        ("[cup, lamp, cup]", "the label 'cup' stands 2 times"),
        ("[cup, '']", "the label '' is not a text"),
        ("[[cup]]", "is not a text"),
        ("cup: n03147509", "'cup' holds 'n03147509', not any of synsets"),
        ("cup: {synset: [n1]}", r"unknown key 'synset'.*Did you mean 'synsets'"),
        ("cup: {synsets: [[n1]]}", "'synsets' holds something that is not a text"),
        ("cup: [", "not a valid YAML file"),
        ("a: {x: 1}\nb: {x: 1}\nc: {x: 1}\nd: {x: 1}\ne: {x: 1}\nf: {x: 1}", "and 1 more faults"),
    ],
)
def test_a_bad_file_is_refused_with_what_was_expected(tmp_path, text, message):
    with pytest.raises(ConfigError, match=f"(?s)labels.yaml: .*{message}") as caught:
        read(tmp_path, text)
    assert "list of labels, or each label with synsets" in str(caught.value)


def test_a_csv_with_an_unknown_column_and_an_empty_one_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"unknown column 'wnid'"):
        read(tmp_path, "label,wnid\ncup,n1\n", "a.csv")
    with pytest.raises(ConfigError, match="no labels in it"):
        read(tmp_path, "\n,\n", "a.csv")


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path):
    with pytest.raises(FileError, match="cannot be read as text"):
        read_label_file(tmp_path / "none.yaml")
    (tmp_path / "image.yaml").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(FileError, match="cannot be read as text"):
        read_label_file(tmp_path / "image.yaml")
