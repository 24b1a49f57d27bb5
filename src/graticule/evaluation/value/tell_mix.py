"""Mixes as rows of the metrics table, and in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.value.mix import RegionMix

SEEDS = "linear probe; mean over seeds, Student's interval"
DRAWN = "test images drawn again; percentile interval"
PAPER = "median of the draws, plus or minus 2 standard deviations"
N_TOP = 5


def make_mix_rows(found: RegionMix, *, region: str, labels: Sequence[str]) -> pl.DataFrame:
    """Return rows of the metrics table; the column ``n_train`` counts the regional images of a step.

    ``region`` is the region whose images came in; ``group`` is where accuracy was read.
    """
    gains = found.gains
    n = gains.gain.n
    nothing = np.full(len(n), np.nan)
    paper = Estimates(value=gains.median, low=gains.median - 2 * gains.std, high=gains.median + 2 * gains.std, n=n)
    frames = [
        make_rows("mix_accuracy", estimates, model=None, region=region, group=place, method=SEEDS).with_columns(
            n_train=pl.Series(found.n_regional.astype(np.int64))
        )
        for place, estimates in found.accuracy.items()
        if estimates.n.any()
    ]
    named: list[str | None] = list(labels)
    for metric, estimates, method in (
        ("average_precision_before", Estimates(value=gains.before, low=nothing, high=nothing, n=n), SEEDS),
        ("average_precision_after", Estimates(value=gains.after, low=nothing, high=nothing, n=n), SEEDS),
        ("average_precision_gain", gains.gain, DRAWN),
        ("average_precision_gain_median", paper, PAPER),
        ("average_precision_gain_relative", gains.relative, DRAWN),
    ):
        frames.append(make_rows(metric, estimates, model=None, region=region, label=named, method=method))
    return pl.concat(frames, how="diagonal")


def list_top_labels(found: RegionMix, labels: Sequence[str], *, limit: int = N_TOP) -> list[str]:
    """Return the labels whose average precision rose most in proportion, most first: GeoDE's table 8."""
    relative = np.where(np.isfinite(found.gains.relative.value), found.gains.relative.value, -np.inf)
    order = [code for code in np.argsort(-relative, kind="stable") if relative[code] > 0]
    return [str(labels[code]) for code in order[:limit]]


def describe_mix(found: RegionMix, *, region: str, control: str, labels: Sequence[str]) -> str:
    """Return what the regional images did, in a sentence or two."""
    parts = [
        f"{name} {100 * values[0]:.1f} → {100 * values[-1]:.1f}%"
        for place, name in (("region", "there"), ("control", f"in {control}"), ("elsewhere", "elsewhere"))
        for values in [found.accuracy[place].value]
        if np.isfinite(values).all()
    ]
    top = list_top_labels(found, labels)
    gained = f" Labels that gain most: {', '.join(top)}." if top else " No label gains."
    return f"{found.n_regional[-1]:,} of {found.n_images:,} images replaced by {region}'s: {', '.join(parts)}.{gained}"
