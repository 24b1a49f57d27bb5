"""The page of a data set's statistics."""

from __future__ import annotations

import html
import re

import polars as pl
import pytest

from graticule.curation.statistics import describe_statistics, measure_statistics
from graticule.report.statistics.numbers import make_count_bins
from graticule.report.statistics.page import write_statistics


def make_images(labels=("hat", "<script>alert(1)</script>"), *, n=7):
    rows = [
        (region, label, country)
        for region, country in (("Asia", "JPN"), ("Europe", "ITA"), ("مصر", "EGY"))
        for place, label in enumerate(labels)
        for _ in range(n * (place + 1))
    ]
    return pl.DataFrame(rows, schema=["region", "label", "country"], orient="row")


def write(folder, datasets):
    statistics = measure_statistics(datasets)
    return write_statistics(
        folder,
        statistics.metrics,
        headline=describe_statistics(statistics),
        by="region",
        min_images=20,
        title="Where images come from",
        version="1.0",
    )


def test_the_page_holds_maps_counts_and_tables_and_fetches_nothing(tmp_path):
    text = write(tmp_path, {"a": make_images()}).read_text("utf-8")
    for words in (
        "Images by country",
        "Images by sub-region",
        "Images by label and region",
        "Eastern Asia",
        "Every region",
    ):
        assert words in text
    assert "<script" not in text
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert "default-src 'none'" in html.unescape(text)
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {
        f"{stem}.{kind}" for stem in ("count_grid", "country_map", "subregion_map") for kind in ("svg", "png")
    }


def test_what_is_missing_is_said(tmp_path):
    text = write(tmp_path, {"a": make_images().select("label")}).read_text("utf-8")
    assert "there is no map" in text
    assert "nothing to count by cell" in text
    assert "not two regions" in text


def test_several_sets_stand_side_by_side(tmp_path):
    text = write(tmp_path, {f"set {n}": make_images(n=n + 1) for n in range(8)}).read_text("utf-8")
    assert "The first 6 of 8 data sets have figures of their own" in text
    assert (tmp_path / "figures" / "count_grid-6.svg").is_file()
    assert not (tmp_path / "figures" / "count_grid-7.svg").exists()


@pytest.mark.parametrize("counts", [[1], [0], [3, 40, 700], [1, 10**7], [250, 260], [0, 0, 5], list(range(1000))])
def test_bins_are_few_round_and_hold_every_count(counts):
    bins = make_count_bins(counts)
    assert bins.edges[0] == 0
    assert bins.edges[-1] >= max(counts)
    assert 1 <= bins.count <= 7
    assert list(bins.edges) == sorted(set(bins.edges))
    assert all(0 <= bins.find(float(value)) < bins.count for value in counts)
