"""How well a linear SVM tells the region from the images of one label: well where the label looks different."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64, Int64

from graticule.curation.concepts.concept import ConceptConfig, ConceptScores, RegionFeatures
from graticule.models.folds import deal_folds
from graticule.progress import track

TOLERANCE = 3e-3
"""Of the largest slope at the start, at which a fit is left: accuracies no longer change by more than a few images."""
MAX_ITERATIONS = 300


def score_region_svm(data: RegionFeatures, config: ConceptConfig) -> ConceptScores:
    """Return, for each label, the share of its images whose region is told right by a model that has not seen them.

    Notes
    -----
    One-vs-rest with a squared hinge and an L2 penalty, as scikit-learn's ``LinearSVC``; ``n_folds`` folds that are even
    over regions; regions with fewer images of the label than folds are left out. The interval is Wilson's, on the
    out-of-fold predictions. The accuracy is the plain one of the paper: where one region has most of a label's images
    it is high without any difference in looks, so the detail says what always guessing the largest region would give.

    References
    ----------
    GeoDE, appendix A, second heuristic.
    """
    from scipy.stats import binomtest

    n_labels = len(data.labels)
    value, low, high = (np.full(n_labels, np.nan) for _ in range(3))
    n_images = np.zeros(n_labels, dtype=np.int64)
    chance = np.full(n_labels, np.nan)
    for label in track(range(n_labels), total=n_labels, label="Region SVM", unit="label", shown=n_labels > 20):
        rows = np.flatnonzero(data.label == label)
        counts = np.bincount(data.region[rows], minlength=len(data.regions))
        rows = rows[counts[data.region[rows]] >= config.n_folds]
        if len(np.unique(data.region[rows])) < 2:
            continue
        region = np.unique(data.region[rows], return_inverse=True)[1]
        predicted = predict_left_out(data.features[rows], region, config=config)
        hits = int((predicted == region).sum())
        interval = binomtest(hits, len(rows)).proportion_ci(config.confidence, method="wilson")
        value[label], low[label], high[label] = hits / len(rows), interval.low, interval.high
        n_images[label] = len(rows)
        chance[label] = np.bincount(region).max() / len(rows)
    return ConceptScores(
        value=value,
        low=low,
        high=high,
        n=n_images,
        difference=value,
        is_kept=np.nan_to_num(value, nan=0.0) > config.region_accuracy,
        detail=tuple("" if np.isnan(share) else f"largest region {share:.2f}" for share in chance),
    )


def predict_left_out(
    features: Float32[np.ndarray, "n d"], region: Int64[np.ndarray, " n"], *, config: ConceptConfig
) -> Int64[np.ndarray, " n"]:
    """Return the region that a model trained on the other folds gives to each image."""
    rng = np.random.default_rng(config.seed)
    folds = deal_folds(region, None, n_folds=config.n_folds, rng=rng)
    n_folds, n_regions = int(folds.max()) + 1, int(region.max()) + 1
    rows = add_ones(rotate(features))
    signs = np.where(region[:, None] == np.arange(n_regions), np.float32(1), np.float32(-1))
    is_seen = (folds[:, None] != np.arange(n_folds)).astype(np.float32)
    weights = fit_squared_hinge(rows, signs, is_seen, inverse_penalty=config.inverse_penalty)
    scores = np.einsum("nd,ndk->nk", rows, weights[folds])
    return scores.argmax(axis=1)


def fit_squared_hinge(
    rows: Float32[np.ndarray, "n e"],
    signs: Float32[np.ndarray, "n k"],
    is_seen: Float32[np.ndarray, "n f"],
    *,
    inverse_penalty: float,
) -> Float32[np.ndarray, "f e k"]:
    """Return one-vs-rest weights for each fold, all found in the same passes over the rows.

    Parameters
    ----------
    rows
        Features with a column of ones at the end, whose weight is not penalised.
    signs
        1 where a row is of a class, -1 elsewhere.
    is_seen
        1 where a fold's model sees a row, 0 elsewhere.
    inverse_penalty
        C: half the squared weights plus C times the sum of squared hinges is minimised.
    """
    from scipy.optimize import minimize

    n_folds, n_classes, width = is_seen.shape[1], signs.shape[1], rows.shape[1]
    seen = np.repeat(is_seen, n_classes, axis=1)
    sign = np.tile(signs, (1, n_folds))
    penalised = np.ones((width, 1), dtype=np.float64)
    penalised[-1] = 0

    def value_and_slope(point: Float64[np.ndarray, " m"]) -> tuple[float, Float64[np.ndarray, " m"]]:
        weights = point.reshape(width, n_folds * n_classes)
        margin = np.maximum(1 - sign * (rows @ weights.astype(np.float32)), 0) * seen
        slope = penalised * weights - 2 * inverse_penalty * (rows.T @ (margin * sign))
        size = 0.5 * float((penalised * weights**2).sum())
        return size + inverse_penalty * float(np.square(margin, dtype=np.float64).sum()), slope.ravel()

    start = np.zeros(width * n_folds * n_classes)
    first = np.abs(value_and_slope(start)[1]).max()
    options = {"maxiter": MAX_ITERATIONS, "gtol": TOLERANCE * float(first), "ftol": 1e-9, "maxcor": 20}
    found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options)
    weights = found.x.reshape(width, n_folds, n_classes).astype(np.float32)
    return np.ascontiguousarray(weights.transpose(1, 0, 2))


def rotate(features: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n e"]:
    """Return features in at most as many dimensions as there are rows; every inner product stays, so every SVM does."""
    n, width = features.shape
    if width <= n:
        return features
    _, triangle = np.linalg.qr(features.T)
    return np.ascontiguousarray(triangle.T.astype(np.float32))


def add_ones(features: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n e"]:
    """Return features with a column of ones at the end."""
    return np.concatenate([features, np.ones((len(features), 1), dtype=np.float32)], axis=1)
