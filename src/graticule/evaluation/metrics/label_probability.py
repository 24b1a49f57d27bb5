"""Label probability: how sure the model is of the right label, as quantiles for each region and label.

References
----------
GeoDE, figure 12 (box plots of the right label's probability, by label and region).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import as_estimates
from graticule.evaluation.rows import make_rows, no_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("label_probability",)
LEVELS = {"p05": 0.05, "p25": 0.25, "p50": 0.50, "p75": 0.75, "p95": 0.95}


def measure_label_probability(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return quantiles of the probability given to the image's own label, interpolated as ``numpy.quantile`` does.

    Images whose label the model does not know have no such probability and are left out.
    """
    del config
    if scored.label_probability is None:
        return no_rows()
    known = ~np.isnan(scored.label_probability)
    probability = np.maximum(scored.label_probability[known], 0).astype(np.float32)
    cell = scored.region[known].astype(np.uint64) * np.uint64(len(scored.labels)) + scored.label[known].astype(
        np.uint64
    )
    # A float that is not negative has the order of its bits, so one sort of integers sorts by cell and probability.
    ordered = np.sort((cell << np.uint64(32)) | (probability + np.float32(0)).view(np.uint32).astype(np.uint64))
    values = (ordered & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32).astype(np.float64)
    n = np.bincount(cell.astype(np.int64), minlength=len(scored.regions) * len(scored.labels))
    first = np.cumsum(n) - n
    region, label = np.divmod(np.arange(len(n)), len(scored.labels))
    last_value = len(values) - 1
    frames = []
    for name, level in LEVELS.items():
        place = first + level * (np.maximum(n, 1) - 1)
        below = np.minimum(np.floor(place).astype(np.int64), last_value)
        above = np.minimum(np.ceil(place).astype(np.int64), last_value)
        value = values[below] + (place - np.floor(place)) * (values[above] - values[below])
        frames.append(
            make_rows(
                "label_probability",
                as_estimates(np.where(n > 0, value, np.nan), n),
                model=scored.model,
                region=take_names(scored.regions, region),
                label=take_names(scored.labels, label),
                group=name,
                method="quantile",
            )
        )
    return pl.concat(frames)
