"""MACE: a worker either knows the answer or makes one up, from a habit of the worker's own.

Finds spammers well, however they spam, for it tells "always says yes" from "is right"; it knows no rare labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import digamma

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.fit import Fit, blank_idle, list_pairs
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.pairs import find_pairs
from graticule.annotation.aggregation.posterior import normalize_groups
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.answers import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Mace:
    """Competence and habit of each worker by variational EM; every label is as likely as another beforehand.

    Parameters
    ----------
    max_iterations
        EM steps at most.
    tolerance
        EM ends when the log-likelihood changes by less than this, per vote.
    competence_prior
        Beta prior of how often a worker makes answers up, and knows them; the paper's is (0.5, 0.5).
    habit_prior
        Dirichlet prior of the made-up answers, for each label; the paper's is 10.

    Notes
    -----
    The paper restarts from random numbers a hundred times. Here everyone starts alike, as likely to know as not and
    without a habit, so that the first step is near the majority vote and the result depends on nothing but the answers.
    A "maybe" says nothing here.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013, "Learning whom to trust with MACE", section 2.
    """

    max_iterations: int = 50
    tolerance: float = 1e-6
    competence_prior: tuple[float, float] = (0.5, 0.5)
    habit_prior: float = 10.0

    def __post_init__(self) -> None:
        check_at_least("max_iterations", self.max_iterations, low=1)
        check_at_least("tolerance", self.tolerance, low=0)
        check_at_least("habit_prior", self.habit_prior, low=1e-6)
        for value in self.competence_prior:
            check_at_least("competence_prior", value, low=1e-6)

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="mace")

    def fit(self, votes: Votes) -> Fit:
        """Return the fit to some votes."""
        pairs = find_pairs(votes)
        known = pairs.find_known(votes)
        counted = votes.choice < votes.n_choices
        pair = pairs.of_vote[counted]
        cell, of_worker = _number_habits(votes.worker[counted], votes.choice[counted], votes)
        in_cell = np.bincount(cell, minlength=len(of_worker))
        n_votes = np.bincount(of_worker, weights=in_cell, minlength=votes.n_workers)
        n_unlisted = (votes.n_choices - pairs.sizes).astype(float)
        knows = np.full(votes.n_workers, 0.5)
        makes_up = np.full(votes.n_workers, 0.5)
        habit = np.full(len(of_worker), 1.0 / votes.n_choices)
        trace: list[float] = []
        while True:
            made_up = makes_up[of_worker] * habit
            known_or_not = knows[of_worker] + made_up
            gain = np.bincount(pair, weights=np.log(known_or_not / made_up)[cell], minlength=len(pairs.item))
            posterior, evidence = normalize_groups(gain, pairs.starts, n_unlisted=n_unlisted)
            posterior = known.clamp(posterior)
            evidence[votes.known >= 0] = gain[known.right]
            trace.append(float(evidence.sum() + in_cell @ np.log(made_up) - votes.n_items * np.log(votes.n_choices)))
            if stands_still(trace[1:], tolerance=self.tolerance * len(votes)) or len(trace) > self.max_iterations:
                break
            right = np.bincount(cell, weights=posterior[pair], minlength=len(of_worker))
            knew = right * knows[of_worker] / known_or_not
            n_knew = np.bincount(of_worker, weights=knew, minlength=votes.n_workers)
            habits = in_cell - knew
            knows, makes_up = self._estimate_competence(n_knew, n_votes)
            total = np.bincount(of_worker, weights=habits, minlength=votes.n_workers)
            total = digamma(total + self.habit_prior * votes.n_choices)
            habit = np.exp(digamma(habits + self.habit_prior) - total[of_worker])
        rest = np.maximum(1 - np.add.reduceat(posterior, pairs.starts), 0)
        return Fit(
            **list_pairs(votes, pairs, posterior, rest=rest, weights=np.ones(votes.n_choices)),
            skill=blank_idle(knows / (knows + makes_up), votes),
            trace=np.array(trace[1:]),
            converged=stands_still(trace[1:], tolerance=self.tolerance * len(votes)),
        )

    def _estimate_competence(
        self, n_knew: Float[np.ndarray, " w"], n_votes: np.ndarray
    ) -> tuple[Float[np.ndarray, " w"], Float[np.ndarray, " w"]]:
        """Return the geometric means of how often a worker knows, and does not."""
        wrong, right = self.competence_prior
        total = digamma(n_votes + wrong + right)
        return np.exp(digamma(n_knew + right) - total), np.exp(digamma(n_votes - n_knew + wrong) - total)


def _number_habits(worker: np.ndarray, choice: np.ndarray, votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell (worker, label) of each vote, and each cell's worker; votes of a cell are alike."""
    cells, cell = np.unique(worker * np.int64(votes.n_choices) + choice, return_inverse=True)
    return cell, cells // votes.n_choices
