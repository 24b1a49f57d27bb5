"""The report in a browser: accessible, quiet, readable on a phone and without a script, usable with a keyboard."""

from __future__ import annotations

import pytest
from PIL import Image

from graticule.report import figure_files
from graticule.report.page import write_report

pytestmark = pytest.mark.browser

ORDINARY = {
    "labels": ("backyard", "bag", "bicycle", "boat", "bus", "candle", "car", "chair", "dog"),
    "regions": ("Africa", "Americas", "East Asia", "Europe"),
    "per_cell": 60,
}
HOSTILE = {
    "labels": (
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(2)>',
        "سيارة",
        "<b>bus</b>",
        "x" * 120,
    ),
    "regions": ("<svg onload=alert(3)>", "Africa", "مصر"),
    "models": ("m'\"><script>alert(4)</script>", "ordinary"),
    "per_cell": 25,
}
SMALLEST_TEXT = 11
TEXT_SIZES = """() => [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) &&
    element.checkVisibility() && !element.closest('.unseen, script, style')).map((element) => {
      const box = element.ownerSVGElement && element.ownerSVGElement.getScreenCTM();
      return [parseFloat(getComputedStyle(element).fontSize) * (box ? box.a : 1), element.outerHTML.slice(0, 80)];
    })"""


def write(audit, folder, monkeypatch, **changes):
    monkeypatch.setattr(figure_files, "render_png", lambda svg, zoom: b"")
    return write_report(
        folder,
        metrics=audit.metrics,
        failures=audit.failures,
        dropped=audit.dropped,
        record=audit.record,
        **changes,
    )


@pytest.fixture(scope="session")
def report(make_audit, tmp_path_factory):
    """Return the page of an ordinary audit, with photos; small, for axe looks at every element."""
    folder = tmp_path_factory.mktemp("report")
    audit = make_audit(**ORDINARY)
    for place, path in enumerate(audit.failures["path"].unique().sort()):
        if place % 9:
            target = folder / "photos" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shape = (120 + place % 80, 150 - place % 60)
            Image.new("RGB", shape, (place % 255, 120, 200 - place % 180)).save(target)
    with pytest.MonkeyPatch.context() as patch:
        return write(audit, folder / "out", patch, base=folder / "photos")


@pytest.fixture(scope="session")
def hostile_report(make_audit, tmp_path_factory):
    """Return the page of an audit whose every name tries to break out of its place."""
    with pytest.MonkeyPatch.context() as patch:
        return write(make_audit(**HOSTILE), tmp_path_factory.mktemp("hostile"), patch)


@pytest.mark.parametrize(("width", "scheme"), [(1366, "light"), (1366, "dark"), (390, "light"), (390, "dark")], ids=str)
def test_axe_finds_no_violation_of_wcag_2_2_aa(report, open_page, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page = open_page(report, width=width, color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = axe.Axe().run(page, options={"runOnly": {"type": "tag", "values": rules}})
    told = [
        (violation["id"], violation["nodes"][0]["html"][:160], violation["nodes"][0].get("failureSummary", "")[:300])
        for violation in found.response["violations"]
    ]
    assert not told


def test_the_page_has_no_complaint_and_fetches_nothing(report, open_page):
    page = open_page(report)
    page.wait_for_timeout(300)
    assert page.complaints == []


def test_hostile_names_run_nothing_and_read_as_they_are(hostile_report, open_page):
    page = open_page(hostile_report)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.mouse.move(400, 300)
    page.wait_for_timeout(300)
    assert page.complaints == []
    text = page.inner_text("body")
    assert "</script><script>alert(1)</script>" in text
    assert "<svg onload=alert(3)>" in text
    assert page.locator("select option", has_text="سيارة").count()


@pytest.mark.parametrize("width", [320, 360, 390, 768, 1024, 1280])
def test_no_width_scrolls_the_page_sideways(report, hostile_report, open_page, width):
    for path in (report, hostile_report):
        page = open_page(path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
def test_text_is_never_smaller_than_eleven_pixels(report, open_page, width):
    page = open_page(report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    small = [html for size, html in page.evaluate(TEXT_SIZES) if size < SMALLEST_TEXT]
    assert not small


def test_everything_can_be_read_without_a_script(report, open_page):
    page = open_page(report, java_script_enabled=False)
    assert page.locator("[hidden]:visible").count() == 0
    for panel in page.locator(".panel").all():
        assert panel.is_visible()
    assert page.locator(".block[data-model='1'] .tile").first.is_visible()
    assert page.locator(".photo").last.is_visible()
    assert page.locator("select, .panel button").count() == 0, "what does nothing without a script is not offered"


def test_one_model_is_shown_at_a_time_and_can_be_changed(report, open_page):
    page = open_page(report)
    assert page.locator(".block[data-model='0']").first.is_visible()
    assert not page.locator(".block[data-model='1']").first.is_visible()
    page.locator("#controls").get_by_role("combobox", name="Model").select_option("1")
    assert page.locator(".block[data-model='1']").first.is_visible()
    assert not page.locator(".block[data-model='0']").first.is_visible()
    visible = page.locator(".mistake:visible")
    assert visible.count()
    assert {mistake.get_attribute("data-model") for mistake in visible.all()} == {"1"}


def test_a_cell_of_the_grid_opens_its_failures_with_the_keyboard(report, open_page):
    page = open_page(report)
    grid = page.locator("table.heat").first
    cell = grid.locator("td[role=gridcell]").first
    cell.focus()
    assert page.locator("#tip").is_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate(
        """() => { const cell = document.activeElement; const table = cell.closest('table');
        return [cell.parentElement.cells[0].textContent, table.tHead.rows[0].cells[cell.cellIndex].dataset.column,
                cell.parentElement.rowIndex]; }"""
    )
    assert focused[2] == 2
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "failures-title"
    shown = page.locator(".photo:visible")
    assert shown.count()
    for photo in shown.all():
        assert photo.get_attribute("data-label") == focused[0]
        assert photo.get_attribute("data-region") == focused[1]


def test_the_grid_is_sorted_by_any_column_and_says_so(report, open_page):
    page = open_page(report)
    grid = page.locator("table.heat").first
    head = grid.locator("thead th").nth(1)
    for direction, sign in (("ascending", 1), ("descending", -1)):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == direction
        values = [float(cell) for cell in grid.locator("tbody tr td:nth-child(2)").evaluate_all(
            "cells => cells.map((cell) => cell.dataset.v).filter(Boolean)"
        )]  # fmt: skip
        assert values == sorted(values, key=lambda value: sign * value)


def test_shrunken_values_replace_raw_ones_and_come_back(report, open_page):
    page = open_page(report)
    cells = page.locator("table.heat").first.locator("td[data-f]:not(.empty)")
    before = cells.all_inner_texts()
    box = page.get_by_label("Shrunken values").first
    box.check()
    shrunken = [facts.split(" ")[3] for facts in cells.evaluate_all("cells => cells.map((cell) => cell.dataset.f)")]
    assert cells.all_inner_texts() == [f"{100 * float(value):.1f}" for value in shrunken]
    box.uncheck()
    assert cells.all_inner_texts() == before


def test_the_band_is_switched_between_its_readings(report, open_page):
    page = open_page(report)
    form = page.locator("form.switched").first
    assert form.locator("rect.read-extremes").first.is_visible()
    assert not form.locator("rect.read-pooled").first.is_visible()
    form.get_by_label("by all regions").check()
    assert not form.locator("rect.read-extremes").first.is_visible()
    assert form.locator("rect.read-pooled").first.is_visible()


def test_labels_of_the_range_plot_are_sorted_by_choice(report, open_page):
    page = open_page(report)
    form = page.locator("form.switched").first
    form.get_by_label("Sort labels by").select_option("name")
    names = form.locator(".row-list > .row .row-title").all_inner_texts()
    assert names == sorted(names)
    form.get_by_label("Sort labels by").select_option("gap")
    gaps = form.locator(".row-list > .row").evaluate_all("rows => rows.map((row) => Number(row.dataset.gap))")
    assert gaps == sorted(gaps, reverse=True)


def test_the_gallery_shows_a_few_and_more_on_request(report, open_page):
    page = open_page(report)
    few = page.locator(".photo:visible").count()
    page.get_by_role("button", name="Show more").click()
    assert page.locator(".photo:visible").count() > few
    page.locator("#filters").get_by_label("Picked").select_option("worst")
    assert all("worst" in mistake.get_attribute("data-picked") for mistake in page.locator(".mistake:visible").all())
    page.get_by_role("button", name="Reset").click()
    assert page.locator(".photo:visible").count() == few


def test_a_matrix_tells_what_is_pointed_at(report, open_page):
    page = open_page(report)
    matrix = page.locator("svg.matrix:visible").first
    matrix.scroll_into_view_if_needed()
    side, top = (float(matrix.get_attribute(name)) for name in ("data-side", "data-top"))
    row, column, share = matrix.get_attribute("data-cells").split(" ")[0].split(".")
    box = matrix.bounding_box()
    page.mouse.move(box["x"] + (int(column) + 0.5) * side, box["y"] + top + (int(row) + 0.5) * side)
    assert f"{int(share) / 10:.1f}%" in page.locator("#tip").inner_text()


def test_light_and_dark_can_be_switched_by_hand(report, open_page):
    page = open_page(report, color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch to dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.get_by_role("button", name="Switch to light").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_paper_is_light_and_leaves_the_controls_out(report, open_page):
    page = open_page(report, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in (".topbar", "#filters", ".behind"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator(".photo:visible").count() <= 25
    assert page.locator("rect.bar").first.is_visible()
