"""What was left out of an audit, counted."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.alignment import Alignment
from graticule.evaluation.estimates import Estimates, as_estimates, single_estimate
from graticule.evaluation.rows import make_rows

NAMES = ("n_dropped", "n_labels_mapped", "n_unlisted_predictions")


def measure_dropped(aligned: Alignment) -> pl.DataFrame:
    """Return how many images were left out for each reason, and how many of the images' labels each model knows.

    ``n_unlisted_predictions`` counts predictions of images that the images table does not list: nothing is wrong with
    them, the audit was not asked about them.
    """
    counts = _count_reasons(aligned)
    frames = [
        make_rows(
            "n_dropped",
            single_estimate(float(row["count"]), n=row["count"]),
            model=row["model"],
            group=row["reason"],
            method="count",
        )
        for row in counts.iter_rows(named=True)
    ]
    for scored, n_unlisted in zip(aligned.scored, aligned.n_unlisted, strict=True):
        n_mapped = int(np.count_nonzero(scored.columns >= 0))
        frames.append(make_rows("n_labels_mapped", _as_count(n_mapped), model=scored.model, method="count"))
        frames.append(make_rows("n_unlisted_predictions", _as_count(n_unlisted), model=scored.model, method="count"))
    return pl.concat(frames)


def sum_up_dropped(aligned: Alignment) -> dict[str, int]:
    """Return reason → number of images; with several models a reason that holds for one of them names it."""
    several = len(aligned.scored) > 1
    return {
        f"{row['model']}: {row['reason']}" if several and row["model"] is not None else row["reason"]: row["count"]
        for row in _count_reasons(aligned).iter_rows(named=True)
    }


def _count_reasons(aligned: Alignment) -> pl.DataFrame:
    return aligned.dropped.group_by("model", "reason", maintain_order=True).agg(pl.len().cast(pl.Int64).alias("count"))


def _as_count(count: int) -> Estimates:
    return as_estimates(np.array([float(count)]), np.array([count]))
