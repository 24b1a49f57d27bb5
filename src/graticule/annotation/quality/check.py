"""What every check of answers takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from graticule.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityConfig:
    """Thresholds of the checks. The papers name the checks and print no threshold, so the values are ours."""

    confidence: float = 0.95
    """Of the two-sided intervals that must lie below a threshold before a worker is left out."""
    min_worker_accuracy: float = 0.7
    """worker_controls: a worker surely below this on controls is left out."""
    min_task_accuracy: float = 0.5
    """task_controls: a worker's answers to a task are left out below this on its controls."""
    min_task_controls: int = 3
    """task_controls: tasks with fewer answered controls are not judged."""
    min_elapsed_s: float = 0.0
    """too_fast: an answer given in fewer seconds is left out …"""
    min_elapsed_share: float = 0.2
    """too_fast: … and so is one given in less than this share of the median time of its kind."""
    min_same_share: float = 0.98
    """straight_lining: a worker who gives one answer at least this often is looked at."""
    max_straight_agreement: float = 0.5
    """straight_lining: … and left out if they surely agree less often than this with a majority of the other answer."""

    def __post_init__(self) -> None:
        shares = (
            "confidence",
            "min_worker_accuracy",
            "min_task_accuracy",
            "min_elapsed_share",
            "min_same_share",
            "max_straight_agreement",
        )
        for name in shares:
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} is {value}, expected a share from 0 to 1.")
        if self.min_elapsed_s < 0 or self.min_task_controls < 1:
            raise ConfigError(
                f"min_elapsed_s is {self.min_elapsed_s} and min_task_controls {self.min_task_controls}; expected at "
                "least 0 seconds and at least 1 control."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known besides the answers; None where it was not given."""

    controls: pl.DataFrame | None
    """Checked controls: image_id, label, selected."""
    tasks: pl.DataFrame | None
    """The `TASKS` table that workers were given."""


Check: TypeAlias = Callable[[pl.DataFrame, Evidence, QualityConfig], pl.DataFrame]
"""Answers (as `graticule.annotation.quality.answer_rows.prepare_answers` returns them), evidence and thresholds →
the answers to leave out: ``row`` and ``reason``."""


def no_findings() -> pl.DataFrame:
    """Return an empty result of a check."""
    return pl.DataFrame(schema={"row": pl.UInt32, "reason": pl.String})
