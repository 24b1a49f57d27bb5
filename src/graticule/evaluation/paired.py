"""Two models on the same images: by how much one is better, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.adjustment import adjust_holm
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import Estimates, as_estimates
from graticule.evaluation.intervals import paired_interval
from graticule.evaluation.rows import make_rows, no_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("paired_difference", "mcnemar_p", "mcnemar_p_holm")
ALL_PAIRS_UP_TO = 6
"""Up to this many models every pair is compared; with more, each with the first and with the most accurate."""
NOT_SCORED = 2


def compare_models(scored: Sequence[Scored], *, n_images: int, config: AuditConfig) -> pl.DataFrame:
    """Return, for pairs of models, the difference of their accuracies on the images that both were scored on.

    Parameters
    ----------
    scored
        The models, on the same images table.
    n_images
        Rows of that table.
    config
        ``confidence`` is used.

    Notes
    -----
    Each pair has rows both ways round, over all regions and in each. The p-value is McNemar's mid-p over the images on
    which the two disagree; the adjusted one is Holm's over all pairs, over all regions and in each region apart.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), The McNemar test for binary matched-pairs data: mid-p and asymptotic are
    better than exact conditional.
    """
    pairs = choose_pairs(scored)
    if not pairs:
        return no_rows()
    n_regions = len(scored[0].regions)
    region = np.full(n_images, n_regions, dtype=np.int64)
    outcome = np.full((len(scored), n_images), NOT_SCORED, dtype=np.int8)
    for place, model in enumerate(scored):
        region[model.rows] = model.region
        outcome[place, model.rows] = model.is_right
    counts = np.stack([_count_outcomes(outcome[a], outcome[b], region, n_regions) for a, b in pairs])
    n, only_first, only_second = counts[:, 0], counts[:, 1], counts[:, 2]
    p_values = compute_mcnemar(only_first.ravel(), only_second.ravel(), n.ravel()).reshape(n.shape)
    adjusted = np.stack([adjust_holm(column) for column in p_values.T], axis=1)
    frames: list[pl.DataFrame] = []
    for place, (a, b) in enumerate(pairs):
        forth = paired_interval(only_first[place], only_second[place], n[place], confidence=config.confidence)
        back = Estimates(value=-forth.value, low=-forth.high, high=-forth.low, n=forth.n)
        for model, other, difference in ((scored[a], scored[b], forth), (scored[b], scored[a], back)):
            for metric, estimates, method in (
                ("paired_difference", difference, "bonett-price"),
                ("mcnemar_p", as_estimates(p_values[place], n[place]), "mid-p"),
                ("mcnemar_p_holm", as_estimates(adjusted[place], n[place]), "mid-p, holm over pairs"),
            ):
                frames.append(
                    make_rows(
                        metric,
                        estimates,
                        model=model.model,
                        region=take_names(model.regions, np.arange(n_regions + 1)),
                        group=other.model,
                        method=method,
                    )
                )
    return pl.concat(frames)


def choose_pairs(scored: Sequence[Scored]) -> list[tuple[int, int]]:
    """Return the places of the models to compare: every pair of a few, else each with the first and the best."""
    if len(scored) <= ALL_PAIRS_UP_TO:
        return list(combinations(range(len(scored)), 2))
    best = max(range(len(scored)), key=lambda place: (scored[place].is_right.mean(), -place))
    wanted = {tuple(sorted((anchor, place))) for anchor in (0, best) for place in range(len(scored)) if place != anchor}
    return sorted((first, second) for first, second in wanted)


def compute_mcnemar(
    only_first: Int[np.ndarray, " m"], only_second: Int[np.ndarray, " m"], n: Int[np.ndarray, " m"]
) -> Float[np.ndarray, " m"]:
    """Return McNemar's mid-p values from the numbers of images that only one of two models got right.

    NaN where there is no image; 1 where the models never disagree.

    Examples
    --------
    >>> compute_mcnemar(np.array([1, 5]), np.array([9, 5]), np.array([100, 100])).round(4)
    array([0.0117, 1.    ])
    """
    from scipy.special import bdtr

    fewer, disagreements = np.minimum(only_first, only_second), only_first + only_second
    up_to = bdtr(fewer.astype(np.float64), disagreements, 0.5)
    below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0).astype(np.float64), disagreements, 0.5), 0.0)
    p_values = np.where(only_first == only_second, 1.0, up_to + below)
    return np.where(n > 0, np.minimum(p_values, 1.0), np.nan)


def _count_outcomes(
    first: np.ndarray, second: np.ndarray, region: Int[np.ndarray, " n"], n_regions: int
) -> Int[np.ndarray, "3 r"]:
    """Return images that both were scored on, that only the first got right, and only the second; last over all."""
    code = region * 9 + first * 3 + second
    table = np.bincount(code, minlength=(n_regions + 1) * 9)[: n_regions * 9].reshape(n_regions, 3, 3)
    counts = np.stack([table[:, :2, :2].sum(axis=(1, 2)), table[:, 1, 0], table[:, 0, 1]])
    return np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
