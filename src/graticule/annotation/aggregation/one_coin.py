"""Dawid and Skene's model with one number a worker: how often the worker is right, whatever the truth.

With few answers a worker this is steadier than whole confusion matrices; where workers confuse labels in one direction,
or take rare ones for common ones, it is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.fit import Fit, blank_idle, list_pairs
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.pairs import Pairs, find_pairs
from graticule.annotation.aggregation.posterior import normalize_groups
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.answers import Answers

LEAST = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCoin:
    """One accuracy a worker, errors spread evenly over the other labels, by EM from the share of votes on.

    Parameters
    ----------
    max_iterations
        EM steps at most.
    tolerance
        EM ends when the bound of the log-likelihood rises by less than this, per vote.
    smoothing
        Pseudo-votes that each worker has right, and as many wrong (a Beta prior with parameters 1 + smoothing).

    Notes
    -----
    Exact over all labels that occur, though only those answered for an image are looked at: the others share what is
    left in proportion to the prior. A "maybe" says nothing here.

    References
    ----------
    Zhang, Chen, Zhou and Jordan 2016, "Spectral methods meet EM", section 2.
    """

    max_iterations: int = 100
    tolerance: float = 1e-6
    smoothing: float = 0.01

    def __post_init__(self) -> None:
        check_at_least("max_iterations", self.max_iterations, low=1)
        check_at_least("tolerance", self.tolerance, low=0)
        check_at_least("smoothing", self.smoothing, low=0)

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="one_coin")

    def fit(self, votes: Votes) -> Fit:
        """Return the fit to some votes."""
        pairs = find_pairs(votes)
        known = pairs.find_known(votes)
        counted = votes.choice < votes.n_choices
        worker, pair = votes.worker[counted], pairs.of_vote[counted]
        n_votes = np.bincount(worker, minlength=votes.n_workers)
        n_wrong_ways = max(votes.n_choices - 1, 1)
        posterior, rest = _start(pairs, votes), np.zeros(votes.n_items)
        prior = _estimate_prior(posterior, rest, np.full(votes.n_choices, 1 / votes.n_choices), pairs)
        skill = self._estimate_skill(posterior, worker, pair, n_votes)
        used, trace = prior, list[float]()
        for _ in range(self.max_iterations):
            gain = np.log(skill / (1 - skill) * n_wrong_ways)
            base = np.log((1 - skill) / n_wrong_ways)
            likelihood = np.bincount(pair, weights=gain[worker], minlength=len(posterior))
            scores = likelihood + np.log(prior[pairs.choice])
            unlisted = np.maximum(1 - np.add.reduceat(prior[pairs.choice], pairs.starts), 0)
            posterior, evidence = normalize_groups(
                scores, pairs.starts, n_unlisted=np.where(unlisted > LEAST, unlisted, 0)
            )
            posterior = known.clamp(posterior)
            rest = np.maximum(1 - np.add.reduceat(posterior, pairs.starts), 0)
            evidence[votes.known >= 0] = scores[known.right]
            trace.append(float(evidence.sum() + base @ n_votes))
            used, prior = prior, _estimate_prior(posterior, rest, prior, pairs)
            skill = self._estimate_skill(posterior, worker, pair, n_votes)
            if stands_still(trace, tolerance=self.tolerance * len(votes)):
                break
        return Fit(
            **list_pairs(votes, pairs, posterior, rest=rest, weights=used),
            skill=blank_idle(skill, votes),
            trace=np.array(trace),
            converged=stands_still(trace, tolerance=self.tolerance * len(votes)),
        )

    def _estimate_skill(
        self, posterior: Float[np.ndarray, " p"], worker: np.ndarray, pair: np.ndarray, n_votes: np.ndarray
    ) -> Float[np.ndarray, " w"]:
        right = np.bincount(worker, weights=posterior[pair], minlength=len(n_votes)) + self.smoothing
        return np.clip(right / np.maximum(n_votes + 2 * self.smoothing, LEAST), LEAST, 1 - LEAST)


def _start(pairs: Pairs, votes: Votes) -> Float[np.ndarray, " p"]:
    total = np.repeat(np.add.reduceat(pairs.count, pairs.starts), pairs.sizes)
    share = np.where(total > 0, pairs.count / np.maximum(total, 1), 1 / np.repeat(pairs.sizes, pairs.sizes))
    return pairs.find_known(votes).clamp(share)


def _estimate_prior(
    posterior: Float[np.ndarray, " p"],
    rest: Float[np.ndarray, " n"],
    prior: Float[np.ndarray, " k"],
    pairs: Pairs,
) -> Float[np.ndarray, " k"]:
    """Return the mean probability of each label; what an item leaves goes to its other labels as the prior had it."""
    listed = np.bincount(pairs.choice, weights=posterior, minlength=len(prior))
    unlisted = np.maximum(1 - np.add.reduceat(prior[pairs.choice], pairs.starts), LEAST)
    per_prior = rest / unlisted
    taken = np.bincount(pairs.choice, weights=np.repeat(per_prior, pairs.sizes), minlength=len(prior))
    return np.maximum((listed + prior * (per_prior.sum() - taken)) / len(rest), LEAST)
