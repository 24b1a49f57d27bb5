"""Which of a run's checkpoints is reported: the last, or the one that a validator likes best."""

from __future__ import annotations

import math

from graticule.adaptation.validators import VALIDATORS
from graticule.errors import unknown_choice

LAST = "last"
ORACLE = "oracle"
SELECTIONS = {
    LAST: "the last checkpoint",
    **{name: f"the checkpoint with the best validator '{name}', without target labels" for name in VALIDATORS},
    ORACLE: "the checkpoint with the best accuracy on the test images' labels: an upper bound, not a result",
}
"""Name of a selection → what it picks."""


def check_selection(name: str) -> None:
    """Check the name of a selection.

    Raises
    ------
    ConfigError
        There is none of that name.
    """
    if name not in SELECTIONS:
        raise unknown_choice("selection", name, SELECTIONS, where="--select")


def is_better(score: float, best: float | None) -> bool:
    """Return whether a score beats the best so far; the earlier of equal ones stays, and NaN never wins."""
    return not math.isnan(score) and (best is None or score > best)
