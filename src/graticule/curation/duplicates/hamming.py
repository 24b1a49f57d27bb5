"""All pairs of hashes that differ in a few bits, exactly and without comparing all of them.

Multi-index hashing: where two hashes of 64 bits differ in at most r bits, then in at least one of m chunks they differ
in at most r / m. Each chunk is a table from its value to the hashes that have it; every value near a hash's own is
looked up. How many chunks are cheapest depends on how many hashes there are.

References
----------
Norouzi, Punjani and Fleet (2012), Fast search in Hamming space with multi-index hashing.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Int64, UInt8, UInt64

BITS = 64
CHUNK_BITS = ((22, 21, 21), (16, 16, 16, 16), (13, 13, 13, 13, 12))
DENSE_CELL_NS, LOOKUP_NS, CANDIDATE_NS = 1.6, 14.0, 9.0
"""What a comparison in a dense block, a look-up and a comparison after a look-up cost here, to choose the way by."""
BATCH = 1 << 21
"""Comparisons at a time: what bounds the memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matches:
    """Hashes that are near each other: number among the queries, number among the targets, bits that differ."""

    query: Int64[np.ndarray, " n"]
    target: Int64[np.ndarray, " n"]
    distance: UInt8[np.ndarray, " n"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Chunk:
    """A table from the values of a few bits to the targets that have them."""

    shift: int
    bits: int
    radius: int
    order: Int64[np.ndarray, " t"]
    hashes: UInt64[np.ndarray, " t"]
    """The targets' hashes in that order."""
    starts: Int64[np.ndarray, " values"]


class HammingIndex:
    """Hashes to search in.

    Parameters
    ----------
    targets
        The hashes.
    max_distance
        Bits in which a match may differ.
    """

    def __init__(self, targets: UInt64[np.ndarray, " t"], *, max_distance: int) -> None:
        self.targets = targets
        self.max_distance = max_distance
        widths = choose_chunks(len(targets), max_distance)
        shift = 0
        self.chunks: list[_Chunk] = []
        for bits, radius in zip(widths, _share_radius(max_distance, len(widths)), strict=True):
            if radius >= 0:
                self.chunks.append(_make_chunk(targets, shift=shift, bits=bits, radius=radius))
            shift += bits

    def search(self, queries: UInt64[np.ndarray, " q"]) -> Generator[Matches]:
        """Yield every query and target that are near each other, once, in pieces of bounded size."""
        yield from (self._search_dense(queries) if not self.chunks else self._search_chunks(queries))

    def _search_dense(self, queries: UInt64[np.ndarray, " q"]) -> Generator[Matches]:
        rows = max(1, BATCH // max(1, len(self.targets)))
        for start in range(0, len(queries), rows):
            distance = np.bitwise_count(queries[start : start + rows, None] ^ self.targets[None, :])
            query, target = np.nonzero(distance <= self.max_distance)
            yield Matches(query=query + start, target=target, distance=distance[query, target])

    def _search_chunks(self, queries: UInt64[np.ndarray, " q"]) -> Generator[Matches]:
        for place, chunk in enumerate(self.chunks):
            values = _take_bits(queries, chunk)
            # In the order of their values, neighbours look up neighbours: the memory that they need is near.
            order = np.argsort(values, kind="stable")
            values, in_order = values[order], queries[order]
            for flips in _list_flips(chunk.bits, chunk.radius):
                keys = values ^ flips
                first = chunk.starts[keys]
                counts = chunk.starts[keys + 1] - first
                for begin, end in _cut(counts):
                    found = self._compare(in_order, chunk, first[begin:end], counts[begin:end], begin)
                    yield self._drop_found_before(found, in_order, order, place)

    def _compare(
        self,
        queries: UInt64[np.ndarray, " q"],
        chunk: _Chunk,
        first: Int64[np.ndarray, " b"],
        counts: Int64[np.ndarray, " b"],
        begin: int,
    ) -> Matches:
        """Return the matches among the targets that some queries were led to by one look-up."""
        some = np.flatnonzero(counts)
        sizes = counts[some]
        ends = np.cumsum(sizes)
        query = np.repeat(some + begin, sizes)
        position = np.arange(len(query)) + np.repeat(first[some] - (ends - sizes), sizes)
        distance = np.bitwise_count(queries[query] ^ chunk.hashes[position])
        near = np.flatnonzero(distance <= self.max_distance)
        return Matches(query=query[near], target=chunk.order[position[near]], distance=distance[near])

    def _drop_found_before(
        self, found: Matches, in_order: UInt64[np.ndarray, " q"], order: Int64[np.ndarray, " q"], place: int
    ) -> Matches:
        """Return the matches that no earlier chunk has led to, with the queries' own numbers."""
        differing = in_order[found.query] ^ self.targets[found.target]
        is_new = np.ones(len(differing), dtype=bool)
        for chunk in self.chunks[:place]:
            is_new &= np.bitwise_count(_take_bits(differing, chunk)) > chunk.radius
        return Matches(query=order[found.query[is_new]], target=found.target[is_new], distance=found.distance[is_new])


def choose_chunks(n_targets: int, max_distance: int) -> tuple[int, ...]:
    """Return how many bits each chunk has; none where comparing with all targets is cheaper.

    Examples
    --------
    >>> choose_chunks(100, 8)
    ()
    """
    best, least = (), DENSE_CELL_NS * n_targets
    for widths in CHUNK_BITS:
        cost = 0.0
        for bits, radius in zip(widths, _share_radius(max_distance, len(widths)), strict=True):
            n_keys = len(_list_flips(bits, radius)) if radius <= 3 else float("inf")
            cost += n_keys * (LOOKUP_NS + CANDIDATE_NS * n_targets / (1 << bits))
        if cost < least:
            best, least = widths, cost
    return best


def _share_radius(max_distance: int, n_chunks: int) -> list[int]:
    """Return a radius a chunk such that any two hashes within the distance are within it in at least one of them.

    Were all chunks farther apart than these, the hashes would differ in more than ``max_distance`` bits.
    """
    if n_chunks == 0:
        return []
    least, more = divmod(max_distance, n_chunks)
    return [least if place <= more else least - 1 for place in range(n_chunks)]


def _list_flips(bits: int, radius: int) -> Int64[np.ndarray, " keys"]:
    """Return every number of ``bits`` bits in which at most ``radius`` are set."""
    places = 1 << np.arange(bits, dtype=np.int64)
    parts = [np.array([sum(chosen) for chosen in combinations(places.tolist(), n)]) for n in range(radius + 1)]
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)


def _make_chunk(targets: UInt64[np.ndarray, " t"], *, shift: int, bits: int, radius: int) -> _Chunk:
    values = ((targets >> np.uint64(shift)) & np.uint64((1 << bits) - 1)).astype(np.int64)
    order = np.argsort(values, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=1 << bits))])
    return _Chunk(shift=shift, bits=bits, radius=radius, order=order, hashes=targets[order], starts=starts)


def _take_bits(hashes: UInt64[np.ndarray, " n"], chunk: _Chunk) -> Int64[np.ndarray, " n"]:
    return ((hashes >> np.uint64(chunk.shift)) & np.uint64((1 << chunk.bits) - 1)).astype(np.int64)


def _cut(counts: Int64[np.ndarray, " q"]) -> Generator[tuple[int, int]]:
    """Yield stretches of queries whose comparisons fit into a batch; a query with more stands alone."""
    ends = np.cumsum(counts)
    begin, total = 0, 0
    while begin < len(counts):
        end = max(begin + 1, int(np.searchsorted(ends, total + BATCH, side="right")))
        yield begin, end
        total = int(ends[end - 1])
        begin = end
