"""The worked example runs on the published answers, and the page about it prints what comes out."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
MODELS = ("alexnet", "resnet50", "pnasnet5large")
ROWS = {
    "the given label is predicted (top-1)": ("given_label_accuracy", None, "%"),
    "the label of any object is predicted": ("multi_label_accuracy", None, "%"),
    "the main label is predicted": ("main_label_accuracy", None, "%"),
    "workers who select the prediction": ("selection_frequency", None, "%"),
    "worst to best group, by the given labels": ("given_gap", "best to worst", ""),
    "worst to best group, by people's": ("accepted_gap", "best to worst", ""),
}
"""Row of the page's table → metric and group; the rest of the table are parts of these."""


@pytest.mark.slow
def test_the_page_prints_what_the_example_measures(shared, tmp_path, monkeypatch, capsys):
    data = shared("data/imagenet_multilabel").parent
    monkeypatch.setattr(sys, "argv", ["example", "--data", str(data), "-o", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "imagenet_multilabel.py"), run_name="__main__")
    assert "10092 labels accepted for 6761 of 6761 images" in capsys.readouterr().out
    metrics = pl.read_parquet(tmp_path / "report" / "metrics.parquet").filter(
        pl.col("label").is_null() & pl.col("region").is_null()
    )
    page = (ROOT / "docs" / "real_accuracy.md").read_text("utf-8")
    for row, (metric, group, unit) in ROWS.items():
        cells = re.search(rf"^\| {re.escape(row)} \|(.*)\|$", page, re.MULTILINE)
        assert cells, row
        printed = [float(cell.replace(unit or " points", "").replace("points", "")) for cell in cells[1].split("|")]
        wanted = pl.col("group").is_null() if group is None else pl.col("group") == group
        found = metrics.filter((pl.col("metric") == metric) & wanted)
        values = [100 * abs(found.filter(pl.col("model") == model)["value"].item()) for model in MODELS]
        assert [round(value, 1) for value in values] == printed, row
    assert pl.read_csv(tmp_path / "report" / "suspects.csv").height == 121
