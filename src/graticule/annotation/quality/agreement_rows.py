"""How much workers agree with the controls, as rows of the agreement table."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.filter import Filtered
from graticule.data.tables import AGREEMENT


def list_agreement(filtered: Filtered) -> pl.DataFrame:
    """Return an `AGREEMENT` table of answers that were checked.

    Each worker's accuracy on controls (``control_accuracy``) is that before anyone was left out.
    """
    if filtered.workers is None:
        return pl.DataFrame(schema={name: column.dtype for name, column in AGREEMENT.columns.items()})
    return filtered.workers.select(
        pl.lit("control_accuracy").alias("statistic"),
        pl.lit(None, dtype=pl.String).alias("kind"),
        pl.lit(None, dtype=pl.String).alias("label"),
        "worker_id",
        pl.col("accuracy").alias("value"),
        "low",
        "high",
        pl.lit(None, dtype=pl.Int64).alias("n_images"),
        pl.lit(1, dtype=pl.Int64).alias("n_workers"),
        pl.col("n_controls").alias("n_answers"),
    )
