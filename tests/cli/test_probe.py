from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import read_info, read_provenance, read_table, write_table
from graticule.data.tables import FEATURES, IMAGES, PREDICTIONS


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    targets = np.arange(60) % 2
    vectors = (targets[:, None] * 2 + rng.normal(size=(60, 4))).astype(np.float32)
    ids = [f"i{k}" for k in range(60)]
    images = pl.DataFrame(
        {
            "image_id": ids,
            "label": ["cup" if k else "shoe" for k in targets],
            "region": ["Europe", "Europe", "Asia", "Asia"] * 15,
            "split": ["train"] * 40 + ["test"] * 20,
        }
    )
    write_table(images, tmp_path / "images.parquet", IMAGES)
    images.write_csv(tmp_path / "images.csv")
    table = pl.DataFrame({"image_id": ids, "features": pl.Series(vectors)})
    write_table(table, tmp_path / "features.parquet", FEATURES, info={"model": "timm/tiny"})
    return tmp_path


def run(tables, *words):
    with pytest.raises(SystemExit) as ended:
        main(["probe", str(tables / "features.parquet"), "-o", str(tables / "predictions.parquet"), *words])
    return ended.value.code


@pytest.mark.parametrize("images", ["images.parquet", "images.csv"])
def test_probe_as_typed_writes_predictions_of_every_image(tables, capsys, images):
    query = 'region == "Europe" and split == "train"'
    assert run(tables, "--images", str(tables / images), "--train", query) == 0
    written = read_table(tables / "predictions.parquet", PREDICTIONS)
    assert written.height == 60
    assert written["is_train"].sum() == 20
    info = read_info(tables / "predictions.parquet")
    assert (info["labels"], info["kind"]) == (["cup", "shoe"], "probabilities")
    assert info["model"] == f"timm/tiny, probe trained on {query}"
    provenance = read_provenance(tables / "predictions.parquet")
    assert set(provenance["inputs"]) == {"features.parquet", images}
    assert provenance["config"]["train"] == query
    output = capsys.readouterr().out
    assert "trained on 20 images of 2 labels" in output
    assert "out of fold: " in output
    assert "60 images predicted → " in output


def test_options_reach_the_probe(tables, capsys):
    words = ["--folds", "0", "--inverse-penalty", "2.5", "--scale", "column", "--name", "mine", "--seed", "4"]
    assert run(tables, "--images", str(tables / "images.parquet"), "--train", "True", *words) == 0
    info = read_info(tables / "predictions.parquet")
    probe = info["probe"]
    assert info["model"] == "mine"
    assert (probe["n_folds"], probe["inverse_penalty"], probe["scale"], probe["seed"]) == (0, 2.5, "column", 4)
    assert "this flatters" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--train", 'region == "Asiaa"'], "Did you mean 'Asia'?"),
        (["--train", 'region = "Asia"'], "compared with ==, not ="),
        (["--train", "True", "--folds", "1"], "n_folds is 1, expected at least 2"),
        (["--train", "True", "--group", "sign"], "--group: unknown column 'sign'"),
        (["--train", "True", "--scale", "colum"], "Did you mean 'column'?"),
        (["--train", "True", "--choice", "best"], "unknown choice 'best'"),
    ],
)
def test_bad_input_ends_with_a_message_and_leaves_nothing_behind(tables, capsys, words, message):
    before = sorted(path.name for path in tables.iterdir())
    assert run(tables, "--images", str(tables / "images.parquet"), *words) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert message in error
    assert "Traceback" not in error
    assert sorted(path.name for path in tables.iterdir()) == before


def test_a_missing_file_is_named(tables, capsys):
    assert run(tables, "--images", str(tables / "nothing.parquet"), "--train", "True") == 2
    assert "nothing.parquet" in capsys.readouterr().err
