"""Whether a model looks at the object: shares of saliency in both regions, and which failures to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile
from graticule.evaluation.rows import make_rows, no_rows
from graticule.evaluation.shift.regions import Joined
from graticule.evaluation.shift.spread import measure_spread

PICTURES = 24
PER_LABEL = 3
PER_SIDE = 200
N_DRAWS = 200


def choose_failures(joined: Joined, labels: Sequence[str]) -> Int[np.ndarray, " m"]:
    """Return rows of the target's failures to look at: in turns over the labels, in the order given."""
    outcomes = joined.outcomes
    code = {label: place for place, label in enumerate(outcomes.labels)}
    failed = np.flatnonzero(outcomes.is_target & ~outcomes.is_right)
    by_label = [failed[outcomes.label[failed] == code[label]][:PER_LABEL] for label in labels]
    turns = [rows[turn] for turn in range(PER_LABEL) for rows in by_label if len(rows) > turn]
    return np.array(turns[:PICTURES], dtype=np.int64)


def choose_images(joined: Joined, *, seed: int) -> Int[np.ndarray, " m"]:
    """Return rows of a fair sample of both regions."""
    rng = np.random.default_rng(seed)
    sides = [np.flatnonzero(joined.outcomes.is_target == side) for side in (False, True)]
    return np.sort(np.concatenate([rng.choice(rows, size=min(PER_SIDE, len(rows)), replace=False) for rows in sides]))


def measure_saliency(
    joined: Joined,
    rows: Int[np.ndarray, " m"],
    *,
    on_foreground: Float[np.ndarray, " m"],
    area: Float[np.ndarray, " m"],
    method: str,
    seed: int,
) -> pl.DataFrame:
    """Return rows of the metrics table: the mean share of saliency on the object, by region and outcome.

    Parameters
    ----------
    joined
        The images.
    rows
        Which of them were looked at.
    on_foreground
        Share of the saliency on the object; NaN where it is not known.
    area
        Share of the image that the object covers.
    method
        How it was looked, for the table.
    seed
        Seed of the bootstrap over groups.
    """
    outcomes = joined.outcomes
    frames = [no_rows()]
    for side, region in ((False, joined.source), (True, joined.target)):
        here = outcomes.is_target[rows] == side
        right = outcomes.is_right[rows]
        for name, where in (("all", here), ("right", here & right), ("wrong", here & ~right)):
            found = _average(on_foreground, where, outcomes.groups[rows], seed=seed)
            frames.append(
                make_rows("saliency_on_foreground", found, model=joined.model, region=region, group=name, method=method)
            )
        found = _average(area, here, outcomes.groups[rows], seed=seed)
        frames.append(make_rows("foreground_area", found, model=joined.model, region=region, method="mean of masks"))
    return pl.concat(frames)


def _average(
    values: Float[np.ndarray, " m"], where: np.ndarray, groups: Int[np.ndarray, " m"], *, seed: int
) -> Estimates:
    kept = where & np.isfinite(values)
    n = np.array([int(kept.sum())])
    if not n[0]:
        nothing = np.array([np.nan])
        return Estimates(value=nothing, low=nothing, high=nothing, n=n)
    codes = np.unique(groups[kept], return_inverse=True)[1]
    sums, sizes = np.bincount(codes, weights=values[kept]), np.bincount(codes)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(sums), size=(N_DRAWS, len(sums)))
    spread = measure_spread(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    value = np.array([float(values[kept].mean())])
    reach = find_quantile(0.95) * spread
    return Estimates(value=value, low=np.maximum(value - reach, 0.0), high=np.minimum(value + reach, 1.0), n=n)
