"""A progress bar with the time left, the same for every long piece of work.

Bars go to standard error, so that standard output stays a result that a program can read. Where standard error is not
a terminal (a log file, a CI run) a bar prints at most one line every ten seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")

LOG_INTERVAL_S = 10.0
TERMINAL_INTERVAL_S = 0.2


def track(
    items: Iterable[Item], *, total: int | None, label: str, unit: str = "image", done: int = 0, shown: bool = True
) -> Iterable[Item]:
    """Return an iterable that yields ``items`` and draws a progress bar with rate and time left.

    Parameters
    ----------
    items
        What is worked through; one step a piece.
    total
        How many there are in all, those already done included; None if unknown.
    label
        A few words on the work, shown in front of the bar.
    unit
        What one piece is.
    done
        How many pieces an earlier, interrupted run has finished.
    shown
        False draws nothing.
    """
    from tqdm import tqdm

    interval = TERMINAL_INTERVAL_S if sys.stderr.isatty() else LOG_INTERVAL_S
    return tqdm(
        items,
        total=total,
        initial=done,
        desc=label,
        unit=f" {unit}",
        file=sys.stderr,
        mininterval=interval,
        disable=not shown,
        dynamic_ncols=True,
    )
