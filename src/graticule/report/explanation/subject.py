"""What a page on a drop is about: a model, two regions, and where the photos are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The names that every figure needs."""

    model: str
    source: str
    target: str
    adapted: str = ""
    """Name of the predictions after adaptation; empty where there are none."""
