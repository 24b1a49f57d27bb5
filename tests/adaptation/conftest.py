"""What tests of adaptation share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def small():
    """Return the module with the small problem."""
    if "small_problem" not in sys.modules:
        spec = importlib.util.spec_from_file_location("small_problem", Path(__file__).parent / "small_problem.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["small_problem"] = module
        spec.loader.exec_module(module)
    return sys.modules["small_problem"]
