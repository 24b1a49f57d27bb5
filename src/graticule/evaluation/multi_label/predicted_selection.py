"""Selection frequency of the predicted label: how many people see what the model says."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.multi_label.shares import mean_rows
from graticule.evaluation.rows import no_rows

NAMES = ("selection_frequency",)


def measure_predicted_selection(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return the mean share of workers who selected what the model predicts; 0 where nobody was asked or did.

    References
    ----------
    Tsipras et al. 2020, section 5.
    """
    people, scored = judged.people, judged.scored
    values = people.find_frequency(scored.rows, judged.predicted)
    if np.isnan(values).all():
        return no_rows()
    return mean_rows(
        "selection_frequency",
        values=values,
        region=scored.region,
        regions=scored.regions,
        confidence=config.confidence,
        model=scored.model,
        method=describe_method(people),
    )


def measure_given_selection(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return the mean share of workers who selected the given label: what a perfect model could be held to."""
    values = people.find_frequency(np.arange(len(people.given)), people.given)
    values = np.where(people.given >= 0, values, np.nan)
    if np.isnan(values).all():
        return no_rows()
    return mean_rows(
        "selection_frequency",
        values=values,
        region=people.region,
        regions=people.regions,
        confidence=config.confidence,
        model=None,
        method=describe_method(people),
    )


def describe_method(people: People) -> str:
    """Return how the mean was made, and whether labels that are not accepted count with what they got or as nothing."""
    return "normal" if people.has_all_selections else "normal; labels that are not accepted count as never selected"
