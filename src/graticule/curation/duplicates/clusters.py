"""From pairs to clusters: which images hang together, which of them stay, and how far apart a cluster's ends are.

A cluster is whatever a chain of pairs holds together. What is left out is decided by pairs, not by chains: an image
goes if it is a near-duplicate of one that stays. Of a long chain, whose ends have nothing in common, several stay.
Nothing here depends on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graticule.curation.duplicates.rule import Links

ALONE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """What becomes of each image."""

    cluster: Int64[np.ndarray, " n"]
    """Number of the image's cluster; -1 for an image that is like no other."""
    is_kept: Bool[np.ndarray, " n"]
    link: Int64[np.ndarray, " n"]
    """Number of the link that says why an image is left out, or, where it stays, to what it is nearest; -1 for none."""


def group_links(
    links: Links, order: Int64[np.ndarray, " m"], rank: Int64[np.ndarray, " n"], *, may_go: Bool[np.ndarray, " n"]
) -> Grouping:
    """Return clusters, and which images stay.

    Parameters
    ----------
    links
        Pairs of images.
    order
        Each link's place when links are sorted from the surest: what decides which of several links is the reason.
    rank
        Each image's place in the order of preference.
    may_go
        Images that may be left out; the others stay whatever they are like.
    """
    n_images = len(rank)
    cluster = _number_clusters(links, n_images)
    starts, neighbours, numbers = _list_neighbours(links, order, n_images)
    is_kept = np.ones(n_images, dtype=bool)
    link = np.full(n_images, ALONE, dtype=np.int64)
    linked = np.flatnonzero(cluster != ALONE)
    for image in linked[np.lexsort((rank[linked], may_go[linked]))].tolist():
        if not may_go[image]:
            continue
        near = slice(starts[image], starts[image + 1])
        others = neighbours[near]
        stays = is_kept[others] & (~may_go[others] | (rank[others] < rank[image]))
        found = np.flatnonzero(stays)
        if len(found):
            is_kept[image] = False
            link[image] = numbers[near][found[0]]
    for image in linked[is_kept[linked]].tolist():
        link[image] = numbers[starts[image]]
    return Grouping(cluster=cluster, is_kept=is_kept, link=link)


def _number_clusters(links: Links, n_images: int) -> Int64[np.ndarray, " n"]:
    weights = np.ones(len(links.first), dtype=np.int8)
    graph = coo_array((weights, (links.first, links.second)), shape=(n_images, n_images))
    _, component = connected_components(graph, directed=False)
    sizes = np.bincount(component, minlength=1)
    return np.where(sizes[component] > 1, component, ALONE).astype(np.int64)


def _list_neighbours(
    links: Links, order: Int64[np.ndarray, " m"], n_images: int
) -> tuple[Int64[np.ndarray, " starts"], Int64[np.ndarray, " ends"], Int64[np.ndarray, " ends"]]:
    """Return where each image's neighbours start, the neighbours (the surest link first) and the links' numbers."""
    ends = np.concatenate([links.first, links.second])
    others = np.concatenate([links.second, links.first])
    numbers = np.tile(np.arange(len(links.first)), 2)
    sorting = np.lexsort((np.tile(order, 2), ends))
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_images))])
    return starts, others[sorting], numbers[sorting]
