"""Relative values as rows of the metrics table, and in sentences."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.value.relative import RelativeValue

SEEDS = "linear probe; mean over seeds, Student's interval"
CROSSED = "where the mean curve reaches the baseline; interval by drawing seeds again; inf: more than there are"


def make_relative_rows(found: RelativeValue, *, names: tuple[str, str]) -> pl.DataFrame:
    """Return rows of the metrics table, with the column ``n_train``; ``group`` says whose images serve whom.

    Parameters
    ----------
    found
        What the second's images are worth to the first.
    names
        Of the data set that is tested on, and of the other.
    """
    own, other = f"{names[0]} for {names[0]}", f"{names[1]} for {names[0]}"
    worth = Estimates(
        value=found.needed.value / found.n_images,
        low=found.needed.low / found.n_images,
        high=found.needed.high / found.n_images,
        n=found.needed.n,
    )
    return pl.concat(
        [
            _with_sizes(
                make_rows("baseline_accuracy", found.baseline, model=None, group=own, method=SEEDS), [found.n_images]
            ),
            _with_sizes(
                make_rows("images_needed", found.needed, model=None, group=other, method=CROSSED), [found.n_images]
            ),
            _with_sizes(
                make_rows("images_worth_one", worth, model=None, group=other, method=CROSSED), [found.n_images]
            ),
            _with_sizes(
                make_rows("accuracy_by_images", found.own_curve, model=None, group=own, method=SEEDS), found.own_sizes
            ),
            _with_sizes(
                make_rows("accuracy_by_images", found.curve, model=None, group=other, method=SEEDS), found.sizes
            ),
        ]
    )


def describe_relative(found: RelativeValue, *, names: tuple[str, str]) -> str:
    """Return the answer in a sentence."""
    first, second = names
    level = 100 * float(found.baseline.value[0])
    start = f"{found.n_images} images of {first} give {level:.1f}% on {first}; "
    needed, low, high = (float(part[0]) for part in (found.needed.value, found.needed.low, found.needed.high))
    if math.isinf(needed):
        best = 100 * float(np.max(found.curve.value))
        least = "" if math.isinf(low) else f" (at the low end of the interval {low:,.0f} would do)"
        return f"{start}not reached with all {found.n_available:,} images of {second}, which give {best:.1f}%{least}."
    end = f"{high:,.0f}" if math.isfinite(high) else f"more than all {found.n_available:,}"
    return (
        f"{start}{needed:,.0f} images of {second} do as well ({low:,.0f} to {end}): an image of {first} is worth "
        f"{needed / found.n_images:.1f} of {second}'s there."
    )


def _with_sizes(rows: pl.DataFrame, sizes: np.ndarray | list[int]) -> pl.DataFrame:
    return rows.with_columns(n_train=pl.Series(np.asarray(sizes, dtype=np.int64)))
