"""How much workers agree, with each other and with the controls, as one table."""

from __future__ import annotations

import polars as pl

from graticule.annotation.agreement.measure import measure_agreement
from graticule.annotation.answers import code_answers
from graticule.annotation.quality.answer_rows import prepare_answers
from graticule.annotation.quality.filter import Filtered, filter_answers
from graticule.data.tables import AGREEMENT

CONTRADICTIONS = ("duplicates", "invalid", "main_not_selected")
"""Checks that answers must pass before they can be compared."""


def list_agreement(filtered: Filtered, *, seed: int = 0) -> pl.DataFrame:
    """Return an `AGREEMENT` table of answers that were checked.

    The coefficients (``krippendorff_alpha``, ``fleiss_kappa``) are of the kept answers, each kind for itself; each
    worker's accuracy on controls (``control_accuracy``) is that before anyone was left out.

    Parameters
    ----------
    filtered
        The answers, checked. If only some checks were run, answers that contradict themselves are left aside here.
    seed
        Of the coefficients' intervals.
    """
    frames = [_list_controls(filtered)]
    if not filtered.kept.is_empty():
        kept = filter_answers(filtered.kept, checks=CONTRADICTIONS).kept
        kinds = prepare_answers(kept)["kind"] if not kept.is_empty() else pl.Series(dtype=pl.String)
        for kind in kinds.unique().sort():
            answers = code_answers(kept.filter(kinds == kind).with_columns(kind=pl.lit(kind)), repeats="keep")
            frames.append(measure_agreement(answers, seed=seed).with_columns(kind=pl.lit(kind)))
    return pl.concat(frames[::-1])


def _list_controls(filtered: Filtered) -> pl.DataFrame:
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
