"""How much of a region's accuracy gap remains when any label that people accept counts as right.

A region may look bad because its images show several objects, or because their given labels are wrong, more often than
elsewhere. Scored against what people see, that part of the gap goes away; what remains is the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.rows import Names, make_rows, no_rows

NAMES = ("given_gap", "accepted_gap", "label_gap", "remaining_gap")
REST, EXTREMES = "rest", "best to worst"
N_KINDS = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Moments:
    """Means of right against given and accepted labels, and the (co)variances of these means, each shape ``(m,)``."""

    given: Float[np.ndarray, " m"]
    accepted: Float[np.ndarray, " m"]
    given_variance: Float[np.ndarray, " m"]
    accepted_variance: Float[np.ndarray, " m"]
    covariance: Float[np.ndarray, " m"]


def measure_remaining_gap(judged: Judged, config: AuditConfig) -> pl.DataFrame:
    """Return each region's accuracy gap to the rest, under given and under accepted labels, and what is left of it.

    All rows are over images of which people accepted a label, so that both ways of scoring see the same images. Gaps
    are the region minus the rest (``group`` ``rest``) as in ``accuracy_difference``; the row without a region is the
    worst region minus the best one (by given labels, among regions with ``min_images``), whose search no interval
    allows for.

    ``given_gap``, ``accepted_gap``
        The gap under each way of scoring.
    ``label_gap``
        Given minus accepted gap: the part that the labels make.
    ``remaining_gap``
        Accepted over given gap: 1 if the labels explain nothing of it, 0 if they explain all, negative if the gap turns
        round. Undefined where there is no gap, and without an interval where the gap itself may be none.

    References
    ----------
    Fieller 1954, Some problems in interval estimation, for the interval of the ratio.
    """
    scored = judged.scored
    kinds = scored.is_right * 2 + judged.is_accepted
    cells = (scored.region.astype(np.int64) * N_KINDS + kinds)[judged.is_labelled]
    counts = np.bincount(cells, minlength=len(scored.regions) * N_KINDS).reshape(-1, N_KINDS)
    rest = counts.sum(axis=0) - counts
    frames = [_gap_rows(counts, rest, judged, config, region=list(scored.regions), group=REST)]
    is_large = counts.sum(axis=1) >= config.min_images
    if np.count_nonzero(is_large) >= 2:
        accuracy = np.where(is_large, counts[:, 2:].sum(axis=1) / np.maximum(counts.sum(axis=1), 1), np.nan)
        worst, best = int(np.nanargmin(accuracy)), int(np.nanargmax(accuracy))
        frames.append(_gap_rows(counts[[worst]], counts[[best]], judged, config, region=[None], group=EXTREMES))
    return pl.concat([*frames, no_rows()])


def _gap_rows(
    first: Int[np.ndarray, "m 4"],
    second: Int[np.ndarray, "m 4"],
    judged: Judged,
    config: AuditConfig,
    *,
    region: Sequence[str | None],
    group: str,
) -> pl.DataFrame:
    """Return the rows of the gaps of ``first`` minus ``second``."""
    n = np.where((first.sum(axis=1) > 0) & (second.sum(axis=1) > 0), first.sum(axis=1), 0)
    moments = _subtract(_find_moments(first), _find_moments(second))
    z = find_quantile(config.confidence)
    difference = moments.given - moments.accepted
    variance = moments.given_variance + moments.accepted_variance - 2 * moments.covariance
    found = {
        "given_gap": (_as_normal(moments.given, moments.given_variance, z, n), "normal"),
        "accepted_gap": (_as_normal(moments.accepted, moments.accepted_variance, z, n), "normal"),
        "label_gap": (_as_normal(difference, np.maximum(variance, 0.0), z, n), "normal, paired"),
        "remaining_gap": (_divide(moments, z, n), "fieller"),
    }
    names: Names = pl.Series(region, dtype=pl.String)
    return pl.concat(
        [
            make_rows(metric, estimates, model=judged.scored.model, region=names, group=group, method=method)
            for metric, (estimates, method) in found.items()
        ]
    )


def _find_moments(counts: Int[np.ndarray, "m 4"]) -> _Moments:
    """Return the moments of rows of counts (neither right, accepted only, given only, both).

    Half an image is added to each kind for the variances, so that regions without an error still vary.
    """
    total = counts.sum(axis=1)
    n = np.where(total > 0, total, np.nan).astype(np.float64)
    shares = (counts + 0.5) / (n + N_KINDS / 2)[:, None]
    given, accepted, both = shares[:, 2] + shares[:, 3], shares[:, 1] + shares[:, 3], shares[:, 3]
    return _Moments(
        given=(counts[:, 2] + counts[:, 3]) / n,
        accepted=(counts[:, 1] + counts[:, 3]) / n,
        given_variance=given * (1 - given) / n,
        accepted_variance=accepted * (1 - accepted) / n,
        covariance=(both - given * accepted) / n,
    )


def _subtract(first: _Moments, second: _Moments) -> _Moments:
    """Return the moments of the difference of independent means."""
    return _Moments(
        given=first.given - second.given,
        accepted=first.accepted - second.accepted,
        given_variance=first.given_variance + second.given_variance,
        accepted_variance=first.accepted_variance + second.accepted_variance,
        covariance=first.covariance + second.covariance,
    )


def _as_normal(
    value: Float[np.ndarray, " m"], variance: Float[np.ndarray, " m"], z: float, n: Int[np.ndarray, " m"]
) -> Estimates:
    margin = z * np.sqrt(variance)
    return Estimates(value=value, low=value - margin, high=value + margin, n=n)


def _divide(moments: _Moments, z: float, n: Int[np.ndarray, " m"]) -> Estimates:
    """Return the ratios of accepted to given gap with Fieller's interval, where that is one."""
    is_gap = np.nan_to_num(moments.given) != 0
    given = np.where(is_gap, moments.given, np.nan)
    value = moments.accepted / given
    a = given**2 - z**2 * moments.given_variance
    b = moments.accepted * given - z**2 * moments.covariance
    c = moments.accepted**2 - z**2 * moments.accepted_variance
    is_sure = a > 0
    root = np.sqrt(np.where(is_sure, np.maximum(b**2 - a * c, 0.0), np.nan))
    a = np.where(is_sure, a, np.nan)
    return Estimates(value=value, low=(b - root) / a, high=(b + root) / a, n=np.where(is_gap, n, 0))
