"""``graticule curate``: what the commands write, print and refuse."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import IMAGES, METRICS, REJECTS


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


@pytest.fixture
def images(tmp_path):
    rng = np.random.default_rng(0)
    n = 300
    frame = pl.DataFrame(
        {
            "file_name": [f"photos/{number}.jpg" for number in range(n)],
            "label": rng.choice(["chair", "stove"], n),
            "region": rng.choice(["Asia", "Africa"], n),
        }
    )
    path = tmp_path / "in" / "images.csv"
    path.parent.mkdir()
    frame.write_csv(path)
    return path


def test_split_writes_images_and_rejects_with_paths_that_still_hold(images, tmp_path, capsys):
    output = tmp_path / "out" / "split.parquet"
    assert run("curate", "split", images, "--sizes", "test=20", "train=30", "-o", output) == 0
    kept = read_table(output, IMAGES)
    rejects = read_table(output.with_name("split.rejects.parquet"), REJECTS)
    assert kept.height + rejects.height == 300
    assert kept["path"][0].startswith("../in/photos/")
    assert rejects["path"][0].startswith("../in/photos/")
    assert read_provenance(output)["command"] == "curate split"
    printed = capsys.readouterr().out
    assert "200 of 300 images kept" in printed
    assert "100 left out by split" in printed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--sizes", "train=0.5", "test=0.4"), "add up to 0.9"),
        (("--method", "exakt"), "Did you mean 'exact'?"),
        (("--by", "place"), "no column 'place'"),
        (("-o", "out.csv"), "expected a name that ends in .parquet"),
        (("--previous", "nothing.parquet"), "nothing.parquet"),
    ],
)
def test_split_refuses_with_one_sentence_and_writes_nothing(images, capsys, monkeypatch, words, says):
    monkeypatch.chdir(images.parent)
    assert run("curate", "split", images, *words) == 2
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors
    assert not list(images.parent.glob("*.parquet"))


def test_an_empty_table_and_an_unknown_command_are_refused(tmp_path, capsys):
    empty = tmp_path / "empty.csv"
    empty.write_text("image_id,label\n")
    assert run("curate", "split", empty, "-o", tmp_path / "o.parquet") == 2
    assert "no image in it" in capsys.readouterr().err
    assert run("curate", "splitt", empty) == 2
    assert "Did you mean 'split'" in capsys.readouterr().err


def test_balance_draws_and_refuses_what_contradicts_itself(images, tmp_path, capsys):
    output = tmp_path / "balanced.parquet"
    assert run("curate", "balance", images, "--equal", "40", "-o", output) == 0
    cells = read_table(output, IMAGES).group_by("region", "label").len()
    assert set(cells["len"]) == {40}
    assert run("curate", "balance", images, "--equal", "40", "--low", "3", "-o", output) == 2
    assert run("curate", "balance", images, "--equal", "forty", "-o", output) == 2
    assert run("curate", "balance", images, "--share", "0.3", "-o", output) == 2
    assert run("curate", "balance", images, "--mix", images, "--low", "3", "-o", output) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_mix_keeps_the_paths_of_both_tables(images, tmp_path):
    other = tmp_path / "other" / "more.csv"
    other.parent.mkdir()
    frame = pl.read_csv(images).with_columns(pl.col("file_name").str.replace("photos", "pictures"))
    frame.write_csv(other)
    output = tmp_path / "mixed.parquet"
    assert run("curate", "balance", images, "--mix", other, "--share", "0.5", "-o", output) == 0
    folders = {path.rsplit("/", 1)[0] for path in read_table(output, IMAGES)["path"]}
    assert folders == {"in/photos", "other/pictures"}


def test_universal_writes_images_and_labels(images, tmp_path):
    output = tmp_path / "universal.parquet"
    words = ("--source", "Asia", "--target", "Africa", "--top", "2", "-o", output)
    assert run("curate", "universal", images, *words) == 0
    assert set(read_table(output, IMAGES)["label_index"]) == {0, 1}
    assert pl.read_csv(tmp_path / "universal.labels.csv")["kind"].to_list() == ["shared", "shared"]
    assert run("curate", "universal", images, "--source", "Asia", "--target", "Mars") == 2


def test_filter_keeps_and_rejects_by_tags_in_any_script(tmp_path, capsys):
    images = tmp_path / "images.jsonl"
    images.write_text(
        '{"image_id": "a", "tags": ["улица", "x"]}\n{"image_id": "b", "tags": ["улица", "跑道"]}\n'
        '{"image_id": "c", "tags": []}\n',
        encoding="utf-8",
    )
    names = tmp_path / "names.csv"
    names.write_text("label,ru,zh\nstreet,улица,街道\ntrack,беговая дорожка,跑道\n", encoding="utf-8")
    output = tmp_path / "filtered.parquet"
    assert run("curate", "filter", images, "--use", "one_label", "--concepts", names, "-o", output) == 0
    assert read_table(output, IMAGES).select("image_id", "label").rows() == [("a", "street")]
    rejects = read_table(tmp_path / "filtered.rejects.parquet", REJECTS)
    assert rejects["reason"].to_list() == ["its tags name 2 labels: street, track", "its tags name no label"]
    assert "1 of 3 images kept" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no filter was named"),
        (("--use", "blured"), "Did you mean 'blurred'?"),
        (("--use", "resolution", "--min-size", "640"), "expected WIDTHxHEIGHT"),
        (("--use", "blurred", "--max-blur", "3"), "expected a share"),
        (("--use", "one_label"), "--concepts FILE"),
        (("--use", "location"), "'latitude', 'longitude'"),
    ],
)
def test_filter_refuses_with_one_sentence(images, capsys, words, says):
    assert run("curate", "filter", images, *words, "-o", images.parent / "o.parquet") == 2
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors
    assert not list(images.parent.glob("o.*"))


@pytest.fixture
def features(images, tmp_path):
    names = pl.read_csv(images)
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(names.height, 6)).astype(np.float32)
    vectors[:, 0] += 6 * ((names["label"] == "stove") & (names["region"] == "Asia")).to_numpy()
    values = pl.Series("features", vectors, dtype=pl.Array(pl.Float32, 6))
    path = tmp_path / "features.parquet"
    names.select(pl.col("file_name").alias("image_id")).with_columns(values).write_parquet(path)
    return path


def test_concepts_keeps_labels_that_differ_and_ranks_all(images, features, tmp_path, capsys):
    output = tmp_path / "concepts.parquet"
    words = ("--features", features, "--heuristic", "region_svm", "cluster_gini", "--rarest", "0", "--accuracy", "0.8")
    assert run("curate", "concepts", images, *words, "-o", output) == 0
    assert set(read_table(output, IMAGES)["label"]) == {"stove"}
    rejects = read_table(tmp_path / "concepts.rejects.parquet", REJECTS)
    assert set(rejects["label"]) == {"chair"}
    assert pl.read_csv(tmp_path / "concepts.concepts.csv")["label"].to_list() == ["stove", "chair"]
    assert "1 of 2 labels are kept" in capsys.readouterr().out


def test_concepts_prunes_by_hand_without_features(images, tmp_path):
    (tmp_path / "drop.csv").write_text("label\nstove\n")
    (tmp_path / "merge.csv").write_text("label,into\nchair,seat\n")
    output = tmp_path / "pruned.parquet"
    words = ("--drop", tmp_path / "drop.csv", "--merge", tmp_path / "merge.csv", "-o", output)
    assert run("curate", "concepts", images, *words) == 0
    assert set(read_table(output, IMAGES)["label"]) == {"seat"}


def test_concepts_names_images_by_tags_and_counts_each_name(tmp_path):
    images = tmp_path / "images.jsonl"
    images.write_text('{"image_id": "a", "tags": ["УЛИЦА"]}\n{"image_id": "b", "tags": ["x"]}\n', encoding="utf-8")
    (tmp_path / "names.csv").write_text("label,ru\nstreet,улица\n", encoding="utf-8")
    output = tmp_path / "named.parquet"
    assert run("curate", "concepts", images, "--names", tmp_path / "names.csv", "-o", output) == 0
    assert read_table(output, IMAGES)["label"].to_list() == ["street", None]
    counts = pl.read_csv(tmp_path / "named.names.csv")
    assert counts.filter(language="ru")["n_images"].to_list() == [1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "nothing to do"),
        (("--features", "none.parquet"), "none.parquet: no such file"),
        (("--names", "IMAGES"), "no column 'tags'"),
        (("--drop", "none.csv"), "none.csv"),
    ],
)
def test_concepts_refuses_with_one_sentence(images, capsys, words, says):
    given = [images if word == "IMAGES" else word for word in words]
    assert run("curate", "concepts", images, *given, "-o", images.parent / "o.parquet") == 2
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors
    assert not list(images.parent.glob("o.*"))


def test_stats_writes_a_page_and_every_number(images, tmp_path, capsys):
    folder = tmp_path / "stats"
    assert run("curate", "stats", images, "-o", folder) == 0
    assert "Images by label and region" in (folder / "index.html").read_text("utf-8")
    counts = pl.read_csv(folder / "counts.csv")
    assert counts["all"].sum() == 300
    assert counts.columns == ["dataset", "label", "Africa", "Asia", "all"]
    metrics = read_table(folder / "metrics.parquet", METRICS)
    assert metrics.height == pl.read_csv(folder / "metrics.csv").height
    assert "images: 300 images, 2 labels, 2 regions, 0 countries." in capsys.readouterr().out


def test_stats_compares_tables_and_values_of_a_column(images, tmp_path):
    other = tmp_path / "other.csv"
    pl.read_csv(images).filter(pl.col("label") == "chair").write_csv(other)
    assert run("curate", "stats", images, other, "-o", tmp_path / "two") == 0
    assert set(pl.read_csv(tmp_path / "two" / "metrics.csv")["dataset"]) == {"images", "other"}
    assert run("curate", "stats", images, "--each", "region", "--by", "label", "-o", tmp_path / "each") == 0
    assert set(pl.read_csv(tmp_path / "each" / "metrics.csv")["dataset"]) == {"Asia", "Africa"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("none.csv",), "none.csv"),
        (("IMAGES", "IMAGES"), "given twice"),
        (("IMAGES", "--each", "photographer"), "no column 'photographer'"),
        (("IMAGES", "--min-images", "-3"), "min_images is -3"),
    ],
)
def test_stats_refuses_with_one_sentence(images, tmp_path, capsys, words, says):
    given = [images if word == "IMAGES" else word for word in words]
    assert run("curate", "stats", *given, "-o", tmp_path / "stats") == 2
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "stats").exists()
