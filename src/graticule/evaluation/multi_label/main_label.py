"""The main object: how often a model names it, and what it names where the data set's label is another one."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.multi_label.shares import share_rows
from graticule.evaluation.rows import no_rows

NAMES = ("main_label_accuracy", "other_main_accuracy")


def measure_main_label(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return how often a model predicts the main label, and what it predicts where that is not the given one.

    ``other_main_accuracy`` is over images whose main label is not the given one, and that show several objects where
    these are told apart: ``group`` ``given`` counts predictions of the given label there, ``main`` those of the main
    label. Nothing where no main label is known.

    References
    ----------
    Tsipras et al. 2020, sections 4.1 and 5.
    """
    scored = judged.scored
    has_main = judged.main >= 0
    if not has_main.any():
        return no_rows()
    is_main = judged.predicted == judged.main
    is_other = has_main & (judged.main != judged.given)
    if judged.n_objects.any():
        is_other &= judged.n_objects > 1
    cases = (
        ("main_label_accuracy", is_main, has_main, None),
        ("other_main_accuracy", judged.predicted == judged.given, is_other, "given"),
        ("other_main_accuracy", is_main, is_other, "main"),
    )
    return pl.concat(
        [
            share_rows(
                metric,
                hits=hits,
                among=among,
                region=scored.region,
                regions=scored.regions,
                confidence=config.confidence,
                model=scored.model,
                group=group,
            )
            for metric, hits, among, group in cases
        ]
    )


def measure_given_main_label(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return how often the given label is the main one, as a model that always predicts it would be scored."""
    has_main = (people.main >= 0) & (people.given >= 0)
    if not has_main.any():
        return no_rows()
    return share_rows(
        "main_label_accuracy",
        hits=people.main == people.given,
        among=has_main,
        region=people.region,
        regions=people.regions,
        confidence=config.confidence,
        model=None,
    )
