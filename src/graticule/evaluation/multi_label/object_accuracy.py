"""Accuracy on images with one object and with several: what a single label per image hides."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import newcombe_interval, wilson_interval
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.shares import count_regions, share_rows
from graticule.evaluation.rows import make_rows, no_rows, take_names

NAMES = ("single_object_accuracy", "multi_object_accuracy", "multi_object_drop")


def measure_object_accuracy(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return accuracy on single- and on multi-object images, and how much lower it is on the latter.

    ``group`` says what counts as right: ``top1`` the given label, ``top5`` the given label among the best five, and
    ``multi_label`` any label that people accept. Nothing where nobody told the objects apart.

    References
    ----------
    Tsipras et al. 2020, section 4.1 and appendix C.1.
    """
    scored = judged.scored
    if not judged.n_objects.any():
        return no_rows()
    rights = {"top1": scored.is_right, "multi_label": judged.is_accepted}
    if scored.is_right_top5 is not None:
        rights["top5"] = scored.is_right_top5
    images = {"single_object_accuracy": judged.n_objects == 1, "multi_object_accuracy": judged.n_objects > 1}
    frames: list[pl.DataFrame] = []
    for group, is_right in rights.items():
        for metric, among in images.items():
            frames.append(
                share_rows(
                    metric,
                    hits=is_right,
                    among=among,
                    region=scored.region,
                    regions=scored.regions,
                    confidence=config.confidence,
                    model=scored.model,
                    group=group,
                )
            )
        n_regions = len(scored.regions)
        single, multi = (
            wilson_interval(
                count_regions(among & is_right, scored.region, n_regions),
                count_regions(among, scored.region, n_regions),
                confidence=config.confidence,
            )
            for among in images.values()
        )
        frames.append(
            make_rows(
                "multi_object_drop",
                newcombe_interval(single, multi),
                model=scored.model,
                region=take_names(scored.regions, np.arange(n_regions + 1)),
                group=group,
                method="newcombe",
            )
        )
    return pl.concat(frames)
