"""Numbers → rows of the metrics table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.data.tables import METRICS
from graticule.evaluation.estimates import Estimates

COLUMNS = {name: column.dtype for name, column in METRICS.columns.items()}

Names = pl.Series | Sequence[str | None] | str | None
"""A name for each number, or one for all of them; None is null, which means all regions or all labels."""


def make_rows(
    metric: str,
    estimates: Estimates,
    *,
    model: str | None,
    region: Names = None,
    label: Names = None,
    group: Names = None,
    method: str | None = None,
) -> pl.DataFrame:
    """Return the rows of one metric.

    Parameters
    ----------
    metric
        Its name.
    estimates
        The numbers, one a row.
    model
        The model; None where no model is concerned.
    region, label, group
        Names of each row, or one name for all rows.
    method
        How value and interval were computed, in a few words.
    """
    n_rows = len(estimates.value)
    columns = {
        "metric": _repeat(metric, n_rows),
        "model": _repeat(model, n_rows),
        "region": _repeat(region, n_rows),
        "label": _repeat(label, n_rows),
        "group": _repeat(group, n_rows),
        "value": pl.Series(estimates.value, dtype=pl.Float64),
        "low": pl.Series(estimates.low, dtype=pl.Float64),
        "high": pl.Series(estimates.high, dtype=pl.Float64),
        "n": pl.Series(estimates.n.astype(np.int64), dtype=pl.Int64),
        "method": _repeat(method, n_rows),
    }
    return pl.DataFrame([column.alias(name) for name, column in columns.items()])


def no_rows() -> pl.DataFrame:
    """Return a metrics table without rows, for a metric that does not apply."""
    return pl.DataFrame(schema=COLUMNS)


def take_names(names: Sequence[str], codes: Int[np.ndarray, " m"]) -> pl.Series:
    """Return the name of each code; a code past the end (all regions, all labels) is null."""
    listed = pl.Series([*names, None], dtype=pl.String)
    return listed.gather(np.minimum(codes, len(names)).astype(np.int64))


def _repeat(names: Names, n_rows: int) -> pl.Series:
    if names is None or isinstance(names, str):
        return pl.Series([names], dtype=pl.String).new_from_index(0, n_rows)
    return names if isinstance(names, pl.Series) else pl.Series(list(names), dtype=pl.String)


def make_cell_rows(
    metric: str,
    estimates: Estimates,
    *,
    model: str | None,
    regions: Sequence[str],
    labels: Sequence[str],
    method: str | None = None,
) -> pl.DataFrame:
    """Return the rows of a metric that is known for every region and label and, last of each, for all of them.

    Parameters
    ----------
    metric, model, method
        As for `make_rows`.
    estimates
        One number for each region and label, rows of a table with margins after one another (``r + 1`` times ``k +
        1``).
    regions, labels
        Names, ``r`` and ``k`` of them.
    """
    region, label = np.divmod(np.arange((len(regions) + 1) * (len(labels) + 1)), len(labels) + 1)
    return make_rows(
        metric,
        estimates,
        model=model,
        region=take_names(regions, region),
        label=take_names(labels, label),
        method=method,
    )
