"""Majority vote: the label that most workers chose; in CONTAINS, whether at least half said yes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.fit import Fit, blank_idle
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.pairs import find_pairs
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.aggregation.winners import find_winners
from graticule.annotation.answers import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """The share of votes as the probability; equal shares are told apart by the order of the labels.

    A "maybe" counts half for yes and half for no. A worker's skill is the share of the worker's votes that agree with
    the result.
    """

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="majority")

    def fit(self, votes: Votes) -> Fit:
        """Return the shares."""
        pairs = find_pairs(votes)
        n_votes = np.bincount(votes.item, minlength=votes.n_items)
        n_unsure = np.bincount(votes.item[pairs.of_vote < 0], minlength=votes.n_items)
        share = (pairs.count + n_unsure[pairs.item] / votes.n_choices) / n_votes[pairs.item]
        probability = pairs.find_known(votes).clamp(share)
        agrees = find_winners(pairs.item, probability)[pairs.of_vote] & (pairs.of_vote >= 0)
        right = np.bincount(votes.worker, weights=agrees, minlength=votes.n_workers)
        cast = np.bincount(votes.worker, minlength=votes.n_workers)
        return Fit(
            item=pairs.item,
            choice=pairs.choice,
            probability=probability,
            skill=blank_idle(right / np.maximum(cast, 1), votes),
            trace=np.zeros(0),
            converged=True,
        )
