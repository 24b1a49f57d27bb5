"""What all tests share: array shapes checked at run time, and the folder of real data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# Array shapes and types are checked at run time in these packages. graticule.data's declarations are left out: beartype
# refuses polars' DataType as a type hint.
CHECKED = ["geo", "models", "evaluation", "report", "annotation", "data.readers", "data.predictions"]
install_import_hook([f"graticule.{name}" for name in CHECKED], "beartype.beartype")

SHARED = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()


@pytest.fixture(scope="session")
def shared():
    """Return a function that gives a path in the folder of real data, or skips the test and says why."""

    def find(relative: str) -> Path:
        path = SHARED / relative
        if not path.exists():
            pytest.skip(f"real data absent: {path} (set GRATICULE_SHARED to the folder that holds it)")
        return path

    return find
