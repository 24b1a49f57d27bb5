"""Audits for the report's tests, made by the modules beside this file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def load_beside(name: str):
    """Return the module in a file beside this one; the test folders are no packages."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def make_audit():
    """Return the function that makes an audit by plain counting."""
    return load_beside("synthetic_audit").make_audit


@pytest.fixture(scope="session")
def make_inputs():
    """Return the function that makes images and predictions for the real audit."""
    return load_beside("synthetic_inputs").make_inputs


@pytest.fixture(scope="session")
def audit(make_audit):
    """Return an ordinary audit: 6 regions, 40 labels, 2 models."""
    return make_audit()


SHAPES = {
    "ordinary": {},
    "one label": {"labels": ("car",)},
    "one region": {"regions": ("Africa",)},
    "one label in one region": {"labels": ("car",), "regions": ("Africa",)},
    "labels without scores": {"scores": False, "labels": ("car", "bus", "dog"), "models": ("m",)},
    "200 countries": {
        "regions": tuple(f"C{i:03d}" for i in range(200)),
        "labels": ("car", "bus", "dog"),
        "per_cell": 6,
    },
    "1,000 labels": {
        "labels": tuple(f"label {i}" for i in range(1000)),
        "regions": ("A", "B"),
        "models": ("m",),
        "per_cell": 2,
        "min_images": 2,
    },
    "all cells small": {"per_cell": 2, "min_images": 500},
    "no failures": {"failures_per_cell": 0, "labels": ("car", "bus")},
    "strange names": {
        "labels": (
            "</script><script>alert(1)</script>",
            '" onmouseover="alert(1)',
            "سيارة",
            "単語" * 40,
            "a\x00b\x1b",
            " x ",
        ),
        "regions": ("<img src=x onerror=alert(1)>", "مصر", "x" * 300, "{{ 'qx'*3 }}"),
        "models": ("<b>m</b>", "m & 'n'"),
    },
}
"""Audits at the edges of what the report must show."""


@pytest.fixture(scope="session", params=SHAPES)
def odd_audit(request, make_audit):
    """Return audits of every shape in turn."""
    return make_audit(**SHAPES[request.param])
