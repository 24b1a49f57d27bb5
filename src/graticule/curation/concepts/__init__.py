"""Which labels look different around the world, and what they are called there: GeoDE's heuristics, one a file."""

HEURISTICS: dict[str, tuple[str, str]] = {
    "leave_one_out": (
        "graticule.curation.concepts.leave_one_out:score_leave_one_out",
        "a linear model finds it less well in a region that it has not seen",
    ),
    "region_svm": (
        "graticule.curation.concepts.region_svm:score_region_svm",
        "a linear SVM tells the region from its images",
    ),
    "cluster_gini": (
        "graticule.curation.concepts.cluster_gini:score_cluster_gini",
        "its images fall into clusters as regions do",
    ),
}
"""Heuristic, as on the command line → where it is, and what it takes for a sign of looking different."""
