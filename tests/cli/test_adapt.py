from __future__ import annotations

import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import read_info, read_provenance, read_table, write_table
from graticule.data.tables import FEATURES, IMAGES, METRICS, PREDICTIONS

SOURCE, TARGET = 'region == "Europe"', 'region == "Africa"'


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    targets = np.arange(160) % 2
    vectors = (targets[:, None] * 2 + rng.normal(size=(160, 4))).astype(np.float32)
    ids = [f"i{k:03d}" for k in range(160)]
    images = pl.DataFrame(
        {
            "image_id": ids,
            "label": ["cup" if k else "shoe" for k in targets],
            "region": ["Europe", "Europe", "Africa", "Africa"] * 40,
        }
    )
    write_table(images, tmp_path / "images.parquet", IMAGES)
    write_table(
        pl.DataFrame({"image_id": ids, "features": pl.Series(vectors)}), tmp_path / "features.parquet", FEATURES
    )
    return tmp_path


def words(tables, *more, output="run"):
    given = [str(tables / "features.parquet"), "--images", str(tables / "images.parquet"), "--source", SOURCE]
    return ["adapt", *given, "--target", TARGET, "-o", str(tables / output), *more]


def run(tables, *more, output="run"):
    with pytest.raises(SystemExit) as ended:
        main(words(tables, *more, output=output))
    return ended.value.code


def test_adapt_as_typed_fills_the_folder(tables, capsys):
    assert run(tables, "--algorithm", "cdan", "--steps", "20", "--seed", "3", "--set", "bottleneck=8") == 0
    folder = tables / "run"
    predictions = read_table(folder / "predictions.parquet", PREDICTIONS)
    assert predictions.height == 80
    info = read_info(folder / "predictions.parquet")
    assert (info["labels"], info["kind"]) == (["cup", "shoe"], "probabilities")
    assert info["adaptation"]["resolved_options"]["bottleneck"] == 8
    assert read_provenance(folder / "metrics.parquet")["seed"] == 3
    assert read_table(folder / "metrics.parquet", METRICS)["metric"].is_in(["accuracy"]).any()
    saved = tomllib.loads((folder / "config.toml").read_text())
    assert saved["seed"] == 3
    assert saved["queries"]["source"] == SOURCE
    assert saved["adaptation"]["options"] == {"bottleneck": "8"}
    assert saved["adaptation"]["trainer"]["n_steps"] == 20
    assert (folder / "checkpoints" / "state.json").is_file()
    output = capsys.readouterr().out
    assert "cdan: 80 source images of 2 labels → 80 target images" in output
    assert "accuracy: " in output


def test_the_audit_reads_what_was_adapted(tables):
    assert run(tables, "--algorithm", "source_only", "--steps", "20") == 0
    with pytest.raises(SystemExit) as ended:
        main(
            [
                *("audit", str(tables / "images.parquet"), "--predictions", str(tables / "run/predictions.parquet")),
                *("--by", "region", "-o", str(tables / "report"), "--bootstraps", "20", "--partitions", "20"),
            ]
        )
    assert ended.value.code == 0
    assert (tables / "report" / "index.html").is_file()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--algorithm", "dan"], "Did you mean 'dann'?"),
        (["--set", "bottleneck"], "expected NAME=VALUE"),
        (["--set", "botleneck=3"], "Did you mean 'bottleneck'?"),
        (["--batch-size", "81"], "batch_size is 81, and the source has 80 images"),
        (["--validation", SOURCE], "80 of its 80 images are among the source's"),
        (["--steps", "0"], "n_steps is 0"),
        (["--scale", "colum"], "Did you mean 'column'?"),
        (["--select", "infomx"], "Did you mean 'infomax'?"),
    ],
)
def test_bad_input_ends_with_a_message_and_leaves_nothing_behind(tables, capsys, more, message):
    before = sorted(path.name for path in tables.iterdir())
    assert run(tables, *more) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert message in error
    assert sorted(path.name for path in tables.iterdir()) == before


def test_a_run_of_another_algorithm_in_the_same_folder_is_refused(tables, capsys):
    assert run(tables, "--algorithm", "source_only", "--steps", "20") == 0
    assert run(tables, "--algorithm", "dann", "--steps", "20") == 2
    assert "its checkpoint is of algorithm 'source_only', expected 'dann'" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_run_that_was_killed_goes_on_to_the_same_predictions(tables):
    more = ["--algorithm", "dann", "--steps", "1500", "--checkpoint-every", "100", "--set", "bottleneck=8"]
    more += ["--set", "discriminator=8"]
    started = subprocess.Popen(
        [sys.executable, "-m", "graticule.cli.main", *words(tables, *more)], stderr=subprocess.DEVNULL
    )
    state = tables / "run" / "checkpoints" / "state.json"
    ends_at = time.monotonic() + 120
    while not state.is_file() and time.monotonic() < ends_at:
        time.sleep(0.005)
    started.send_signal(signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    assert not (tables / "run" / "predictions.parquet").exists()
    assert run(tables, *more) == 0
    assert run(tables, *more, output="whole") == 0
    found, expected = (pl.read_parquet(tables / name / "predictions.parquet") for name in ("run", "whole"))
    assert found.equals(expected)
