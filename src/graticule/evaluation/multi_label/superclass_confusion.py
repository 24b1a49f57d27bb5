"""Confusions between and within superclasses, of people and of models: dogs taken for cats, and one dog for another."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.multi_label.shares import share_rows
from graticule.evaluation.rows import make_rows, no_rows, take_names

NAMES = ("superclass_confusion", "within_superclass_confusion", "between_superclass_confusion")


def measure_superclass_confusion(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return what a model takes images of each superclass for, and how often it errs within and between superclasses.

    ``superclass_confusion`` has the superclass of the given label in ``label`` and that of the prediction in ``group``;
    the other two are shares of all images that have both. Nothing where no superclasses are known.

    References
    ----------
    Tsipras et al. 2020, section 5 and figure 11.
    """
    return _measure(
        judged.people, judged.given, judged.predicted, judged.scored.region, model=judged.scored.model, config=config
    )


def measure_people_superclass_confusion(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return the same for people, who name the main object."""
    return _measure(people, people.given, people.main, people.region, model=None, config=config)


def find_superclass(people: People, codes: Int[np.ndarray, " m"]) -> Int[np.ndarray, " m"]:
    """Return the superclass of each label; -1 where there is none."""
    return np.where(codes >= 0, np.append(people.superclass, -1)[codes], -1)


def _measure(
    people: People,
    given: Int[np.ndarray, " m"],
    named: Int[np.ndarray, " m"],
    region: Int[np.ndarray, " m"],
    *,
    model: str | None,
    config: AuditConfig,
) -> pl.DataFrame:
    own, other = find_superclass(people, given), find_superclass(people, named)
    among = (own >= 0) & (other >= 0)
    if not among.any():
        return no_rows()
    frames = [_matrix_rows(people, own[among], other[among], region[among], model=model, config=config)]
    cases = {
        "within_superclass_confusion": (own == other) & (given != named),
        "between_superclass_confusion": own != other,
    }
    for metric, hits in cases.items():
        frames.append(
            share_rows(
                metric,
                hits=hits,
                among=among,
                region=region,
                regions=people.regions,
                confidence=config.confidence,
                model=model,
            )
        )
    return pl.concat(frames)


def _matrix_rows(
    people: People,
    own: Int[np.ndarray, " m"],
    other: Int[np.ndarray, " m"],
    region: Int[np.ndarray, " m"],
    *,
    model: str | None,
    config: AuditConfig,
) -> pl.DataFrame:
    n_regions, n_groups = len(people.regions), len(people.superclasses)
    known = region >= 0
    cells = (region[known].astype(np.int64) * n_groups + own[known]) * n_groups + other[known]
    counts = np.bincount(cells, minlength=n_regions * n_groups**2).reshape(n_regions, n_groups, n_groups)
    whole = np.bincount(own * n_groups + other, minlength=n_groups**2).reshape(1, n_groups, n_groups)
    counts = np.concatenate([counts, whole])
    cell, first, second = np.nonzero(counts)
    return make_rows(
        "superclass_confusion",
        wilson_interval(counts[cell, first, second], counts.sum(axis=2)[cell, first], confidence=config.confidence),
        model=model,
        region=take_names(people.regions, cell),
        label=take_names(people.superclasses, first),
        group=take_names(people.superclasses, second),
        method="wilson",
    )
