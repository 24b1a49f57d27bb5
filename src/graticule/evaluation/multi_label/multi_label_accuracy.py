"""Multi-label accuracy: the share of images whose best prediction is any label that people accept."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.shares import share_rows
from graticule.evaluation.rows import make_cell_rows
from graticule.evaluation.scored import add_margins

NAMES = ("multi_label_accuracy", "given_label_accuracy")


def measure_multi_label_accuracy(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return the multi-label accuracy of every region and label, and the accuracy on given labels of the same images.

    Rows with a label are of the images that are given that label. Images of which people accept no label, or of which
    nothing is known, take no part.

    References
    ----------
    Tsipras et al. 2020, section 4.1; Beyer et al. 2020 (ReaL accuracy is the same number on their labels).
    """
    scored = judged.scored
    n = add_margins(scored.count_cells(judged.is_labelled)).ravel()
    hits = add_margins(scored.count_cells(judged.is_labelled & judged.is_accepted)).ravel()
    accepted = make_cell_rows(
        "multi_label_accuracy",
        wilson_interval(hits, n, confidence=config.confidence),
        model=scored.model,
        regions=scored.regions,
        labels=scored.labels,
        method="wilson",
    )
    given = share_rows(
        "given_label_accuracy",
        hits=scored.is_right,
        among=judged.is_labelled,
        region=scored.region,
        regions=scored.regions,
        confidence=config.confidence,
        model=scored.model,
    )
    return pl.concat([accepted, given])
