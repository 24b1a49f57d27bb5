"""One step of hierarchical Bayesian classifier combination, and what it keeps from step to step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.special import digamma, gammaln, xlogy

from graticule.annotation.aggregation.posterior import normalize
from graticule.annotation.aggregation.vote_matrix import VoteMatrix
from graticule.annotation.aggregation.votes import Votes

CONCENTRATION = 1.0
"""Total of the Dirichlet priors of subtypes and, for each, of worker types: favours few."""
PRIOR_STEPS = 2
"""Fixed-point steps of the learned priors in a step."""
BLOCK_CELLS = 2_000_000
"""Cells of confusion matrices that are worked on at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HbccState:
    """Beliefs about ``n`` items of ``k`` labels and ``m`` subtypes, and ``w`` workers of ``c`` types.

    Parameters
    ----------
    items
        Probability of each label and subtype, shape ``(n, k, m)``.
    workers
        Probability of each type, shape ``(w, c)``.
    types
        Dirichlet parameters of each type's answers by truth, shape ``(c, k, l)``.
    prior
        What the types are held to, shape ``(k, l)``.
    prior_weight
        How strongly.
    label_prior
        Dirichlet parameters of the labels' shares, shape ``(k,)``.
    """

    items: Float[np.ndarray, "n k m"]
    workers: Float[np.ndarray, "w c"]
    types: Float[np.ndarray, "c k l"]
    prior: Float[np.ndarray, "k l"]
    prior_weight: float
    label_prior: Float[np.ndarray, " k"]

    @property
    def posterior(self) -> Float[np.ndarray, "n k"]:
        """Probability of each label."""
        return self.items.sum(axis=2)

    def split(self, items: Float[np.ndarray, "n k m"]) -> HbccState:
        """Return the same beliefs about workers, with other subtypes."""
        return replace(self, items=items)

    def improve(self, matrix: VoteMatrix, votes: Votes) -> tuple[HbccState, float]:
        """Return the beliefs after a step, and the bound of the log-evidence that they came from."""
        n_subtypes = self.items.shape[2]
        counts = self._count(matrix, votes)
        types = self._learn_types(counts)
        workers, evidence = _judge_workers(counts, types, self.workers)
        bound = evidence + self._weigh_types(types) + self._weigh_items()
        subtypes = CONCENTRATION / n_subtypes + self.items.sum(axis=0)
        labels = self.label_prior + self.items.sum(axis=(0, 2))
        log_share = digamma(subtypes) - digamma(subtypes.sum(axis=1, keepdims=True))
        log_share += (digamma(labels) - digamma(labels.sum()))[:, None]
        table = _expect_log_answers(counts, types, workers)
        scores = matrix.sum_over_votes(table.transpose(0, 3, 1, 2).reshape(-1, log_share.size))
        scores += log_share.reshape(-1)
        _exclude(scores, votes, n_subtypes=n_subtypes)
        normalize(scores)
        return replace(self, items=scores.reshape(self.items.shape), workers=workers, types=types), bound

    def measure_skill(self, matrix: VoteMatrix, votes: Votes) -> Float[np.ndarray, " w"]:
        """Return how often each worker is right on an item drawn at random."""
        counts = self._count(matrix, votes).sum(axis=2)
        expected = counts + np.einsum("wc,ckl->wkl", self.workers, self.types)
        right = np.einsum("wkk->wk", expected[:, :, : votes.n_choices]) / expected.sum(axis=2)
        return right @ self.posterior.mean(axis=0)

    def _count(self, matrix: VoteMatrix, votes: Votes) -> Float[np.ndarray, "w k m l"]:
        n_items, n_choices, n_subtypes = self.items.shape
        counts = matrix.count_answers(self.items.reshape(n_items, -1))
        shape = (votes.n_workers, votes.n_answers, n_choices, n_subtypes)
        return np.ascontiguousarray(counts.reshape(shape).transpose(0, 2, 3, 1))

    def _learn_types(self, counts: Float[np.ndarray, "w k m l"]) -> Float[np.ndarray, "c k l"]:
        """Return the types' Dirichlet parameters after steps of Minka's fixed point, held to the prior."""
        types = self.types
        total = counts.sum(axis=3)
        for _ in range(PRIOR_STEPS):
            cells = np.zeros_like(types)
            rows = np.zeros(types.shape[:2])
            for block in _blocks(counts):
                for number, parameters in enumerate(types):
                    whole = parameters.sum(axis=1)
                    seen = digamma(counts[block] + parameters[:, None]) - digamma(parameters)[:, None]
                    cells[number] += np.einsum("w,wkml->kl", self.workers[block, number], seen)
                    seen_row = digamma(total[block] + whole[:, None]) - digamma(whole)[:, None]
                    rows[number] += np.einsum("w,wkm->k", self.workers[block, number], seen_row)
            weight = self.prior_weight
            types = (cells * types + weight) / (rows[:, :, None] + weight / self.prior)
        return types

    def _weigh_types(self, types: Float[np.ndarray, "c k l"]) -> float:
        """Return the log of the types' prior density (Gamma, with its mode at the prior), up to a constant."""
        relative = types / self.prior
        return self.prior_weight * float((np.log(relative) - relative + 1).sum())

    def _weigh_items(self) -> float:
        """Return the evidence of labels and subtypes, with the entropy of the belief in them."""
        n_subtypes = self.items.shape[2]
        subtypes = np.full(n_subtypes, CONCENTRATION / n_subtypes)
        found = _log_beta(subtypes + self.items.sum(axis=0)) - _log_beta(subtypes)
        labels = _log_beta(self.label_prior + self.items.sum(axis=(0, 2))) - _log_beta(self.label_prior)
        return float(found.sum() + labels - xlogy(self.items, self.items).sum())


def make_prior(votes: Votes, *, right: float, wrong: float) -> Float[np.ndarray, "k l"]:
    """Return the Dirichlet parameters that every worker's matrix starts from, shape ``(k, l)``."""
    prior = np.full((votes.n_choices, votes.n_answers), wrong)
    np.fill_diagonal(prior, right)
    return prior


def _judge_workers(
    counts: Float[np.ndarray, "w k m l"], types: Float[np.ndarray, "c k l"], before: Float[np.ndarray, "w c"]
) -> tuple[Float[np.ndarray, "w c"], float]:
    """Return the probability of each worker's types, and the evidence of the answers under it."""
    fit = np.empty_like(before)
    for block in _blocks(counts):
        for number, parameters in enumerate(types):
            drawn = counts[block] + parameters[:, None]
            fit[block, number] = (_log_beta(drawn) - _log_beta(parameters)[:, None]).sum(axis=(1, 2))
    n_types = len(types)
    workers = before
    if n_types > 1:
        shares = CONCENTRATION + before.sum(axis=0)
        workers = fit + digamma(shares) - digamma(shares.sum())
        normalize(workers)
    found = _log_beta(CONCENTRATION + workers.sum(axis=0)) - _log_beta(np.full(n_types, CONCENTRATION))
    return workers, float((workers * fit).sum() + found - xlogy(workers, workers).sum())


def _expect_log_answers(
    counts: Float[np.ndarray, "w k m l"], types: Float[np.ndarray, "c k l"], workers: Float[np.ndarray, "w c"]
) -> Float[np.ndarray, "w k m l"]:
    """Return the expected log of P(answer | truth, subtype) of each worker."""
    table = np.zeros_like(counts)
    for block in _blocks(counts):
        for number, parameters in enumerate(types):
            drawn = counts[block] + parameters[:, None]
            log_answer = digamma(drawn) - digamma(drawn.sum(axis=3, keepdims=True))
            table[block] += workers[block, number, None, None, None] * log_answer
    return table


def _exclude(scores: Float[np.ndarray, "n km"], votes: Votes, *, n_subtypes: int) -> None:
    """Make every label but the known one of an item impossible, in place."""
    items = np.flatnonzero(votes.known >= 0)
    label = np.arange(scores.shape[1]) // n_subtypes
    scores[items] = np.where(label == votes.known[items, None], scores[items], -np.inf)


def _log_beta(parameters: Float[np.ndarray, "... l"]) -> np.ndarray:
    return np.asarray(gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1)))


def _blocks(counts: Float[np.ndarray, "w k m l"]) -> list[slice]:
    size = max(BLOCK_CELLS // max(counts[0].size, 1), 1)
    return [slice(start, start + size) for start in range(0, len(counts), size)]
