from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import write_table
from graticule.data.tables import FEATURES, IMAGES

PLAN = """
algorithms = ["source_only", "mcc"]
seeds = [4]
trainer = { n_steps = 10, batch_size = 8 }
[[datasets]]
name = "tiny"
images = "images.parquet"
backbones = { one = "features.parquet" }
by = "region"
"""


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(0)
    targets = np.arange(64) % 2
    ids = [f"i{k:03d}" for k in range(64)]
    vectors = (targets[:, None] * 2 + rng.normal(size=(64, 4))).astype(np.float32)
    labels = ["cup" if k else "shoe" for k in targets]
    images = pl.DataFrame({"image_id": ids, "label": labels, "region": ["a", "a", "b", "b"] * 16})
    write_table(images, tmp_path / "images.parquet", IMAGES)
    write_table(
        pl.DataFrame({"image_id": ids, "features": pl.Series(vectors)}), tmp_path / "features.parquet", FEATURES
    )
    (tmp_path / "grid.toml").write_text(PLAN)
    return tmp_path


def run(place, *more):
    with pytest.raises(SystemExit) as ended:
        main(["benchmark", str(place / "grid.toml"), "-o", str(place / "results"), *more])
    return ended.value.code


def test_benchmark_as_typed_prints_and_writes_tables(place, capsys):
    assert run(place, "--processes", "1") == 0
    output = capsys.readouterr().out
    assert "Top-1 accuracy on the target (tiny, one)" in output
    assert "| source_only | " in output
    for name in ("tables.md", "tables.csv", "tables.tex", "tables.html", "runs.parquet"):
        assert (place / "results" / name).is_file()


def test_several_processes_find_the_same(place):
    assert run(place, "--processes", "2") == 0
    several = (place / "results" / "tables.csv").read_text()
    (place / "results").rename(place / "moved")
    assert run(place, "--processes", "1") == 0
    assert (place / "results" / "tables.csv").read_text() == several


def test_a_failed_run_ends_with_1_and_its_name(place, capsys):
    (place / "grid.toml").write_text(PLAN.replace("batch_size = 8", "batch_size = 80"))
    assert run(place, "--processes", "1") == 1
    assert "batch_size is 80, and the source has 32 images" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plan", "words", "message"),
    [
        (PLAN.replace("mcc", "mc"), [], "unknown algorithm 'mc'"),
        (PLAN, ["--processes", "0"], "processes is 0"),
    ],
)
def test_bad_input_ends_with_a_message_and_leaves_nothing_behind(place, capsys, plan, words, message):
    (place / "grid.toml").write_text(plan)
    assert run(place, *words) == 2
    assert message in capsys.readouterr().err
    assert not (place / "results").exists()
