"""What people take images of each label for: the confusion matrix of people."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.pairs import count_labels, pair_rows
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.rows import no_rows

NAMES = ("people_confusion",)


def measure_people_confusion(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return, for each given label, the share of its images whose main label, to people, is each other label.

    References
    ----------
    Tsipras et al. 2020, section 5 and appendix C.2.
    """
    has_both = (people.main >= 0) & (people.given >= 0)
    if not has_both.any():
        return no_rows()
    rows = np.flatnonzero(has_both)
    other = rows[people.main[rows] != people.given[rows]]
    return pair_rows(
        "people_confusion",
        image=other,
        label=people.given[other],
        other=people.main[other],
        base=count_labels(rows, people.given[rows], people=people),
        people=people,
        config=config,
    )
