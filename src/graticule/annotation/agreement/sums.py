"""What coefficients of agreement are made of: sums over units, which a resampling of the images only weighs anew.

A unit is what several workers answered: an image, or an image and a label. Units with one answer have nothing to
compare and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int32

from graticule.annotation.aggregation.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Sums over the units of ``s`` sets.

    With m answers on a unit, n of them of one value:

    Parameters
    ----------
    answers
        Sum of n over units and values: the answers, shape ``(s,)``.
    squares
        Sum over values of the square of how often the value was answered, shape ``(s,)``.
    differing
        Sum of n (m - n) / (m - 1): for each answer, the share of the others on its unit that differ, shape ``(s,)``.
    differing_pairs
        Sum of n (m - n) / (m (m - 1)): for each unit, the share of its pairs of answers that differ, shape ``(s,)``.
    units
        Units, shape ``(s,)``.
    """

    answers: Float[np.ndarray, " s"]
    squares: Float[np.ndarray, " s"]
    differing: Float[np.ndarray, " s"]
    differing_pairs: Float[np.ndarray, " s"]
    units: Float[np.ndarray, " s"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """Sums by image, for all answers and by label.

    Parameters
    ----------
    n_images
        Images with a unit that several workers answered; the columns of all matrices.
    cells
        The cell of each row of the next three: a value (choices), or a label and a value (CONTAINS).
    answers, differing, differing_pairs
        Sparse matrices of cells × images, as in `Sums`.
    units
        Sparse matrix of labels × images (CONTAINS), or of one row.
    n_values
        Values that an answer can have.
    n_labels
        Labels; cells are label × value in CONTAINS, and labels otherwise.
    is_binary
        Whether units ask if a label holds.
    unit_image
        Place among the images of each vote's unit, -1 where it has no other vote, shape ``(a,)``.
    vote_differs
        Share of the other answers on each vote's unit that differ from it, shape ``(a,)``; 0 where there is no other.
    """

    n_images: int
    answers: sp.csr_matrix
    differing: sp.csr_matrix
    differing_pairs: sp.csr_matrix
    units: sp.csr_matrix
    n_values: int
    n_labels: int
    is_binary: bool
    unit_image: Int32[np.ndarray, " a"]
    vote_differs: Float[np.ndarray, " a"]

    def sum_all(self, weights: Float[np.ndarray, "i b"]) -> Sums:
        """Return the sums over all answers, with each image weighed, shape ``(b,)``."""
        answers = self._by_value(self.answers @ weights)
        return Sums(
            answers=answers.sum(axis=0),
            squares=(answers**2).sum(axis=0),
            differing=(self.differing @ weights).sum(axis=0),
            differing_pairs=(self.differing_pairs @ weights).sum(axis=0),
            units=(self.units @ weights).sum(axis=0),
        )

    def sum_by_label(self, weights: Float[np.ndarray, "i b"]) -> Sums:
        """Return the sums of each label against all others, or of its yes against its no, shape ``(k * b,)``."""
        answers, differing, pairs = (
            matrix @ weights for matrix in (self.answers, self.differing, self.differing_pairs)
        )
        units = self.units @ weights
        if self.is_binary:
            by_value = (self.n_labels, self.n_values, weights.shape[1])
            answers = answers.reshape(by_value)
            return Sums(
                answers=answers.sum(axis=1).ravel(),
                squares=(answers**2).sum(axis=1).ravel(),
                differing=differing.reshape(by_value).sum(axis=1).ravel(),
                differing_pairs=pairs.reshape(by_value).sum(axis=1).ravel(),
                units=units.ravel(),
            )
        total = answers.sum(axis=0)
        return Sums(
            answers=np.broadcast_to(total, answers.shape).ravel(),
            squares=(answers**2 + (total - answers) ** 2).ravel(),
            differing=2 * differing.ravel(),
            differing_pairs=2 * pairs.ravel(),
            units=np.broadcast_to(units, answers.shape).ravel(),
        )

    def _by_value(self, answers: Float[np.ndarray, "c b"]) -> Float[np.ndarray, "v b"]:
        if not self.is_binary:
            return answers
        return answers.reshape(self.n_labels, self.n_values, -1).sum(axis=0)


def tally_votes(votes: Votes, *, n_labels: int) -> Tally:
    """Return the sums by image of some votes; ``n_labels`` is the number of labels that they name."""
    n_values = votes.n_answers
    on_unit = np.bincount(votes.item, minlength=votes.n_items)
    key = votes.item * np.int64(n_values) + votes.choice
    pair, of_vote, same = np.unique(key, return_inverse=True, return_counts=True)
    unit = pair // max(n_values, 1)
    m, n = on_unit[unit].astype(float), same.astype(float)
    others = np.maximum(m - 1, 1)
    compared = m > 1
    images, place = np.unique(votes.image[unit[compared]], return_inverse=True)
    value = (pair % max(n_values, 1))[compared]
    cell = votes.label[unit[compared]].astype(np.int64) * n_values + value if votes.is_binary else value
    n_cells = n_labels * n_values if votes.is_binary else n_values

    def matrix(amount: np.ndarray) -> sp.csr_matrix:
        return sp.csr_matrix((amount[compared], (cell, place)), shape=(n_cells, len(images)))

    units, unit_rows = np.unique(unit[compared], return_index=True)
    stratum = votes.label[units] if votes.is_binary else np.zeros(len(units), dtype=int)
    unit_image = np.full(votes.n_items, -1, dtype=np.int32)
    unit_image[units] = place[unit_rows]
    return Tally(
        n_images=len(images),
        answers=matrix(n),
        differing=matrix(n * (m - n) / others),
        differing_pairs=matrix(n * (m - n) / (m * others)),
        units=sp.csr_matrix(
            (np.ones(len(units)), (stratum, place[unit_rows])),
            shape=(n_labels if votes.is_binary else 1, len(images)),
        ),
        n_values=n_values,
        n_labels=n_labels,
        is_binary=votes.is_binary,
        unit_image=unit_image[votes.item],
        vote_differs=((m - n) / others)[of_vote],
    )
