"""Votes as a sparse matrix, so that a step of a confusion-matrix model is one product.

With V the matrix of items × (worker, answer), a table T of (worker, answer) × choice and probabilities P of items ×
choices: V T sums over an item's votes, and Vᵀ P counts each worker's answers by what was probably true.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float

from graticule.annotation.aggregation.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteMatrix:
    """The matrix by rows both ways round; the answers of a worker are neighbours."""

    by_item: sp.csr_matrix
    by_answer: sp.csr_matrix

    def sum_over_votes(self, table: Float[np.ndarray, "wl k"]) -> Float[np.ndarray, "n k"]:
        """Return for each item the sum of its votes' rows of a table."""
        return self.by_item @ table

    def count_answers(self, probabilities: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "wl k"]:
        """Return how often each worker gave each answer, by the probable truth."""
        return self.by_answer @ probabilities


def make_vote_matrix(votes: Votes) -> VoteMatrix:
    """Return the matrix of some votes."""
    answer = votes.worker * np.int32(votes.n_answers) + votes.choice
    shape = (votes.n_items, votes.n_workers * votes.n_answers)
    ones = np.ones(len(votes))
    by_item = sp.csr_matrix((ones, answer, _starts(votes.item, votes.n_items)), shape=shape)
    order = np.argsort(answer, kind="stable")
    by_answer = sp.csr_matrix((ones, votes.item[order], _starts(answer, shape[1])), shape=shape[::-1])
    return VoteMatrix(by_item=by_item, by_answer=by_answer)


def _starts(group: np.ndarray, n_groups: int) -> np.ndarray:
    counts = np.bincount(group, minlength=n_groups)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
