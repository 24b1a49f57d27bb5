"""Hierarchical Bayesian classifier combination: confusion matrices that learn from each other, and hard images.

Four things that real crowds do, and Dawid and Skene's model does not know of. Workers who answered little are like the
others (each matrix is drawn from a distribution that is learned too). Workers come in types, careful and careless.
Images of one label are not all alike: workers who err on one err on its like together, so that five wrong answers can
be one mistake. And no estimate is certain: the matrices are averaged over, not picked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.fit import Fit, blank_idle, list_dense
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.hbcc_state import HbccState, make_prior
from graticule.annotation.aggregation.lone_workers import fit_pooled
from graticule.annotation.aggregation.quantiles import split_by_quantile
from graticule.annotation.aggregation.shares import share_votes
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.vote_matrix import VoteMatrix, make_vote_matrix
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.answers import Answers
from graticule.errors import ConfigError

MAX_CELLS = 100_000_000
"""Cells of the largest table (800 MB) above which the method refuses."""
TYPE_SHARPNESS = 0.9
SUBTYPE_SHARPNESS = 0.8
"""How far the first guess of types and subtypes trusts the quantiles; the rest is spread evenly."""
MAX_CHANGED = 0.1
"""Share of the items whose label subtypes may change. They are to tell a label's images apart; where they change a
third of the labels, as spammers can make them, they have swallowed another label. On the sets of known truth subtypes
that raise the evidence change 5 % at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hbcc:
    """Variational Bayes over truths, subtypes of images, types of workers and their confusion matrices.

    Parameters
    ----------
    n_worker_types
        Types of workers, each with its own distribution of confusion matrices.
    n_subtypes
        Subtypes of images within each label. They are kept only if they raise the evidence of the answers, and change
        few labels.
    prior_right, prior_wrong
        Pseudo-votes on and off the diagonal that the distribution of matrices starts from; 4 and 1 are EBCC's.
    prior_weight
        How many pseudo-workers hold the distribution near where it starts.
    vote_weight
        Weight of the plain share of votes in the probabilities; the model has the rest.
    max_iterations
        Steps at most, with and without subtypes.
    tolerance
        Steps end when the bound of the evidence rises by less than this, per vote.
    max_lone_workers
        Workers who voted once share a matrix where there are more of them than this, so that a crowd of strangers costs
        no more than one worker. Up to then each has one of its own, which the others' inform.

    Notes
    -----
    Starting from the share of votes, the model without subtypes is fitted; then each label's images are split by how
    many votes the label has, and the model is fitted on from there. That order matters: split at once, subtypes tend to
    swallow other labels. Types are told apart at first by agreement with the majority. Nothing is random. The prior of
    the labels is their share of votes, as EBCC's. A "maybe" is an answer of its own.

    The model takes workers for more independent than they are and so is too sure of itself, and where it errs it errs
    wholeheartedly. Its probabilities are therefore pooled in equal parts with the share of votes, which is never sure
    of anything but a unanimous vote: the label changes where the model is in doubt and the vote is not.

    The defaults are the same for all data; `docs/aggregation.md` shows them on every set of known truth.

    References
    ----------
    Kim and Ghahramani 2012, "Bayesian classifier combination"; Venanzi et al. 2014, "Community-based Bayesian label
    aggregation models for crowdsourcing" (types); Li, Rubinstein and Cohn 2019, "Exploiting worker correlation for
    label aggregation in crowdsourcing" (EBCC: subtypes); Minka 2000, "Estimating a Dirichlet distribution".
    """

    n_worker_types: int = 2
    n_subtypes: int = 3
    prior_right: float = 4.0
    prior_wrong: float = 1.0
    prior_weight: float = 10.0
    vote_weight: float = 0.5
    max_iterations: int = 200
    tolerance: float = 1e-6
    max_lone_workers: int = 10_000

    def __post_init__(self) -> None:
        for name in ("n_worker_types", "n_subtypes", "max_iterations"):
            check_at_least(name, getattr(self, name), low=1)
        for name in ("prior_right", "prior_wrong", "prior_weight"):
            check_at_least(name, getattr(self, name), low=1e-3)
        check_at_least("tolerance", self.tolerance, low=0)
        check_at_least("max_lone_workers", self.max_lone_workers, low=0)
        check_at_least("vote_weight", self.vote_weight, low=0)
        check_at_least("1 - vote_weight", 1 - self.vote_weight, low=0)

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label.

        Raises
        ------
        ConfigError
            There are too many workers and labels for full confusion matrices.
        """
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="hbcc")

    def fit(self, votes: Votes) -> Fit:
        """Return the fit to some votes."""
        return fit_pooled(votes, self._fit, more_than=self.max_lone_workers)

    def _fit(self, votes: Votes) -> Fit:
        if self.count_cells(votes) > MAX_CELLS:
            raise ConfigError(
                f"method 'hbcc' on {votes.n_workers} workers, {votes.n_items} items and {votes.n_choices} labels; "
                f"expected at most {MAX_CELLS} cells of confusion matrices, not {self.count_cells(votes)}. Take "
                "one_coin, which has a number a worker, or dawid_skene, which keeps only what was answered."
            )
        matrix, shares = make_vote_matrix(votes), share_votes(votes)
        simple, trace = self._raise(self._start(votes, matrix, shares), matrix, votes)
        state = simple
        if self.n_subtypes > 1:
            split = simple.split(_split_items(simple.posterior, shares, n_subtypes=self.n_subtypes))
            refined, refined_trace = self._raise(split, matrix, votes)
            changed = (refined.posterior.argmax(axis=1) != simple.posterior.argmax(axis=1)).mean()
            if refined_trace[-1] > trace[-1] and changed <= MAX_CHANGED:
                state, trace = refined, refined_trace
        pooled = (1 - self.vote_weight) * state.posterior + self.vote_weight * shares
        return Fit(
            **list_dense(votes, pooled),
            skill=blank_idle(state.measure_skill(matrix, votes), votes),
            trace=np.array(trace),
            converged=len(trace) < self.max_iterations,
        )

    def count_cells(self, votes: Votes) -> int:
        """Return the cells of the largest table that a fit makes."""
        return max(votes.n_workers * votes.n_answers, votes.n_items) * votes.n_choices * self.n_subtypes

    def _start(self, votes: Votes, matrix: VoteMatrix, shares: Float[np.ndarray, "n k"]) -> HbccState:
        taken = votes.choice < votes.n_choices
        agreed = shares[votes.item[taken], votes.choice[taken]]
        right = np.bincount(votes.worker[taken], weights=agreed, minlength=votes.n_workers)
        agreement = (right + 1) / (np.bincount(votes.worker[taken], minlength=votes.n_workers) + 2)
        parts = split_by_quantile(agreement, weights=np.ones(votes.n_workers), n_bins=self.n_worker_types)
        prior = make_prior(votes, right=self.prior_right, wrong=self.prior_wrong)
        return HbccState(
            items=shares[:, :, None],
            workers=TYPE_SHARPNESS * parts + (1 - TYPE_SHARPNESS) / self.n_worker_types,
            types=np.repeat(prior[None], self.n_worker_types, axis=0),
            prior=prior,
            prior_weight=self.prior_weight,
            label_prior=np.maximum(shares.sum(axis=0), 1e-2),
        )

    def _raise(self, state: HbccState, matrix: VoteMatrix, votes: Votes) -> tuple[HbccState, list[float]]:
        trace: list[float] = []
        while len(trace) < self.max_iterations:
            state, bound = state.improve(matrix, votes)
            trace.append(bound)
            if stands_still(trace, tolerance=self.tolerance * len(votes)):
                break
        return state, trace


def _split_items(
    posterior: Float[np.ndarray, "n k"], shares: Float[np.ndarray, "n k"], *, n_subtypes: int
) -> Float[np.ndarray, "n k m"]:
    """Return each label's images in subtypes, by how many of an image's votes the label has."""
    parts = [
        split_by_quantile(shares[:, label], weights=posterior[:, label], n_bins=n_subtypes)
        for label in range(posterior.shape[1])
    ]
    spread = SUBTYPE_SHARPNESS * np.stack(parts, axis=1) + (1 - SUBTYPE_SHARPNESS) / n_subtypes
    return posterior[:, :, None] * spread
