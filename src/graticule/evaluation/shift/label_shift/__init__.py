"""Shares of labels in a target without labels, from what a model makes of its images; one estimator a file."""

from __future__ import annotations

from graticule.evaluation.shift.label_shift.bbse import estimate_bbse
from graticule.evaluation.shift.label_shift.evidence import LabelShift
from graticule.evaluation.shift.label_shift.mlls import estimate_mlls
from graticule.evaluation.shift.label_shift.rlls import estimate_rlls

LABEL_SHIFTS: dict[str, LabelShift] = {"bbse": estimate_bbse, "mlls": estimate_mlls, "rlls": estimate_rlls}
"""Name → function."""
