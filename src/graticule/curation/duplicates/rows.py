"""Clusters of near-duplicates as rows, and the reason in words for each image that is left out."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np
import polars as pl
from jaxtyping import Float64, Int64

from graticule.curation.duplicates import RULES
from graticule.curation.duplicates.clusters import ALONE, Grouping
from graticule.curation.duplicates.rule import DuplicateConfig, Evidence, Links

WHOLE_CLUSTER = 200
"""Images of a cluster up to which all its pairs are measured; in a larger one each image and the cluster's first."""
MEASURED_AT_ONCE = 1 << 14
SAID = {
    "sha256": "the same file as {nearest}",
    "pixels": "the same pixels as {nearest}",
    "perceptual": "the same picture as {nearest} ({distance:.0f} of 63 bits differ)",
    "geonet": "the same scene as {nearest} (distance {distance:.3f} in 32 × 32 pixels)",
    "embedding": "features near those of {nearest} (cosine distance {distance:.3f})",
}
"""Rule → the reason, in words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuledLinks:
    """Links, the rule that made each (its place in `RULES`), and their order from the surest."""

    links: Links
    rule: Int64[np.ndarray, " m"]
    order: Int64[np.ndarray, " m"]


def describe_clusters(
    evidence: Evidence, config: DuplicateConfig, grouping: Grouping, links: RuledLinks
) -> pl.DataFrame:
    """Return a `DUPLICATES` table with the column ``row``: cluster by cluster, what stays before what goes."""
    rows = np.flatnonzero(grouping.cluster != ALONE)
    rows = rows[np.lexsort((evidence.rank[rows], ~grouping.is_kept[rows]))]
    clusters = grouping.cluster[rows]
    first_of = _find_first(clusters, rows, evidence.rank)
    link = grouping.link[rows]
    nearest = np.where(links.links.first[link] == rows, links.links.second[link], links.links.first[link])
    spread, widest = _measure_spread(evidence, config, grouping, links)
    ids, names = evidence.images["image_id"], np.array(list(RULES))
    table = pl.DataFrame(
        {
            "row": rows,
            "image_id": ids.gather(rows),
            "path": evidence.images["path"].gather(rows) if "path" in evidence.images.columns else None,
            "cluster": ids.gather([first_of[cluster] for cluster in clusters.tolist()]),
            "is_kept": grouping.is_kept[rows],
            "reason": pl.Series(names[links.rule[link]].tolist(), dtype=pl.String),
            "distance": links.links.distance[link],
            "nearest": ids.gather(nearest),
            "n_images": np.bincount(grouping.cluster[rows], minlength=1)[clusters] if len(rows) else clusters,
            "largest_distance": [spread[cluster] for cluster in clusters.tolist()],
            "largest_by": pl.Series([list(RULES)[widest[cluster]] for cluster in clusters.tolist()], dtype=pl.String),
        },
        schema_overrides={"path": pl.String, "largest_distance": pl.Float64},
    )
    return table.sort("cluster", maintain_order=True)


def give_reasons(clusters: pl.DataFrame, *, across: str | None) -> pl.DataFrame:
    """Return row and reason of each image that is left out."""
    gone = clusters.filter(~pl.col("is_kept"))
    where = "" if across is None else f", which is not in {across}"
    said = [
        SAID[rule].format(nearest=repr(nearest), distance=distance) + where
        for rule, nearest, distance in gone.select("reason", "nearest", "distance").iter_rows()
    ]
    return pl.DataFrame({"row": gone["row"], "reason": pl.Series(said, dtype=pl.String)})


def measure_pairs(
    name: str,
    evidence: Evidence,
    config: DuplicateConfig,
    first: Int64[np.ndarray, " m"],
    second: Int64[np.ndarray, " m"],
) -> Float64[np.ndarray, " m"]:
    """Return how far apart the images of each pair are by a rule, a few thousand at a time."""
    measure = import_module(RULES[name][0].partition(":")[0]).measure
    parts = [
        measure(evidence, config, first[start : start + MEASURED_AT_ONCE], second[start : start + MEASURED_AT_ONCE])
        for start in range(0, len(first), MEASURED_AT_ONCE)
    ]
    return np.concatenate(parts or [np.empty(0)])


def _find_first(
    clusters: Int64[np.ndarray, " m"], rows: Int64[np.ndarray, " m"], rank: Int64[np.ndarray, " n"]
) -> dict[int, int]:
    """Return the image of each cluster that comes first in the order of preference: it names the cluster."""
    order = np.argsort(rank[rows], kind="stable")[::-1]
    return dict(zip(clusters[order].tolist(), rows[order].tolist(), strict=True))


def _measure_spread(
    evidence: Evidence, config: DuplicateConfig, grouping: Grouping, links: RuledLinks
) -> tuple[dict[int, float], dict[int, int]]:
    """Return how far apart the ends of each cluster are, and by which rule: the least sure one that links it."""
    widest: dict[int, int] = {}
    of_link = grouping.cluster[links.links.first]
    for cluster, rule in np.unique(np.stack([of_link, links.rule]), axis=1).T.tolist():
        widest[cluster] = max(rule, widest.get(cluster, 0))
    pairs: dict[int, list[Int64[np.ndarray, "3 p"]]] = {}
    for cluster, members in _list_members(grouping, evidence.rank):
        if len(members) <= WHOLE_CLUSTER:
            one, other = np.triu_indices(len(members), 1)
        else:
            one, other = np.zeros(len(members) - 1, dtype=np.int64), np.arange(1, len(members))
        block = np.stack([members[one], members[other], np.full(len(one), cluster)])
        pairs.setdefault(widest[cluster], []).append(block)
    spread = dict.fromkeys(widest, 0.0)
    for rule, blocks in pairs.items():
        first, second, cluster = np.concatenate(blocks, axis=1)
        distance = measure_pairs(list(RULES)[rule], evidence, config, first, second)
        for number, largest in (
            pl.DataFrame({"cluster": cluster, "distance": distance}).group_by("cluster").max().iter_rows()
        ):
            spread[number] = largest
    return spread, widest


def _list_members(grouping: Grouping, rank: Int64[np.ndarray, " n"]) -> list[tuple[int, Int64[np.ndarray, " members"]]]:
    rows = np.flatnonzero(grouping.cluster != ALONE)
    rows = rows[np.lexsort((rank[rows], grouping.cluster[rows]))]
    numbers = grouping.cluster[rows]
    parts = np.split(rows, np.flatnonzero(np.diff(numbers)) + 1) if len(rows) else []
    return [(int(grouping.cluster[part[0]]), part) for part in parts]
