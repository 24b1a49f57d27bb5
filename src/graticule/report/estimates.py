"""Reading numbers out of the metrics table, as they stand there: nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number of the table with its interval."""

    value: float
    low: float
    high: float
    n: int


UNDEFINED = Estimate(value=NAN, low=NAN, high=NAN, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Where a number belongs within one metric of one model; None means all."""

    region: str | None = None
    label: str | None = None
    group: str | None = None


class Estimates:
    """The numbers of one metric of one model, by region, label and group.

    Parameters
    ----------
    metrics
        The metrics table.
    metric
        Name of the metric.
    model
        Name of the model; None for numbers that concern none.
    """

    def __init__(self, metrics: pl.DataFrame, metric: str, *, model: str | None) -> None:
        rows = metrics.filter(
            (pl.col("metric") == metric) & (pl.col("model").is_null() if model is None else pl.col("model") == model)
        )
        self._numbers: dict[Key, Estimate] = {
            Key(region=region, label=label, group=group): Estimate(
                value=_number(value), low=_number(low), high=_number(high), n=int(n or 0)
            )
            for region, label, group, value, low, high, n in rows.select(
                "region", "label", "group", "value", "low", "high", "n"
            ).iter_rows()
        }

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[Key, Estimate]]:
        """Return all numbers with their places, in the order of the table."""
        return iter(self._numbers.items())

    def get(self, *, region: str | None = None, label: str | None = None, group: str | None = None) -> Estimate:
        """Return one number; undefined with n = 0 where the table has none."""
        return self._numbers.get(Key(region=region, label=label, group=group), UNDEFINED)

    def find(self, *, label: str | None = None, group: str | None = None) -> tuple[str, Estimate] | None:
        """Return the one number of a label and group that stands at a region (best or worst), with the region."""
        for key, estimate in self._numbers.items():
            if key.region is not None and key.label == label and key.group == group:
                return key.region, estimate
        return None

    def extremes(self) -> dict[str | None, tuple[str, Estimate]]:
        """Return, for a metric that has one region a label, label → region and number."""
        return {key.label: (key.region, estimate) for key, estimate in self._numbers.items() if key.region is not None}


def list_values(metrics: pl.DataFrame, column: str) -> list[str]:
    """Return the distinct values of a text column, sorted, without null."""
    return metrics[column].drop_nulls().unique().sort().to_list()


def _number(value: float | None) -> float:
    return NAN if value is None else value
