"""A headless Chromium, and pages to open in it; the tests skip where there is no browser."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu"]
REPORT_TESTS = Path(__file__).parents[1] / "report"


def find_chromium() -> str | None:
    """Return the path of a browser on this machine; None to let Playwright look for its own."""
    return next((path for name in NAMES for path in [shutil.which(name)] if path), None)


@pytest.fixture(scope="session")
def chromium():
    """Return a running browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"no Chromium to open pages in: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Return a function that opens a file in a new window, and fails on anything that the page complains of."""
    contexts = []

    def open_file(path: Path, *, width: int = 1280, height: int = 900, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:"))
                else page.complaints.append(f"request: {request.url}")
            ),
        )
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()


def load_report_module(name: str):
    """Return a module of the report's tests; the test folders are no packages."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, REPORT_TESTS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def make_audit():
    """Return the function that makes an audit by plain counting."""
    return load_report_module("synthetic_audit").make_audit


@pytest.fixture(scope="session")
def make_inputs():
    """Return the function that makes images and predictions for the real audit."""
    return load_report_module("synthetic_inputs").make_inputs
