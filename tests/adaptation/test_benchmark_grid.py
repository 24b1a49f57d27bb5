from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from graticule.adaptation.grid import run_cells
from graticule.adaptation.grid.benchmark import run_benchmark
from graticule.adaptation.grid.plan import read_plan
from graticule.adaptation.grid.summary import find_relative_gain
from graticule.adaptation.grid.tables import make_table
from graticule.adaptation.grid.writers import WRITERS
from graticule.data.store import write_table
from graticule.data.tables import FEATURES, IMAGES
from graticule.errors import ConfigError, FileError

PLAN = """
algorithms = ["source_only", "mcc", "target_supervised"]
seeds = 2
trainer = { n_steps = 30, batch_size = 12 }
[options]
mcc = { bottleneck = 8 }
[[datasets]]
name = "small"
images = "images.parquet"
backbones = { one = "features.parquet" }
by = "region"
"""


@pytest.fixture
def place(small, tmp_path):
    features, images = small.make_tables()
    write_table(features, tmp_path / "features.parquet", FEATURES)
    write_table(images, tmp_path / "images.parquet", IMAGES)
    (tmp_path / "grid.toml").write_text(PLAN)
    return tmp_path


def test_a_plan_lists_all_pairs_algorithms_and_seeds(place):
    cells = read_plan(place / "grid.toml")
    assert len(cells) == 2 * 3 * 2
    assert {cell.task for cell in cells} == {"Africa → Europe", "Europe → Africa"}
    assert len({cell.folder for cell in cells}) == len(cells)
    assert cells[0].queries.source == '`region` == "Africa"'


def test_a_benchmark_writes_its_tables_and_goes_on_where_it_stopped(place, monkeypatch):
    first = run_benchmark(place / "grid.toml", place / "results", shown=False)
    assert not first.failed
    accuracy = next(table for table in first.tables if table.key == "small-one-accuracy")
    assert accuracy.columns == ("Africa → Europe", "Europe → Africa", "mean")
    assert [row.name for row in accuracy.rows] == ["source_only", "mcc", "target_supervised"]
    runs = first.runs.filter(
        (pl.col("metric") == "accuracy")
        & (pl.col("algorithm") == "mcc")
        & (pl.col("task") == "Europe → Africa")
        & pl.col("label").is_null()
    )["value"].to_numpy()
    assert accuracy.rows[1].values[1].mean == pytest.approx(runs.mean())
    assert accuracy.rows[1].values[1].error == pytest.approx(runs.std(ddof=1) / np.sqrt(2))
    assert not any(value.is_best for value in accuracy.rows[2].values)
    assert any(table.key == "small-one-validators" and len(table.rows) == 7 for table in first.tables)
    texts = {ending: (place / "results" / f"tables.{ending}").read_text() for ending in WRITERS}
    victim = next((place / "results" / "runs").rglob("mcc/seed-1/metrics.parquet"))
    victim.unlink()
    ran = []

    def watch(cell, folder):
        ran.append(cell)
        return run_cells.run_cell(cell, folder)

    monkeypatch.setattr(run_cells, "_work", lambda cells, folder, n_processes: (watch(cell, folder) for cell in cells))
    run_benchmark(place / "grid.toml", place / "results", shown=False)
    assert len(ran) == 1
    assert {ending: (place / "results" / f"tables.{ending}").read_text() for ending in WRITERS} == texts


def test_runs_with_other_settings_are_refused(place):
    run_benchmark(place / "grid.toml", place / "results", shown=False)
    (place / "grid.toml").write_text(PLAN.replace("n_steps = 30", "n_steps = 31"))
    with pytest.raises(ConfigError, match="made with other settings"):
        run_benchmark(place / "grid.toml", place / "results", shown=False)


def test_a_run_that_fails_is_named_and_the_others_go_on(place):
    text = PLAN.replace('by = "region"', "").replace('"target_supervised"', '"dann"')
    task = """
    [[datasets.tasks]]
    source = 'region == "Europe"'
    target = 'region == "{}"'
    name = "{}"
    """
    (place / "grid.toml").write_text(text + task.format("Africa", "good") + task.format("Nowhere", "bad"))
    found = run_benchmark(place / "grid.toml", place / "results", shown=False)
    assert {one.cell.task for one in found.failed} == {"bad"}
    assert len(found.failed) == 6
    assert "no image of 120 matches" in found.failed[0].problem
    assert found.tables[0].columns == ("good",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mcc"', '"mc"', "unknown algorithm 'mc'"),
        ("seeds = 2", "seed = 2", "Did you mean 'seeds'?"),
        ("seeds = 2", "seeds = []", r"seeds is \[\]"),
        ("n_steps", "n_stepps", "Did you mean 'n_steps'?"),
        ("mcc = { bottleneck = 8 }", "mcc = { bottelneck = 8 }", "Did you mean 'bottleneck'?"),
        ("mcc = { bottleneck = 8 }", "dann = { bottleneck = 8 }", "unknown algorithm 'dann'"),
        ('by = "region"', 'by = "regio"', "Did you mean 'region'?"),
        ('by = "region"', "", "expected either 'tasks' or 'by'"),
        ('name = "small"', "", "no 'name', expected one"),
        ("[[datasets]]", "[[dataset", "not TOML"),
        ('backbones = { one = "features.parquet" }', "backbones = 3", "backbones is 3"),
    ],
)
def test_a_plan_without_meaning_is_refused(place, old, new, message):
    (place / "grid.toml").write_text(PLAN.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read_plan(place / "grid.toml")


def test_missing_files_are_named(place):
    (place / "grid.toml").write_text(PLAN.replace("features.parquet", "nothing.parquet"))
    with pytest.raises(FileError, match=r"nothing\.parquet is not there"):
        read_plan(place / "grid.toml")
    with pytest.raises(FileError, match=r"none\.toml: cannot be read"):
        read_plan(place / "none.toml")


def make_runs(values):
    """Values by row → column → list over seeds."""
    return pl.DataFrame(
        [
            {"row": row, "column": column, "seed": seed, "value": value}
            for row, columns in values.items()
            for column, listed in columns.items()
            for seed, value in enumerate(listed)
        ]
    )


def test_the_best_and_those_not_worse_are_marked_by_a_paired_test():
    runs = make_runs(
        {
            "best": {"t": [0.90, 0.80, 0.70, 0.60]},
            "near": {"t": [0.91, 0.79, 0.69, 0.60]},
            "worse": {"t": [0.88, 0.78, 0.68, 0.58]},
        }
    )
    table = make_table(runs, key="k", title="T", rows=["best", "near", "worse"], columns=["t"])
    marks = {row.name: (row.values[0].is_best, row.values[0].is_not_worse) for row in table.rows}
    assert marks == {"best": (True, True), "near": (False, True), "worse": (False, False)}


def test_a_missing_run_is_not_averaged_over_and_one_seed_has_no_error():
    runs = make_runs({"a": {"t": [0.5], "u": [0.7]}, "b": {"t": [0.6]}})
    table = make_table(runs, key="k", title="T", rows=["a", "b"], columns=["t", "u"])
    a, b = table.rows
    assert a.values[2].mean == pytest.approx(0.6)
    assert np.isnan(a.values[0].error)
    assert b.values[1].n == 0
    assert np.isnan(b.values[2].mean)


def test_writers_show_the_same_numbers_and_escape_names():
    runs = make_runs({"a_b<c>": {"x | y": [0.5, 0.6], "u": [0.25, 0.35]}})
    table = make_table(runs, key="k", title="Accuracy & more", rows=["a_b<c>"], columns=["x | y", "u"])
    texts = {ending: write([table]) for ending, write in WRITERS.items()}
    assert "| a_b<c> | **55.0 ± 5.0 (2)** | **30.0 ± 5.0 (2)** | **42.5 ± 5.0 (2)** |" in texts["md"]
    assert r"a\_b<c> & \textbf{55.0 $\pm$ 5.0 (2)}" in texts["tex"]
    assert r"\caption{Accuracy \& more." in texts["tex"]
    assert "a_b&lt;c&gt;" in texts["html"]
    assert "<strong>55.0 ± 5.0 (2)</strong>" in texts["html"]
    rows = list(csv.DictReader(io.StringIO(texts["csv"])))
    assert [float(row["mean"]) for row in rows] == pytest.approx([0.55, 0.3, 0.425])
    HTMLParser().feed(texts["html"])


def test_relative_gain_is_geonet_s():
    """GeoImNet, USA → Asia, of table 4: the best method recovers less than nothing of the gap."""
    assert find_relative_gain(36.71, 36.98, 60.37) == pytest.approx(-0.0115, abs=1e-4)
    assert np.isnan(find_relative_gain(0.5, 0.6, 0.6))
    assert np.isnan(find_relative_gain(None, 0.6, 0.7))
