"""Dawid and Skene's model: each worker has a confusion matrix, and the truth is found together with it by EM.

Where the tables of all workers and labels would not fit (a thousand labels), only what was answered is kept: an image's
label is then one of those that somebody gave it, and a worker's matrix has the cells that this can touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.answered import fit_answered
from graticule.annotation.aggregation.config_checks import check_at_least, check_choice
from graticule.annotation.aggregation.fit import Fit, blank_idle, list_dense
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.lone_workers import fit_pooled
from graticule.annotation.aggregation.posterior import normalize
from graticule.annotation.aggregation.shares import share_votes
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.vote_matrix import VoteMatrix, make_vote_matrix
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.answers import Answers

CANDIDATES = ("auto", "all", "answered")
LEAST = 1e-10
"""Least probability of an answer or a label, so that no logarithm is infinite."""
MAX_TABLE = 20_000_000
"""Cells of a full table (160 MB) from which ``auto`` keeps only what was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene:
    """Confusion matrices by EM, in logarithms, from the share of votes on.

    Parameters
    ----------
    max_iterations
        EM steps at most.
    tolerance
        EM ends when the bound of the log-likelihood rises by less than this, per vote.
    smoothing
        Pseudo-votes added to every cell of every worker's matrix (a Dirichlet prior with parameter 1 + smoothing). With
        0, the paper's estimate, a worker who never made a mistake on a few images is taken never to make one; with
        more, a lone worker's rare labels may be taken for mistakes.
    candidates
        ``all`` labels can be an image's truth, or only those ``answered`` for it; ``auto`` is ``all`` as long as the
        tables stay small.
    pool_lone_workers
        Whether workers who voted once share a matrix. Without it, as in the paper, a worker's only vote says nothing.

    References
    ----------
    Dawid and Skene 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm", section 3.
    """

    max_iterations: int = 100
    tolerance: float = 1e-6
    smoothing: float = 0.0
    candidates: str = "auto"
    pool_lone_workers: bool = True

    def __post_init__(self) -> None:
        check_at_least("max_iterations", self.max_iterations, low=1)
        check_at_least("tolerance", self.tolerance, low=0)
        check_at_least("smoothing", self.smoothing, low=0)
        check_choice("candidates", self.candidates, known=CANDIDATES)

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="dawid_skene")

    def fit(self, votes: Votes) -> Fit:
        """Return the fit to some votes."""
        return fit_pooled(votes, self._fit) if self.pool_lone_workers else self._fit(votes)

    def _fit(self, votes: Votes) -> Fit:
        cells = max(votes.n_workers * votes.n_answers, votes.n_items) * votes.n_choices
        if self.candidates == "answered" or (self.candidates == "auto" and cells > MAX_TABLE):
            return fit_answered(
                votes, max_iterations=self.max_iterations, tolerance=self.tolerance, smoothing=self.smoothing
            )
        return self._fit_all(votes)

    def _fit_all(self, votes: Votes) -> Fit:
        matrix = make_vote_matrix(votes)
        posterior = share_votes(votes)
        prior = _estimate_prior(posterior.sum(axis=0), votes)
        table = _estimate_table(matrix.count_answers(posterior), votes, smoothing=self.smoothing)
        trace: list[float] = []
        for _ in range(self.max_iterations):
            expected = _expect(posterior, matrix, votes, table=table, prior=prior)
            entropy = expected.evidence - (expected.counts * table).sum() - expected.labels @ prior
            prior = _estimate_prior(expected.labels, votes)
            table = _estimate_table(expected.counts, votes, smoothing=self.smoothing)
            bound = (expected.counts * table).sum() + expected.labels @ prior + entropy
            trace.append(float(bound + self.smoothing * table.sum()))
            if stands_still(trace, tolerance=self.tolerance * len(votes)):
                break
        return Fit(
            **list_dense(votes, posterior),
            skill=_measure_skill(table, prior, votes),
            trace=np.array(trace),
            converged=stands_still(trace, tolerance=self.tolerance * len(votes)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Expected:
    """What an E-step counts.

    Parameters
    ----------
    counts
        Answers of each worker by the probable truth, shape ``(wl, k)``.
    labels
        Items that each label is probably right for, shape ``(k,)``.
    evidence
        Log-likelihood of the answers; of items of known truth, with that truth.
    """

    counts: Float[np.ndarray, "wl k"]
    labels: Float[np.ndarray, " k"]
    evidence: float


def _expect(
    posterior: Float[np.ndarray, "n k"],
    matrix: VoteMatrix,
    votes: Votes,
    *,
    table: Float[np.ndarray, "wl k"],
    prior: Float[np.ndarray, " k"],
) -> _Expected:
    """Write the probabilities of the items' labels over ``posterior``, and return what follows from them."""
    counts = np.zeros_like(table)
    labels = np.zeros_like(prior)
    evidence = 0.0
    for items, block in matrix:
        scores = block @ table
        scores += prior
        known = np.flatnonzero(votes.known[items] >= 0)
        right = votes.known[items][known]
        known_score = scores[known, right]
        found = normalize(scores)
        found[known] = known_score
        scores[known] = 0.0
        scores[known, right] = 1.0
        evidence += float(found.sum())
        counts += block.T @ scores
        labels += scores.sum(axis=0)
        posterior[items] = scores
    return _Expected(counts=counts, labels=labels, evidence=evidence)


def _estimate_prior(labels: Float[np.ndarray, " k"], votes: Votes) -> Float[np.ndarray, " k"]:
    return np.log(np.maximum(labels / max(votes.n_items, 1), LEAST))


def _estimate_table(counts: Float[np.ndarray, "wl k"], votes: Votes, *, smoothing: float) -> Float[np.ndarray, "wl k"]:
    """Return the log of P(answer | truth) of each worker: rows are (worker, answer), columns the truth."""
    table = np.maximum(counts + smoothing, LEAST).reshape(votes.n_workers, votes.n_answers, votes.n_choices)
    table /= table.sum(axis=1, keepdims=True)
    return np.log(table, out=table).reshape(-1, votes.n_choices)


def _measure_skill(
    table: Float[np.ndarray, "wl k"], prior: Float[np.ndarray, " k"], votes: Votes
) -> Float[np.ndarray, " w"]:
    """Return how often each worker is right on an image drawn at random."""
    by_worker = np.exp(table).reshape(votes.n_workers, votes.n_answers, votes.n_choices)
    right = np.einsum("wkk->wk", by_worker[:, : votes.n_choices])
    return blank_idle(right @ (np.exp(prior) / np.exp(prior).sum()), votes)
