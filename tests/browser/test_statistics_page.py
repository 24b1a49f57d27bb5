"""The page of statistics in a browser: quiet, readable on a phone, and accessible."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.curation.statistics import describe_statistics, measure_statistics
from graticule.report.statistics import page as statistics_page

pytestmark = pytest.mark.browser


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics_page, "render_png", lambda svg, zoom: b"")
    rows = [
        (region, label, country)
        for region, country in (("Africa", "KEN"), ("<svg onload=alert(1)>", "ITA"), ("مصر", "EGY"))
        for label in ("bag", "</script><script>alert(2)</script>", "سيارة", "x" * 120)
        for _ in range(4)
    ]
    images = pl.DataFrame(rows, schema=["region", "label", "country"], orient="row")
    statistics = measure_statistics({"first <b>": images, "second": images.head(20)})
    return statistics_page.write_statistics(
        tmp_path,
        statistics.metrics,
        headline=describe_statistics(statistics),
        by="region",
        min_images=20,
        title="Where images come from",
        version="1",
    )


def test_nothing_is_fetched_run_or_complained_of(open_page, place):
    page = open_page(place)
    assert page.title() == "Where images come from"
    assert page.complaints == []
    assert page.locator("svg.map").count() == 4


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_does_not_scroll_sideways(open_page, place, width):
    page = open_page(place, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_no_fault(open_page, place):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(place, bypass_csp=True)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
