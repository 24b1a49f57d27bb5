"""The page of near-duplicates in a browser: quiet, readable on a phone, and accessible."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.report.duplicates.page import write_pairs

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(0)
    names = ["a", "b", "</script><script>alert(2)</script>", "x" * 120, "سيارة", "gone"]
    for number in range(5):
        Image.fromarray(rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)).save(folder / f"{number}.jpg")
    clusters = pl.DataFrame(
        {
            "image_id": names,
            "path": [f"{number}.jpg" for number in range(6)],
            "cluster": ["a", "a", "a", names[3], names[3], names[3]],
            "is_kept": [True, True, False, True, False, False],
            "reason": ["perceptual"] * 3 + ["geonet", "geonet", "sha256"],
            "distance": [1.0, 7.0, 7.0, 0.03, 0.03, 0.0],
            "nearest": ["b", "a", "a", "سيارة", names[3], names[3]],
            "n_images": [3] * 6,
            "largest_distance": [12.0] * 3 + [0.03] * 3,
            "largest_by": ["perceptual"] * 3 + ["geonet"] * 3,
        }
    )
    return write_pairs(folder / "pairs.html", clusters, base=folder, chains=frozenset({"a"}), n_images=60, version="1")


def test_nothing_is_fetched_run_or_complained_of(open_page, place):
    page = open_page(place)
    assert page.title() == "Near-duplicates"
    assert page.complaints == []
    assert page.locator(".pairs .pair").count() == 3
    assert page.locator(".chain .side").count() == 3
    assert page.locator(".no-photo").count() == 1


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_does_not_scroll_sideways(open_page, place, width):
    page = open_page(place, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_no_fault(open_page, place):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(place, bypass_csp=True)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
