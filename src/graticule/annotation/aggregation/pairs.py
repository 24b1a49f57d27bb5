"""The choices that somebody took for an item (or that are known to be right): all that some models need to look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int32, Int64

from graticule.annotation.aggregation.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """The pairs of items whose truth is known, and which of them are right."""

    pairs: Int64[np.ndarray, " q"]
    right: Int64[np.ndarray, " g"]

    def clamp(self, probability: Float[np.ndarray, " p"]) -> Float[np.ndarray, " p"]:
        """Set the probabilities of known items, in place, and return the same array."""
        probability[self.pairs] = 0.0
        probability[self.right] = 1.0
        return probability


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """``p`` pairs of an item and a choice, in the order of items and choices.

    Parameters
    ----------
    item, choice
        Indices, shape ``(p,)``.
    count
        Votes that the pair has, shape ``(p,)``.
    starts, sizes
        Where each item's pairs begin, and how many they are, shape ``(n,)``.
    of_vote
        The pair of each vote, shape ``(a,)``; -1 for a "maybe".
    """

    item: Int32[np.ndarray, " p"]
    choice: Int32[np.ndarray, " p"]
    count: Float[np.ndarray, " p"]
    starts: Int32[np.ndarray, " n"]
    sizes: Int32[np.ndarray, " n"]
    of_vote: Int64[np.ndarray, " a"]

    def find_known(self, votes: Votes) -> Known:
        """Return the pairs whose truth is known."""
        return Known(
            pairs=np.flatnonzero(votes.known[self.item] >= 0),
            right=np.flatnonzero(votes.known[self.item] == self.choice),
        )


def find_pairs(votes: Votes) -> Pairs:
    """Return the pairs of some votes; an item that only has "maybe" gets every choice."""
    k = votes.n_choices
    taken = votes.choice < k
    voted = votes.item[taken].astype(np.int64) * k + votes.choice[taken]
    known = np.flatnonzero(votes.known >= 0)
    extra = [known * np.int64(k) + votes.known[known]]
    if not taken.all():
        undecided = np.setdiff1d(votes.item, votes.item[taken]).astype(np.int64)
        extra.append((undecided[:, None] * k + np.arange(k)).ravel())
    keys, place = np.unique(np.concatenate([voted, *extra]), return_inverse=True)
    of_vote = np.full(len(votes), -1, dtype=np.int64)
    of_vote[taken] = place[: len(voted)]
    item = (keys // k).astype(np.int32)
    sizes = np.bincount(item, minlength=votes.n_items)
    return Pairs(
        item=item,
        choice=(keys % k).astype(np.int32),
        count=np.bincount(place[: len(voted)], minlength=len(keys)).astype(float),
        starts=(np.cumsum(sizes) - sizes).astype(np.int32),
        sizes=sizes.astype(np.int32),
        of_vote=of_vote,
    )
