"""Votes as a sparse matrix, so that a step of a confusion-matrix model is two products.

With V the matrix of items × (worker, answer), a table T of (worker, answer) × choice and probabilities P of items ×
choices: V T sums over an item's votes, and Vᵀ P counts each worker's answers by what was probably true. The matrix
comes in blocks of items, so that what one product makes is still in the processor's cache when the next one needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float

from graticule.annotation.aggregation.votes import Votes

BLOCK_ITEMS = 8192


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteMatrix:
    """The matrix, by blocks of ``block_items`` items."""

    n_items: int
    n_columns: int
    block_items: int
    blocks: tuple[sp.csr_matrix, ...]

    def __iter__(self) -> Iterator[tuple[slice, sp.csr_matrix]]:
        """Yield the items of each block, and the block."""
        for place, block in enumerate(self.blocks):
            yield slice(place * self.block_items, min((place + 1) * self.block_items, self.n_items)), block

    def sum_over_votes(self, table: Float[np.ndarray, "wl k"]) -> Float[np.ndarray, "n k"]:
        """Return for each item the sum of its votes' rows of a table."""
        sums = np.empty((self.n_items, table.shape[1]))
        for items, block in self:
            sums[items] = block @ table
        return sums

    def count_answers(self, probabilities: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "wl k"]:
        """Return how often each worker gave each answer, by the probable truth."""
        counts = np.zeros((self.n_columns, probabilities.shape[1]))
        for items, block in self:
            counts += block.T @ probabilities[items]
        return counts


def make_vote_matrix(votes: Votes) -> VoteMatrix:
    """Return the matrix of some votes."""
    n_columns = votes.n_workers * votes.n_answers
    answer = votes.worker * np.int32(votes.n_answers) + votes.choice
    starts = np.concatenate([[0], np.cumsum(np.bincount(votes.item, minlength=votes.n_items))])
    block_items = max(BLOCK_ITEMS, n_columns // max(votes.n_choices, 1))
    firsts = range(0, votes.n_items, block_items)
    ends = [min(first + block_items, votes.n_items) for first in firsts]
    ones = np.ones(max((int(starts[end] - starts[first]) for first, end in zip(firsts, ends, strict=True)), default=0))
    blocks = [
        sp.csr_matrix(
            (
                ones[: starts[end] - starts[first]],
                answer[starts[first] : starts[end]],
                (starts[first : end + 1] - starts[first]).astype(np.int32),
            ),
            shape=(end - first, n_columns),
        )
        for first, end in zip(firsts, ends, strict=True)
    ]
    return VoteMatrix(n_items=votes.n_items, n_columns=n_columns, block_items=block_items, blocks=tuple(blocks))
