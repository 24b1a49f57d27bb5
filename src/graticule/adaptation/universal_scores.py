"""How well shared labels are told and unknown ones recognised: closed, open, H-score, AUROC and OSCR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from graticule.adaptation.shares import UNDEFINED, Share, estimate_share

N_DRAWS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalScores:
    """Scores of a run whose target holds unknown labels.

    Parameters
    ----------
    closed
        Share of images with a shared label that get it and are not rejected.
    closed_without_rejection
        Share of them that would get it if nothing were rejected.
    open
        Share of images with an unknown label that are rejected.
    h_score
        The harmonic mean of ``closed`` and ``open``.
    auroc
        Probability that an unknown image has a higher unknown score than a shared one.
    oscr
        Area under the rate of right shared images over the rate of accepted unknown ones.
    """

    closed: Share
    closed_without_rejection: Share
    open: Share
    h_score: Share
    auroc: Share
    oscr: Share


def find_h_score(closed: float, opened: float) -> float:
    """Return the harmonic mean of closed-set and open-set accuracy; 0 where both are.

    Examples
    --------
    GeoNet's table 5:

    >>> [round(find_h_score(*row), 2) for row in ((27.64, 43.93), (38.54, 78.73), (36.54, 66.89))]
    [33.93, 51.75, 47.26]
    """
    return 2 * closed * opened / (closed + opened) if closed + opened else 0.0


def score_universal(
    is_right: Bool[np.ndarray, " n"],
    is_unknown: Bool[np.ndarray, " n"],
    unknown_scores: Float[np.ndarray, " n"],
    *,
    threshold: float,
    seed: int = 0,
) -> UniversalScores:
    """Return the scores of labelled target images.

    Parameters
    ----------
    is_right
        Whether the best of the source's labels is the image's.
    is_unknown
        Whether the image's label is none of the source's.
    unknown_scores
        How likely that is, by the algorithm.
    threshold
        Above which an image is rejected.
    seed
        Of the draws behind the H-score's interval.
    """
    rejected = unknown_scores > threshold
    known = ~is_unknown
    n_known, n_unknown = int(known.sum()), int(is_unknown.sum())
    n_closed, n_open = int((is_right & known & ~rejected).sum()), int((rejected & is_unknown).sum())
    closed, opened = estimate_share(n_closed, n_known), estimate_share(n_open, n_unknown)
    h_score = UNDEFINED
    if n_known and n_unknown:
        rng = np.random.default_rng(seed)
        draws = [
            rng.beta(hits + 0.5, n - hits + 0.5, N_DRAWS) for hits, n in ((n_closed, n_known), (n_open, n_unknown))
        ]
        low, high = np.quantile(2 * draws[0] * draws[1] / (draws[0] + draws[1]), [0.025, 0.975])
        value = find_h_score(closed.value, opened.value)
        h_score = Share(value=value, low=min(float(low), value), high=max(float(high), value), n=n_known + n_unknown)
    return UniversalScores(
        closed=closed,
        closed_without_rejection=estimate_share(int((is_right & known).sum()), n_known),
        open=opened,
        h_score=h_score,
        auroc=_find_auroc(unknown_scores, is_unknown),
        oscr=_find_oscr(is_right & known, is_unknown, unknown_scores, n_known=n_known),
    )


def _find_auroc(scores: Float[np.ndarray, " n"], is_unknown: Bool[np.ndarray, " n"]) -> Share:
    """Return the area under the ROC with Hanley and McNeil's interval (1982)."""
    from scipy.stats import rankdata

    n, m = int(is_unknown.sum()), int((~is_unknown).sum())
    if not n or not m:
        return UNDEFINED
    area = float((rankdata(scores)[is_unknown].sum() - n * (n + 1) / 2) / (n * m))
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (n - 1) * (one - area**2) + (m - 1) * (two - area**2)) / (n * m)
    margin = 1.959964 * float(np.sqrt(max(variance, 0.0)))
    return Share(value=area, low=max(area - margin, 0.0), high=min(area + margin, 1.0), n=n + m)


def _find_oscr(
    is_hit: Bool[np.ndarray, " n"],
    is_unknown: Bool[np.ndarray, " n"],
    scores: Float[np.ndarray, " n"],
    *,
    n_known: int,
) -> Share:
    n_unknown = int(is_unknown.sum())
    if not n_known or not n_unknown:
        return UNDEFINED
    order = np.argsort(scores, kind="stable")
    last_of_ties = np.append(np.flatnonzero(np.diff(scores[order]) > 0), len(order) - 1)
    right = np.concatenate([[0.0], np.cumsum(is_hit[order])[last_of_ties] / n_known])
    accepted = np.concatenate([[0.0], np.cumsum(is_unknown[order])[last_of_ties] / n_unknown])
    return Share(value=float(np.trapezoid(right, accepted)), low=np.nan, high=np.nan, n=n_known + n_unknown)
