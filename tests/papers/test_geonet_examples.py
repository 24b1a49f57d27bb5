"""GeoNet's examples, on a few rendered photos that lie as GeoNet's lists say."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"
NETWORK = ["--model", "timm/test_resnet", "--weights", "random", "--seeds", "1", "--steps", "6", "--batch-size", "8"]


@pytest.fixture
def examples(monkeypatch):
    pytest.importorskip("timm")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def draw(folder, labels):
    """Write photos and lists; ``labels`` by region: numbers."""
    rng = np.random.default_rng(0)
    for region, numbers in labels.items():
        for split, n in (("train", 4), ("test", 2)):
            lines = []
            for label in numbers:
                for k in range(n):
                    path = f"{region}/{split}/class_{label}/{k}.jpg"
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    colour = np.full((40, 44, 3), 30 + 60 * (label % 4), dtype=np.uint8)
                    Image.fromarray(colour + rng.integers(0, 20, colour.shape, dtype=np.uint8)).save(folder / path)
                    folded = 200 if split == "test" and label >= 200 else label
                    lines.append(f"{path} {folded}\n")
            text = "".join(lines).encode()
            name = f"{region}_{split}.txt"
            if region == "usa":
                (folder / f"uniDA__{name}.gz").write_bytes(gzip.compress(text))
            else:
                (folder / name).write_bytes(text)
    return ["--photos", str(folder), "--lists", str(folder)]


def test_geonet_on_features_gives_accuracies_drops_and_gains(examples, tmp_path, capsys):
    given = draw(tmp_path / "geo", {"usa": (0, 1), "asia": (0, 1)})
    methods = ["--methods", "source_only,mcc,target_supervised"]
    examples("geonet").main([*given, *NETWORK, *methods, "-o", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    for title in ("Top-1 accuracy", "Accuracy lost between", "Relative accuracy gain", "usa → asia", "asia → usa"):
        assert title in shown
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert set(runs.filter(pl.col("metric") == "accuracy", pl.col("label").is_null())["n"]) == {4}


def test_geonet_end_to_end_reports_the_oracle_as_one(examples, tmp_path, capsys):
    given = draw(tmp_path / "geo", {"usa": (0, 1), "asia": (0, 1)})
    more = ["--methods", "source_only", "--end-to-end", "--recipe", "official", "--steps", "2"]
    examples("geonet").main([*given, *NETWORK, *more, "-o", str(tmp_path / "out")])
    assert "end to end, official, oracle checkpoint" in capsys.readouterr().out
    assert len(list((tmp_path / "out" / "runs").rglob("predictions.parquet"))) == 2


def test_geounida_gives_h_scores_beside_source_only(examples, tmp_path, capsys):
    given = draw(tmp_path / "geo", {"usa": (0, 1, 62), "asia": (0, 1, 200, 201)})
    methods = ["--methods", "source_only,ovanet"]
    examples("geounida").main([*given, *NETWORK, *methods, "-o", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    assert "H-score" in shown
    assert "| source_only |" in shown
    images = pl.read_parquet(tmp_path / "out" / "images.parquet")
    assert set(images.filter(region="asia", split="test")["label"]) == {"000", "001", "200"}


def test_label_balanced_lists_keep_labels_that_both_regions_have(examples):
    geonet = examples("geonet")
    rows = [(f"{region}{label}{k}", label, region, "train") for region in "ua" for label in "01" for k in range(5)]
    rows += [(f"u2{k}", "2", "u", "train") for k in range(5)] + [("t", "0", "u", "test"), ("t2", "2", "u", "test")]
    images = pl.DataFrame(rows, schema=["image_id", "label", "region", "split"], orient="row")
    found = geonet.balance(images, 3)
    assert found.filter(split="train").group_by("region", "label").len()["len"].to_list() == [3] * 4
    assert found.filter(split="test")["image_id"].to_list() == ["t"]


@pytest.mark.parametrize(("line", "message"), [("no_label.jpg", "expected a path and a label"), (None, "0 lists of")])
def test_a_list_that_is_missing_or_another_s_is_one_error(examples, tmp_path, line, message):
    geonet = examples("geonet")
    if line:
        (tmp_path / "usa_train.txt").write_text(f"{line}\n")
    with pytest.raises((ValueError, OSError), match=message):
        geonet.read_lists(tmp_path, regions=["usa"])
