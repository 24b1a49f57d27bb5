"""What a metric is: a function from a model's scored images to rows of the metrics table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.scored import Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric, or a family of numbers that belong together.

    Parameters
    ----------
    measure
        Returns the rows; none where the predictions do not hold what the metric needs.
    names
        Every name that its rows may have in the column ``metric``.
    """

    measure: Callable[[Scored, AuditConfig], pl.DataFrame]
    names: tuple[str, ...]
