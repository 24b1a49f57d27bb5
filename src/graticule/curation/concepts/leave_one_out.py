"""How much less well a linear model finds a label in a region that it has not seen than in regions that it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from graticule.curation.concepts.concept import ConceptConfig, ConceptScores, RegionFeatures
from graticule.curation.concepts.region_svm import add_ones
from graticule.models.folds import deal_folds
from graticule.progress import track

SCORES_HELD = 50_000_000
"""Scores that are held at a time: labels are worked through in blocks."""
FEWEST = 5
"""Images of a label in a region below which its average precision there is not looked at."""


def score_leave_one_out(data: RegionFeatures, config: ConceptConfig) -> ConceptScores:
    """Return, for each label, the smallest ratio over regions of its average precision unseen to that of the seen.

    Notes
    -----
    For each region, models that tell a label's images from all others are trained on the other regions. Each image is
    scored by models that have not seen it: images are dealt into folds, and the one fold is left out wherever it comes
    from, so that the unseen region and the seen ones are judged by the same models on new images. The average precision
    of the unseen region is divided by the mean of those of the seen regions, weighted by their images of the label.
    Average precision falls with the share of a label, so in every region images are weighted to give the label its
    share in all of them: what is left is how it looks.

    The models are least squares with an L2 penalty. The sums of products of each region and fold are made once; leaving
    one out is then a subtraction and a solve.

    The interval is a bootstrap of the images of the region with the smallest ratio, the models being given.

    References
    ----------
    GeoDE, appendix A, first heuristic.
    """
    n_labels, n_regions = len(data.labels), len(data.regions)
    counts = np.zeros((n_regions, n_labels), dtype=np.int64)
    np.add.at(counts, (data.region, data.label), 1)
    models = fit_without_each(data, config)
    value, low, high = (np.full(n_labels, np.nan) for _ in range(3))
    worst = np.zeros(n_labels, dtype=np.int64)
    step = max(1, SCORES_HELD // (n_regions * len(data.label)))
    blocks = [np.arange(start, min(start + step, n_labels)) for start in range(0, n_labels, step)]
    for block in track(blocks, total=len(blocks), label="Scoring", unit="block", shown=len(blocks) > 1):
        scores = models.score(block)
        for place, label in enumerate(block):
            judged = _Judged.of(data, scores[:, :, place], int(label), counts[:, label])
            ratios = judged.find_ratios()
            if np.isnan(ratios).all():
                continue
            worst[label] = int(np.nanargmin(ratios))
            value[label] = ratios[worst[label]]
            low[label], high[label] = judged.bootstrap(int(worst[label]), config=config)
    known = ~np.isnan(value)
    return ConceptScores(
        value=value,
        low=low,
        high=high,
        n=np.where(known, counts.sum(axis=0), 0),
        difference=-value,
        is_kept=known & (np.nan_to_num(value, nan=np.inf) < config.unseen_ratio),
        detail=tuple(data.regions[region] if known[label] else "" for label, region in enumerate(worst)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeftOutModels:
    """Linear models of each label, one for each region and fold left out.

    Parameters
    ----------
    rows
        Features with a column of ones.
    fold
        The fold of each row, shape ``(n,)``.
    weights
        Shape ``(r, f, e, k)``.
    """

    rows: Float32[np.ndarray, "n e"]
    fold: Int64[np.ndarray, " n"]
    weights: Float32[np.ndarray, "r f e k"]

    def score(self, labels: Int64[np.ndarray, " b"]) -> Float32[np.ndarray, "r n b"]:
        """Return some labels' scores of each image, for each region left out, by models that have not seen it."""
        n_regions, n_folds = self.weights.shape[:2]
        scores = np.empty((n_regions, len(self.rows), len(labels)), dtype=np.float32)
        for fold in range(n_folds):
            inside = np.flatnonzero(self.fold == fold)
            for region in range(n_regions):
                scores[region, inside] = self.rows[inside] @ self.weights[region, fold][:, labels]
        return scores


def fit_without_each(data: RegionFeatures, config: ConceptConfig) -> LeftOutModels:
    """Return the models of every label, for each region and each fold left out."""
    rng = np.random.default_rng(config.seed)
    n_regions, n_labels = len(data.regions), len(data.labels)
    folds = deal_folds(data.label * n_regions + data.region, None, n_folds=config.n_folds, rng=rng)
    rows = add_ones(data.features)
    n_folds = int(folds.max()) + 1
    every = [_sum_products(rows, data.label, n_labels, folds == fold) for fold in range(n_folds)]
    whole = sum(every[1:], every[0])
    weights = np.empty((n_regions, n_folds, rows.shape[1], n_labels), dtype=np.float32)
    for region in track(range(n_regions), total=n_regions, label="Leaving out", unit="region", shown=len(rows) > 5000):
        inside = data.region == region
        parts = [_sum_products(rows, data.label, n_labels, inside & (folds == fold)) for fold in range(n_folds)]
        others = whole - sum(parts[1:], parts[0])
        penalty = config.ridge * int((~inside).sum())
        for fold in range(n_folds):
            weights[region, fold] = _solve(others - every[fold] + parts[fold], penalty=penalty)
    return LeftOutModels(rows=rows, fold=folds, weights=weights)


def weigh_precision(
    scores: Float32[np.ndarray, " n"],
    is_label: Bool[np.ndarray, " n"],
    *,
    share: float,
    times: Int64[np.ndarray, " n"] | None = None,
) -> float:
    """Return the average precision of a label, images weighted so that its share of them is ``share``.

    Parameters
    ----------
    scores
        The larger, the likelier.
    is_label
        Which images show the label.
    share
        The label's share after weighting.
    times
        How often each image counts; None counts each once.

    Notes
    -----
    Images of equal score are ranked together. NaN where there is no image with the label, or none without.

    Examples
    --------
    >>> weigh_precision(np.float32([4, 3, 2, 1]), np.array([True, False, True, False]), share=0.5)
    0.8333333333333333
    """
    counted = np.ones(len(scores)) if times is None else times.astype(np.float64)
    positive = counted * is_label
    negative = counted * ~is_label
    if positive.sum() == 0 or negative.sum() == 0:
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, values=True))
    right = np.cumsum(positive[order])[last] * share / positive.sum()
    wrong = np.cumsum(negative[order])[last] * (1 - share) / negative.sum()
    gained = np.diff(right, prepend=0.0)
    ranked = np.maximum(right + wrong, np.finfo(np.float64).tiny)
    return float((gained * right / ranked).sum() / share)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Judged:
    """The scores of one label in every region that has enough of it, best first."""

    scores: dict[int, Float32[np.ndarray, "r m"]]
    is_label: dict[int, Bool[np.ndarray, "r m"]]
    counts: Int64[np.ndarray, " r"]
    share: float

    @classmethod
    def of(
        cls, data: RegionFeatures, scores: Float32[np.ndarray, "r n"], label: int, counts: Int64[np.ndarray, " r"]
    ) -> _Judged:
        found: dict[int, np.ndarray] = {}
        shows: dict[int, np.ndarray] = {}
        for region in np.flatnonzero(counts >= FEWEST):
            rows = np.flatnonzero(data.region == region)
            order = np.argsort(-scores[:, rows], axis=1, kind="stable")
            found[int(region)] = np.take_along_axis(scores[:, rows], order, axis=1)
            shows[int(region)] = (data.label[rows] == label)[order]
        return cls(scores=found, is_label=shows, counts=counts, share=float(counts.sum() / len(data.label)))

    def find_ratios(self) -> Float64[np.ndarray, " r"]:
        """Return, for each region left out, its average precision over the weighted mean of the others'."""
        ratios = np.full(len(self.counts), np.nan)
        if len(self.scores) > 1:
            for left_out in self.scores:
                ratios[left_out] = self._divide(
                    left_out, {region: self._weigh(left_out, region) for region in self.scores}
                )
        return ratios

    def bootstrap(self, left_out: int, *, config: ConceptConfig) -> tuple[float, float]:
        """Return the interval of one region's ratio."""
        rng = np.random.default_rng(config.seed)
        ratios: list[float] = []
        for _ in range(config.n_bootstraps):
            precision: dict[int, float] = {}
            for region, shows in self.is_label.items():
                size = shows.shape[1]
                times = np.bincount(rng.integers(0, size, size), minlength=size)
                precision[region] = self._weigh(left_out, region, times=times)
            ratios.append(self._divide(left_out, precision))
        tail = (1 - config.confidence) / 2
        known = np.array(ratios)[~np.isnan(ratios)]
        return (float("nan"), float("nan")) if not len(known) else tuple(np.quantile(known, [tail, 1 - tail]).tolist())

    def _weigh(self, left_out: int, region: int, *, times: Int64[np.ndarray, " m"] | None = None) -> float:
        return weigh_precision(
            self.scores[region][left_out], self.is_label[region][left_out], share=self.share, times=times
        )

    def _divide(self, left_out: int, precision: dict[int, float]) -> float:
        others = [region for region in precision if region != left_out and not np.isnan(precision[region])]
        weight = self.counts[others].astype(np.float64)
        mean = float(np.array([precision[region] for region in others]) @ weight / weight.sum()) if others else 0.0
        return precision[left_out] / mean if mean > 0 else float("nan")


def _sum_products(
    rows: Float32[np.ndarray, "n e"], label: Int64[np.ndarray, " n"], n_labels: int, chosen: Bool[np.ndarray, " n"]
) -> Float64[np.ndarray, "e ek"]:
    """Return the rows' products with each other, and beside them their sums for each label."""
    part = rows[chosen]
    sums = np.zeros((n_labels, rows.shape[1]), dtype=np.float64)
    np.add.at(sums, label[chosen], part)
    return np.concatenate([(part.T @ part).astype(np.float64), sums.T], axis=1)


def _solve(products: Float64[np.ndarray, "e ek"], *, penalty: float) -> Float32[np.ndarray, "e k"]:
    from scipy.linalg import cho_factor, cho_solve

    width = len(products)
    matrix = products[:, :width].copy()
    diagonal = np.full(width, penalty)
    diagonal[-1] = 1e-6 * penalty  # the intercept is hardly penalised
    matrix[np.diag_indices(width)] += diagonal
    return cho_solve(cho_factor(matrix, overwrite_a=True, check_finite=False), products[:, width:]).astype(np.float32)
