"""All models in one table: what each gets right, over all and where it is worst."""

from __future__ import annotations

import math

import polars as pl

from graticule.data.audit_record import AuditRecord
from graticule.report.estimates import Estimate, Estimates
from graticule.report.figures.figure import DataTable, Field
from graticule.report.groups import Groups

COLUMNS = (
    ("accuracy", "Accuracy"),
    ("top5_accuracy", "Top-5"),
    ("balanced_accuracy", "Balanced"),
    ("average_precision", "Mean average precision"),
)


def tabulate_models(metrics: pl.DataFrame, *, record: AuditRecord, groups: Groups) -> DataTable:
    """Return the table of all models; a column that no model has a number for is left out."""
    whole = metrics.filter(pl.col("label").is_null())
    rows = [_read_model(whole, model=model.name, groups=groups) for model in record.models]
    fields = (
        Field(title="Model"),
        *(Field(title=title, form="percent") for _, title in COLUMNS),
        Field(title=f"Lowest {groups.one}"),
        Field(title="Accuracy there", form="percent"),
        Field(title=f"Highest {groups.one}"),
        Field(title="Accuracy there", form="percent"),
        Field(title="Gap", form="points"),
        Field(title="Calibration error", form="points"),
        Field(title="Labels beyond chance", form="count"),
        Field(title="Expected by chance", form="count"),
    )
    kept = [place for place in range(len(fields)) if any(_is_known(row[place]) for row in rows)]
    return DataTable(
        fields=tuple(fields[place] for place in kept), rows=tuple(tuple(row[place] for place in kept) for row in rows)
    )


def _read_model(whole: pl.DataFrame, *, model: str, groups: Groups) -> tuple[str | float, ...]:
    def read(metric: str, group: str | None = None) -> float:
        return Estimates(whole, metric, model=model).get(group=group).value

    low = _find(whole, "worst_region", model=model)
    high = _find(whole, "best_region", model=model)
    return (
        model,
        *(read(metric) for metric, _ in COLUMNS),
        groups.name(low[0]),
        low[1].value,
        groups.name(high[0]),
        high[1].value,
        read("worst_gap"),
        read("calibration_error"),
        read("partition_flags", "extremes"),
        read("partition_flags_expected", "extremes"),
    )


def _find(whole: pl.DataFrame, metric: str, *, model: str) -> tuple[str, Estimate]:
    nowhere = Estimate(value=math.nan, low=math.nan, high=math.nan, n=0)
    return Estimates(whole, metric, model=model).find() or ("", nowhere)


def _is_known(value: str | float) -> bool:
    return bool(value) if isinstance(value, str) else math.isfinite(value)
