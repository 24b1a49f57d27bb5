"""Accuracy on a map of the world."""

from __future__ import annotations

import polars as pl

from graticule.report.figures.figure import Figure
from graticule.report.groups import Groups


def draw_world_map(metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Figure | None:
    """Return the map of a model's accuracies; None where no countries are known."""
    return None
