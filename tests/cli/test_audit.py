"""``graticule audit`` as it is typed: from tables alone, with the gate, and with all that can be wrong in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graticule.cli.main import main
from graticule.data.store import read_table
from graticule.data.tables import METRICS

ACCURACY = {"Africa": 0.6, "Asia": 0.8, "Europe": 0.9}
COUNTRIES = {"Africa": "NGA", "Asia": "Japan", "Europe": "it"}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Write images.csv and top1.csv: three regions, three labels, 120 images a cell, right as often as `ACCURACY`."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for region, accuracy in ACCURACY.items():
        for label, other in [("bus", "stove"), ("stove", "house"), ("house", "bus")]:
            for number in range(120):
                right = number < round(120 * accuracy)
                rows.append(
                    {
                        "image_id": f"{region}-{label}-{number}",
                        "label": label,
                        "region": region,
                        "country": COUNTRIES[region],
                        "prediction": label if right else other,
                    }
                )
    frame = pl.DataFrame(rows)
    frame.drop("prediction").write_csv("images.csv")
    frame.select("image_id", "prediction").write_csv("top1.csv")
    return frame


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return int(caught.value.code or 0)


def number(metrics: pl.DataFrame, metric: str, **place: str | None) -> float:
    for column in ("region", "label", "group"):
        wanted = place.get(column)
        metrics = metrics.filter(pl.col(column).is_null() if wanted is None else pl.col(column) == wanted)
    return metrics.filter(pl.col("metric") == metric)["value"].item()


def test_tables_alone_give_a_page_and_the_numbers_of_a_plain_count(tables, tmp_path, capsys):
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "region", "-o", "report") == 0
    metrics = read_table(tmp_path / "report" / "metrics.parquet", METRICS)
    for region, accuracy in ACCURACY.items():
        assert number(metrics, "accuracy", region=region) == pytest.approx(accuracy)
    assert number(metrics, "accuracy") == pytest.approx(np.mean(list(ACCURACY.values())))
    assert number(metrics, "worst_gap") == pytest.approx(0.3)
    assert pl.read_csv(tmp_path / "report" / "metrics.csv").height == metrics.height
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "Africa" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "Africa" in capsys.readouterr().out


def test_countries_in_any_spelling_are_compared_as_countries(tables, tmp_path):
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "country") == 0
    metrics = read_table(tmp_path / "report" / "metrics.parquet", METRICS)
    assert set(metrics["region"].drop_nulls().unique()) == {"NGA", "JPN", "ITA"}


def test_countries_without_regions_get_those_of_the_scheme(tables, tmp_path):
    tables.drop("region", "prediction").write_csv("images.csv")
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--scheme", "geode") == 0
    metrics = read_table(tmp_path / "report" / "metrics.parquet", METRICS)
    assert set(metrics.filter(pl.col("metric") == "worst_region")["region"].unique()) == {"Africa"}
    assert "East Asia" in metrics["region"].to_list()


@pytest.mark.parametrize(("rule", "code"), [("worst_gap > 0.05", 1), ("worst_gap > 0.5", 0), ("accuracy < 0.9", 1)])
def test_the_gate_decides_the_exit_code_and_says_why(tables, rule, code, capsys):
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "country", "--fail-if", rule) == code
    assert ("Failed:" in capsys.readouterr().err) == bool(code)


def test_several_files_after_one_flag_are_compared_on_the_same_images(tables, tmp_path):
    tables.select("image_id", pl.col("label").alias("prediction")).write_csv("perfect.csv")
    assert run("audit", "images.csv", "--predictions", "top1.csv", "perfect.csv", "--by", "region") == 0
    metrics = read_table(tmp_path / "report" / "metrics.parquet", METRICS)
    assert metrics["model"].drop_nulls().n_unique() == 2
    assert metrics.filter(pl.col("metric") == "paired_difference").height > 0


def _write(frame: pl.DataFrame, name: str = "images.csv") -> None:
    frame.write_csv(name)


def _repeat(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame, frame.head(2)])


BAD_TABLES = {
    "no label column": (lambda t: _write(t.drop("label", "prediction")), ["label"]),
    "an image twice": (lambda t: _write(_repeat(t).drop("prediction")), ["Africa-bus-0", "twice", "earlier"]),
    "a prediction twice": (
        lambda t: _write(_repeat(t).select("image_id", "prediction"), "top1.csv"),
        ["Africa-bus-0", "twice", "earlier", "more than"],
    ),
    "no prediction column": (lambda t: _write(t.select("image_id"), "top1.csv"), ["prediction"]),
    "other ids": (
        lambda t: _write(t.select(("x" + pl.col("image_id")).alias("image_id"), "prediction"), "top1.csv"),
        ["Africa-bus-0", "xAfrica-bus-0"],
    ),
    "no column to compare": (lambda t: _write(t.drop("region", "country", "prediction")), ["region"]),
    "an unknown country": (
        lambda t: _write(t.drop("region", "prediction").with_columns(country=pl.lit("Atlantis"))),
        ["Atlantis"],
    ),
    "swapped coordinates": (
        lambda t: _write(
            t.drop("region", "country", "prediction").with_columns(latitude=pl.lit(139.7), longitude=pl.lit(35.6))
        ),
        ["139.7", "swapped"],
    ),
    "scores that are not numbers": (
        lambda t: _write(t.select("image_id", "prediction").with_columns(probability=pl.lit(float("nan"))), "top1.csv"),
        ["NaN", "nan"],
    ),
    "an empty file": (lambda t: Path("top1.csv").write_text(""), ["empty", "top1.csv"]),
    "a header alone": (lambda t: _write(t.head(0).select("image_id", "prediction"), "top1.csv"), ["no rows"]),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_one_clear_error_and_leaves_nothing(tables, tmp_path, capsys, name):
    spoil, expected = BAD_TABLES[name]
    spoil(tables)
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "region", "-o", "report") == 2
    message = capsys.readouterr().err
    assert any(word in message for word in expected), message
    assert "Traceback" not in message
    assert not (tmp_path / "report").exists() or not list((tmp_path / "report").iterdir())


def test_a_failed_audit_leaves_the_last_page_as_it_was(tables, tmp_path):
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "region") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "report").rglob("*") if path.is_file()}
    tables.select("image_id").write_csv("top1.csv")
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--by", "region") == 2
    assert {path: path.read_bytes() for path in (tmp_path / "report").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["audit", "images.csv"], "--predictions"),
        (["audit", "images.csv", "--predictions", "none.csv"], "none.csv"),
        (["audit", "none.csv", "--predictions", "top1.csv"], "none.csv"),
        (["audit", "images.csv", "--predictions", "top1.csv", "--fail-if", "worst_gpa > 1"], "worst_gap"),
        (["audit", "images.csv", "--predictions", "top1.csv", "--fail-if", "worst_gap >"], "worst_gap >"),
        (["audit", "images.csv", "--predictions", "top1.csv", "--scheme", "geod", "--by", "country"], "geode"),
        (["audit", "images.csv", "--predictions", "top1.csv", "--train", "x"], "--model"),
        (["audti"], "audit"),
    ],
)
def test_a_wrong_word_is_a_clear_error(tables, words, expected, capsys):
    if "--scheme" in words:
        tables.drop("region", "prediction").write_csv("images.csv")
    assert run(*words) == 2
    assert expected in capsys.readouterr().err


CELLS = st.one_of(st.sampled_from(["", "bus", "NaN", "-1", "é", "0", "a,b", "region"]), st.text(max_size=4))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.lists(st.sampled_from(["image_id", "label", "region", "latitude", "x", ""]), min_size=1, max_size=4),
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=4),
)
def test_any_table_gives_a_page_or_a_clear_error(tmp_path, monkeypatch, header, rows):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(",".join(cells) for cells in [header, *rows])
    (tmp_path / "images.csv").write_text(text, encoding="utf-8")
    (tmp_path / "top1.csv").write_text("image_id,prediction\nbus,bus\n0,bus\né,x\n", encoding="utf-8")
    assert run("audit", "images.csv", "--predictions", "top1.csv", "--bootstraps", "10", "--partitions", "10") in (0, 2)


def test_the_map_follows_the_policy_that_places_were_located_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"i{n},cup,{latitude},{longitude}\n"
        for n, (latitude, longitude) in enumerate([(48.85, 2.35), (52.52, 13.4)] * 30)
    )
    (tmp_path / "places.csv").write_text("image_id,label,latitude,longitude\n" + rows)
    (tmp_path / "said.csv").write_text("image_id,prediction\n" + "".join(f"i{n},cup\n" for n in range(60)))
    drawn = []
    for policy in ("de-facto", "united-nations"):
        assert run("locate", "places.csv", "--policy", policy, "-o", f"{policy}.parquet") == 0
        assert run("audit", f"{policy}.parquet", "--predictions", "said.csv", "--by", "country", "-o", policy) == 0
        drawn.append((tmp_path / policy / "figures" / "world_map.svg").read_text())
    assert drawn[0] != drawn[1]
