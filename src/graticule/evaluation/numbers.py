"""Reading single numbers out of a metrics table, for the headline and the gate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a number stands in the table; None is null there."""

    metric: str
    model: str | None = None
    region: str | None = None
    label: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of the table."""

    value: float
    low: float
    high: float
    n: int

    @property
    def is_known(self) -> bool:
        """Whether the number is defined."""
        return not math.isnan(self.value)


UNDEFINED = Number(value=math.nan, low=math.nan, high=math.nan, n=0)


class Numbers:
    """The numbers of some metrics of a table, by place.

    Parameters
    ----------
    metrics
        The metrics table.
    names
        Metrics that will be asked for.
    """

    def __init__(self, metrics: pl.DataFrame, names: Iterable[str]) -> None:
        wanted = metrics.filter(pl.col("metric").is_in(list(names)))
        self.places: dict[Place, Number] = {
            Place(metric=metric, model=model, region=region, label=label, group=group): Number(
                value=_number(value), low=_number(low), high=_number(high), n=int(n or 0)
            )
            for metric, model, region, label, group, value, low, high, n in wanted.select(
                "metric", "model", "region", "label", "group", "value", "low", "high", "n"
            ).iter_rows()
        }

    def get(self, place: Place) -> Number:
        """Return the number at a place; undefined with n = 0 where there is none."""
        return self.places.get(place, UNDEFINED)

    def find(self, metric: str, *, model: str | None) -> dict[Place, Number]:
        """Return all numbers of a metric and model."""
        return {at: number for at, number in self.places.items() if at.metric == metric and at.model == model}


def _number(value: float | None) -> float:
    return math.nan if value is None else value
