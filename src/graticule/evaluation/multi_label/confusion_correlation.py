"""How alike a model's confusions are to people's: the correlation of their confusion matrices off the diagonal."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import Estimates, single_estimate
from graticule.evaluation.image_keys import make_generator
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.multi_label.superclass_confusion import find_superclass
from graticule.evaluation.rows import make_rows, no_rows

NAMES = ("confusion_correlation",)
BETWEEN, WITHIN, LABELS = "between superclasses", "within superclasses", "labels"
BLOCK_DRAWS = 4_000_000
NONE = -1


def measure_confusion_correlation(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return the correlation (Pearson) of a model's confusions with people's, in each region and in all.

    Confusions are counts of images by given label and what was named: the main label by people, the best prediction by
    the model. ``group`` says which entries are compared: those ``between superclasses`` (of the matrix of
    superclasses), those ``within superclasses`` (of the matrix of labels), or all of the ``labels``. The interval is a
    bootstrap over images. Undefined where either side confuses nothing.

    References
    ----------
    Tsipras et al. 2020, section 5, figure 11, and appendix C.2.
    """
    people, scored = judged.people, judged.scored
    usable = (judged.main >= 0) & (judged.predicted >= 0) & (judged.given >= 0)
    if not usable.any():
        return no_rows()
    given, main, predicted = judged.given[usable], judged.main[usable], judged.predicted[usable]
    region = scored.region[usable]
    frames: list[pl.DataFrame] = []
    for group in (BETWEEN, WITHIN, LABELS) if people.superclasses else (LABELS,):
        theirs, ours = (_code_cells(people, given, named, group) for named in (main, predicted))
        n_cells = _count_cells(people, group)
        for place in range(len(scored.regions) + 1):
            name = scored.regions[place] if place < len(scored.regions) else None
            among = region == place if name is not None else np.ones(len(region), dtype=bool)
            rng = make_generator(config.seed, scored.model, "confusion_correlation", group, name or "")
            frames.append(
                make_rows(
                    "confusion_correlation",
                    _correlate(theirs[among], ours[among], n_cells, config=config, rng=rng),
                    model=scored.model,
                    region=name,
                    group=group,
                    method="pearson; bootstrap",
                )
            )
    return pl.concat(frames)


def _code_cells(
    people: People, given: Int[np.ndarray, " m"], named: Int[np.ndarray, " m"], group: str
) -> Int[np.ndarray, " m"]:
    """Return the number of each image's entry in the confusion matrix; -1 where that is none of the group's."""
    if group == BETWEEN:
        own, other = find_superclass(people, given), find_superclass(people, named)
        return np.where((own >= 0) & (other >= 0) & (own != other), own * len(people.superclasses) + other, NONE)
    is_counted = given != named
    if group == WITHIN:
        own, other = find_superclass(people, given), find_superclass(people, named)
        is_counted &= (own >= 0) & (own == other)
    return np.where(is_counted, given.astype(np.int64) * len(people.labels) + named, NONE)


def _count_cells(people: People, group: str) -> int:
    """Return how many entries the group has, those with no image included."""
    if group == BETWEEN:
        return len(people.superclasses) * (len(people.superclasses) - 1)
    if group == LABELS:
        return len(people.labels) * (len(people.labels) - 1)
    sizes = np.bincount(people.superclass[people.superclass >= 0])
    return int((sizes * (sizes - 1)).sum())


def _correlate(
    theirs: Int[np.ndarray, " m"],
    ours: Int[np.ndarray, " m"],
    n_cells: int,
    *,
    config: AuditConfig,
    rng: np.random.Generator,
) -> Estimates:
    """Return the correlation over all cells with its interval; undefined where either side has no confusion."""
    cells = np.unique(np.concatenate([theirs, ours]))
    cells = cells[cells >= 0]
    if not (theirs >= 0).any() or not (ours >= 0).any() or n_cells < 3:
        return single_estimate(np.nan, n=0)
    kinds, counts = np.unique(np.stack([theirs, ours]), axis=1, return_counts=True)
    first, second = (np.where(kind >= 0, np.searchsorted(cells, kind), len(cells)) for kind in kinds)
    value = float(_pearson(counts[None], first, second, len(cells), n_cells)[0])
    step = max(1, BLOCK_DRAWS // len(counts))
    draws = np.concatenate(
        [
            _pearson(
                rng.multinomial(counts.sum(), counts / counts.sum(), size=min(step, config.n_bootstraps - start)),
                first, second, len(cells), n_cells,
            )
            for start in range(0, config.n_bootstraps, step)
        ]
    )  # fmt: skip
    deviations = draws[~np.isnan(draws)] - np.nanmean(draws)
    down, up = np.quantile(deviations, [(1 - config.confidence) / 2, (1 + config.confidence) / 2])
    low, high = max(-1.0, min(value, value + down)), min(1.0, max(value, value + up))
    return single_estimate(value, n=len(theirs), low=float(low), high=float(high))


def _pearson(
    counts: Int[np.ndarray, "b t"],
    first: Int[np.ndarray, " t"],
    second: Int[np.ndarray, " t"],
    n_known: int,
    n_cells: int,
) -> Float[np.ndarray, " b"]:
    """Return the correlation for each draw of counts of kinds of image; cells that no image is in count as zeros."""
    x, y = (_sum_by(counts, codes, n_known) for codes in (first, second))
    x_sum, y_sum = x.sum(axis=1), y.sum(axis=1)
    covariance = (x * y).sum(axis=1) - x_sum * y_sum / n_cells
    spread = ((x**2).sum(axis=1) - x_sum**2 / n_cells) * ((y**2).sum(axis=1) - y_sum**2 / n_cells)
    return np.where(spread > 0, covariance / np.sqrt(np.where(spread > 0, spread, 1.0)), np.nan)


def _sum_by(counts: Int[np.ndarray, "b t"], codes: Int[np.ndarray, " t"], n_known: int) -> Float[np.ndarray, "b c"]:
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.zeros((len(counts), n_known + 1))
    sums[:, codes[order][starts]] = np.add.reduceat(counts[:, order], starts, axis=1)
    return sums[:, :n_known]
