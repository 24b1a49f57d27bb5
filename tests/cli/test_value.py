"""``graticule value``: each command writes its folder, and bad input is one clear error."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import METRICS

LABELS, REGIONS = ("dustbin", "house", "stove"), ("Africa", "Asia", "Europe")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Write features of three regions, together and apart, and their images."""
    folder = tmp_path_factory.mktemp("value")
    rng = np.random.default_rng(0)
    rows = [
        (f"{r}_{k}_{i}", k, r, "test" if i % 4 == 0 else "train") for r in REGIONS for k in LABELS for i in range(36)
    ]
    images = pl.DataFrame(rows, schema=["image_id", "label", "region", "split"], orient="row")
    centres = dict(zip(LABELS, rng.standard_normal((3, 8)), strict=True))
    vectors = np.array([rng.standard_normal(8) + centres[k] + (2 if r == "Africa" else 0) for _, k, r, _ in rows])
    column = pl.Series(vectors.astype(np.float32), dtype=pl.Array(pl.Float32, 8))
    features = images.select("image_id").with_columns(features=column)
    images.write_parquet(folder / "images.parquet")
    features.write_parquet(folder / "all.parquet")
    for region in REGIONS:
        own = images.filter(pl.col("region") == region)
        features.join(own, on="image_id", how="semi").write_parquet(folder / f"{region.lower()}.parquet")
    images.drop("label").write_parquet(folder / "unlabelled.parquet")
    images.drop("region").write_parquet(folder / "placeless.parquet")
    return folder


def run(place, *words):
    with pytest.raises(SystemExit) as ended:
        main(["value", *[str(place / word) if word.endswith(".parquet") else word for word in words]])
    return ended.value.code


def check_folder(folder, page_words):
    metrics = read_table(folder / "metrics.parquet", METRICS)
    assert metrics.height == pl.read_csv(folder / "metrics.csv").height
    assert read_provenance(folder / "metrics.parquet")["command"].startswith("value ")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    for words in page_words:
        assert words in page
    assert list((folder / "figures").glob("*.svg"))
    return metrics


def test_compare_writes_its_folder(place, tmp_path, capsys):
    pytest.importorskip("sklearn")
    words = ["compare", "africa.parquet", "europe.parquet", "--images", "images.parquet", "--permutations", "19"]
    assert run(place, *words, "--planes", "1", "-o", str(tmp_path / "out")) == 0
    metrics = check_folder(tmp_path / "out", ["africa and europe", "t-SNE", "Naeem"])
    told = metrics.filter(pl.col("metric") == "dataset_classifier")["value"][0]
    assert told > 0.8
    assert "chance: 50%" in capsys.readouterr().out


def test_relative_writes_its_folder(place, tmp_path, capsys):
    words = ["relative", "asia.parquet", "europe.parquet", "--images", "images.parquet", "-n", "24", "--seeds", "2"]
    assert run(place, *words, "-o", str(tmp_path / "out")) == 0
    metrics = check_folder(tmp_path / "out", ["Tested on asia", "Tested on europe"])
    assert metrics.filter(pl.col("metric") == "images_needed").height == 2
    assert "24 images of asia give" in capsys.readouterr().out


def test_mix_writes_its_folder(place, tmp_path, capsys):
    words = ["mix", "all.parquet", "--images", "images.parquet", "--source", 'region == "Europe"', "--seeds", "2"]
    words += ["--test", 'split == "test"', "--shares", "0", "0.5", "--bootstraps", "30", "-o", str(tmp_path / "out")]
    assert run(place, *words) == 0
    metrics = check_folder(tmp_path / "out", ["What labels gain from images of Africa", "control region"])
    gained = metrics.filter((pl.col("metric") == "mix_accuracy") & (pl.col("region") == "Africa"))
    assert gained.filter(pl.col("group") == "region")["value"].to_list()[-1] > 0.4
    assert pl.read_csv(tmp_path / "out" / "top_labels.csv")["region"].to_list() == ["Africa", "Asia"]
    assert "images replaced by Africa's" in capsys.readouterr().out


def test_plan_writes_its_folder_and_the_quotas(place, tmp_path, capsys):
    words = ["plan", "all.parquet", "--images", "images.parquet", "--budget", "54", "--trials", "8"]
    assert run(place, *words, "-o", str(tmp_path / "out")) == 0
    check_folder(tmp_path / "out", ["Which images to buy next", "Learning curves"])
    quotas = pl.read_csv(tmp_path / "out" / "quotas.csv")
    assert quotas["quota"].sum() == 50
    assert (tmp_path / "out" / "quotas.yaml").exists()
    assert "Buy 50 images for 54.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plan", "all.parquet", "--images", "unlabelled.parquet", "--budget", "9"], "no column 'label'"),
        (["plan", "all.parquet", "--images", "placeless.parquet", "--budget", "9"], "no column 'region' (--by)"),
        (["plan", "all.parquet", "--images", "images.parquet", "--budget", "1"], "less than the price of one image"),
        (["plan", "all.parquet", "--images", "images.parquet", "--budget", "9", "--goal", "best"], "unknown goal"),
        (["plan", "europe.parquet", "--images", "images.parquet", "--budget", "9"], "of the region 'Europe'"),
        (["relative", "asia.parquet", "europe.parquet", "--images", "images.parquet", "-n", "999"], "has 108 images"),
        (["compare", "asia.parquet", "asia.parquet", "--images", "images.parquet"], "given twice"),
        (["mix", "all.parquet", "--images", "images.parquet", "--source", 'region == "Mars"'], "matches"),
        (
            ["mix", "all.parquet", "--images", "images.parquet", "--source", "region is not None", "--regions", "Mars"],
            "unknown region 'Mars'",
        ),
        (["plann"], "Did you mean 'plan'?"),
    ],
)
def test_bad_input_is_one_clear_error_and_nothing_is_written(place, tmp_path, capsys, words, says):
    extra = [] if words == ["plann"] else ["-o", str(tmp_path / "out")]
    assert run(place, *words, *extra) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()
