"""What all tests share: array shapes checked at run time, and the folder of real data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# Array shapes and types are checked at run time in these packages. graticule.data's declarations are left out: beartype
# refuses polars' DataType as a type hint.
CHECKED = ["geo", "models", "evaluation", "report", "annotation", "curation", "adaptation"]
CHECKED += ["data.readers", "data.predictions"]
install_import_hook([f"graticule.{name}" for name in CHECKED], "beartype.beartype")

# No test is timed: on a busy machine any example may be slow.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

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
