"""Whether the images of one label fall into clusters as they fall into regions.

GeoDE (appendix A) took the Gini impurity "of each world region" and kept labels whose median reached 0.5. That can be
read in two ways, and the choice turns the answer round:

``within_clusters``
    How mixed the regions are in each cluster, the median over clusters. Where a label looks different around the world,
    clusters are of one region and the impurity is low, so labels *below* the threshold are kept.
``within_regions``
    How mixed the clusters are in each region, the median over regions, and labels from the threshold on are kept, to
    the letter. This asks how varied a label looks inside a region, not between regions.
"""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Float32, Float64, Int64

from graticule.curation.concepts.concept import ConceptConfig, ConceptScores, RegionFeatures
from graticule.curation.concepts.region_svm import rotate
from graticule.progress import track

STARTS = 4
"""Runs of k-means, of which the tightest is taken."""


def score_cluster_gini(data: RegionFeatures, config: ConceptConfig) -> ConceptScores:
    """Return, for each label, the median Gini impurity in the reading of the config.

    Notes
    -----
    k-means++ and Lloyd's iterations (scipy), the best of 4 starts; as many clusters as the label has regions unless the
    config says otherwise. In ``within_clusters`` regions are weighted to count alike, so that a large region is not a
    sign of anything, and the impurity is divided by the largest possible, so that 1 is an even mix whatever the number
    of regions. The interval is a bootstrap of the images, the clusters being given, moved
    so that its median is the value: drawing again makes a mix look less even than it is.

    References
    ----------
    GeoDE, appendix A, third heuristic.
    """
    n_labels = len(data.labels)
    value, low, high = (np.full(n_labels, np.nan) for _ in range(3))
    n_images = np.zeros(n_labels, dtype=np.int64)
    rng = np.random.default_rng(config.seed)
    for label in track(range(n_labels), total=n_labels, label="Clusters", unit="label", shown=n_labels > 20):
        rows = np.flatnonzero(data.label == label)
        region = np.unique(data.region[rows], return_inverse=True)[1]
        n_regions = int(region.max(initial=-1)) + 1
        n_clusters = config.n_clusters or n_regions
        if n_regions < 2 or len(rows) < 2 * n_clusters:
            continue
        cluster = find_clusters(data.features[rows], n_clusters, rng=rng)
        counts = np.zeros((n_regions, n_clusters), dtype=np.int64)
        np.add.at(counts, (region, cluster), 1)
        drawn = rng.multinomial(len(rows), (counts / len(rows)).ravel(), size=config.n_bootstraps)
        value[label] = float(find_impurity(counts[None], reading=config.reading)[0])
        found = find_impurity(drawn.reshape(-1, n_regions, n_clusters), reading=config.reading)
        tail = (1 - config.confidence) / 2
        moved = np.clip(found + (value[label] - np.nanmedian(found)), 0, 1)
        low[label], high[label] = np.nanquantile(moved, [tail, 1 - tail])
        n_images[label] = len(rows)
    is_below = config.reading == "within_clusters"
    known = ~np.isnan(value)
    is_kept = known & ((value < config.gini) if is_below else (value >= config.gini))
    return ConceptScores(
        value=value,
        low=low,
        high=high,
        n=n_images,
        difference=-value if is_below else value,
        is_kept=is_kept,
        detail=tuple(config.reading if is_known else "" for is_known in known),
    )


def find_impurity(counts: Int64[np.ndarray, "m r c"], *, reading: str) -> Float64[np.ndarray, " m"]:
    """Return the median Gini impurity of tables of regions × clusters.

    Examples
    --------
    >>> apart, mixed = np.array([[[9, 0], [0, 9]]]), np.array([[[5, 5], [5, 5]]])
    >>> find_impurity(apart, reading="within_clusters"), find_impurity(mixed, reading="within_clusters")
    (array([0.]), array([1.]))
    >>> find_impurity(apart, reading="within_regions"), find_impurity(mixed, reading="within_regions")
    (array([0.]), array([0.5]))
    """
    sizes = counts.sum(axis=2, keepdims=True)
    shares = np.divide(counts, sizes, out=np.zeros(counts.shape), where=sizes > 0)
    if reading == "within_regions":
        impurity = np.where(sizes[:, :, 0] > 0, 1 - (shares**2).sum(axis=2), np.nan)
        return np.nanmedian(impurity, axis=1)
    totals = shares.sum(axis=1, keepdims=True)
    mixture = np.divide(shares, totals, out=np.zeros(counts.shape), where=totals > 0)
    most = 1 - 1 / counts.shape[1]
    impurity = np.where(totals[:, 0] > 0, (1 - (mixture**2).sum(axis=1)) / most, np.nan)
    return np.nanmedian(impurity, axis=1)


def find_clusters(
    features: Float32[np.ndarray, "n d"], n_clusters: int, *, rng: np.random.Generator
) -> Int64[np.ndarray, " n"]:
    """Return the cluster of each row."""
    from scipy.cluster.vq import kmeans2

    rows = rotate(features)
    best, least = np.zeros(len(rows), dtype=np.int64), np.inf
    for _ in range(STARTS):
        with warnings.catch_warnings():  # a cluster may run empty: then there is one fewer
            warnings.simplefilter("ignore", UserWarning)
            centres, cluster = kmeans2(rows, n_clusters, minit="++", missing="warn", rng=rng)
        spread = float(((rows - centres[cluster]) ** 2).sum())
        if spread < least:
            best, least = cluster.astype(np.int64), spread
    return best
