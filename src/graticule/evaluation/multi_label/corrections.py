"""Top-5 corrections: the errors that top-5 accuracy forgives, and how many of them are another object in the image."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.shares import share_rows
from graticule.evaluation.rows import no_rows

NAMES = ("multi_object_corrections",)


def measure_corrections(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return the share of top-5 corrections that are multi-object confusions.

    A correction is an image whose best prediction is not the given label, which is among the best five. It is a
    multi-object confusion if people see several objects and accept the best prediction. ``group`` null is over all
    corrections, ``labelled`` over those of images of which people accepted a label.

    References
    ----------
    Tsipras et al. 2020, appendix C.1.
    """
    scored = judged.scored
    if scored.is_right_top5 is None or not judged.n_objects.any():
        return no_rows()
    is_corrected = ~scored.is_right & scored.is_right_top5
    return pl.concat(
        [
            share_rows(
                "multi_object_corrections",
                hits=judged.is_accepted & (judged.n_objects > 1),
                among=among,
                region=scored.region,
                regions=scored.regions,
                confidence=config.confidence,
                model=scored.model,
                group=group,
            )
            for group, among in ((None, is_corrected), ("labelled", is_corrected & judged.is_labelled))
        ]
    )
