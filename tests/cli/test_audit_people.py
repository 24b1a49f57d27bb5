"""``graticule audit --labels`` with what people accept: the gap that is left, images to look at, the page's panels."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.cli.main import main
from graticule.report.estimates import Estimates

N = 200
"""Images a region. The model is right by people's labels in 80 % of either; Bali's labels are wrong in a quarter."""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    images, said, people = [], [], []
    for region in ("Alps", "Bali"):
        for number in range(N):
            name = f"{region}-{number}"
            seen = ("bus", "stove", "cup")[number % 3]
            other = {"bus": "stove", "stove": "cup", "cup": "bus"}[seen]
            is_wrong = region == "Bali" and number % 4 == 0
            images.append((name, other if is_wrong else seen, region))
            said.append((name, seen if number % 5 else other))
            people.append((name, seen, True))
    rows = {"orient": "row"}
    pl.DataFrame(images, schema=["image_id", "label", "region"], **rows).write_csv("images.csv")
    pl.DataFrame(said, schema=["image_id", "prediction"], **rows).write_csv("top1.csv")
    pl.DataFrame(people, schema=["image_id", "label", "is_main"], **rows).write_parquet("labels.parquet")
    pl.DataFrame({"label": ["bus", "stove", "cup"], "superclass": ["road", "home", "home"]}).write_csv("groups.csv")
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return caught.value.code


AUDIT = ("audit", "images.csv", "--predictions", "top1.csv", "--labels", "labels.parquet", "-o", "report")


def test_a_gap_that_labels_made_is_gone_by_accepted_labels(tables, capsys):
    assert run(*AUDIT) == 0
    metrics = pl.read_parquet("report/metrics.parquet").filter(pl.col("label").is_null())

    def read(metric, region):
        return Estimates(metrics, metric, model="top1").get(region=region).value

    assert [read("multi_label_accuracy", region) for region in ("Alps", "Bali")] == pytest.approx([0.8, 0.8])
    assert read("given_label_accuracy", "Alps") == pytest.approx(0.8)
    assert read("given_label_accuracy", "Bali") < 0.7
    assert "0.0 when any label that people accept counts as right" in capsys.readouterr().out


def test_images_whose_label_nobody_saw_are_listed(tables):
    assert run(*AUDIT) == 0
    suspects = pl.read_csv("report/suspects.csv")
    assert suspects["image_id"].to_list() == [f"Bali-{number}" for number in range(0, N, 4)]
    assert (suspects["label"] != suspects["main_label"]).all()


def test_the_page_shows_both_accuracies_and_the_labels_in_doubt(tables):
    assert run(*AUDIT) == 0
    page = (tables / "report" / "index.html").read_text("utf-8")
    for words in ("By what people see", "Can the labels be trusted?", "by any label that people accept"):
        assert words in page
    drawn = {path.name for path in (tables / "report" / "figures").iterdir()}
    assert {"label_fidelity.svg", "label_doubts.svg"} <= drawn
    assert run(*AUDIT[:4], "-o", "plain") == 0
    assert "Can the labels be trusted?" not in (tables / "plain" / "index.html").read_text("utf-8")


def test_superclasses_add_confusions_within_and_between_them(tables):
    assert run(*AUDIT, "--superclasses", "groups.csv") == 0
    names = set(pl.read_parquet("report/metrics.parquet")["metric"].unique())
    assert {"superclass_confusion", "within_superclass_confusion", "between_superclass_confusion"} <= names
    (tables / "groups.json").write_text('{"road": ["bus"], "home": ["stove", "cup"]}')
    one = pl.read_csv("report/metrics.csv")
    assert run(*AUDIT, "--superclasses", "groups.json") == 0
    assert pl.read_csv("report/metrics.csv").equals(one)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("label,group\nbus,road\n", "no column 'superclass'"),
        ("label,superclass\nbus,road\nbus,home\n", "'bus' stand under two superclasses"),
    ],
)
def test_superclasses_that_cannot_be_used_are_refused(tables, capsys, content, said):
    (tables / "bad.csv").write_text(content)
    assert run(*AUDIT, "--superclasses", "bad.csv") == 2
    assert said in capsys.readouterr().err


def test_superclasses_without_labels_of_people_are_refused(tables, capsys):
    assert run(*AUDIT[:4], "--superclasses", "groups.csv") == 2
    assert "--superclasses was given without" in capsys.readouterr().err
