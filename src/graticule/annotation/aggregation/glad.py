"""GLAD: how able each worker is, and how hard each image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.annotation.aggregation.aggregate import Aggregate, make_aggregate
from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.fit import Fit, blank_idle, list_pairs
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.pairs import find_pairs
from graticule.annotation.aggregation.posterior import normalize_groups
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.answers import Answers

PRIOR_MEAN = 1.0
"""Mean of the normal priors of ability and of the log of easiness, whose variance is 1 (the paper, section 3.2)."""
CHUNK = 512
"""Numbers up to 2 that are multiplied before a logarithm is taken; their product stays below 2**512."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glad:
    """A worker is right with probability 1 / (1 + exp(-ability × easiness)), by EM with conjugate gradients.

    Parameters
    ----------
    max_iterations
        EM steps at most.
    tolerance
        EM ends when the expected log-likelihood rises by less than this, per vote and label.
    max_steps
        Conjugate-gradient steps of an M-step, at most.
    step_tolerance
        Largest slope at which an M-step ends.

    Notes
    -----
    Wrong answers are spread evenly over the other labels, all labels are equally likely beforehand, and a "maybe" says
    nothing. Probabilities are those of the last E-step. The skill is the ability: 0 for guessing, negative for workers
    who are wrong on purpose.

    References
    ----------
    Whitehill, Wu, Bergsma, Movellan and Ruvolo 2009, "Whose vote should count more", section 3.
    """

    max_iterations: int = 100
    tolerance: float = 1e-5
    max_steps: int = 25
    step_tolerance: float = 1e-2

    def __post_init__(self) -> None:
        check_at_least("max_iterations", self.max_iterations, low=1)
        check_at_least("tolerance", self.tolerance, low=0)
        check_at_least("max_steps", self.max_steps, low=1)
        check_at_least("step_tolerance", self.step_tolerance, low=0)

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        votes = make_votes(answers, gold=gold)
        return make_aggregate(answers, votes, self.fit(votes), method="glad")

    def fit(self, votes: Votes) -> Fit:
        """Return the fit to some votes."""
        from scipy.optimize import minimize

        pairs = find_pairs(votes)
        known = pairs.find_known(votes)
        counted = votes.choice < votes.n_choices
        item, worker, pair = votes.item[counted], votes.worker[counted], pairs.of_vote[counted]
        objective = _Objective(
            item=item, worker=worker, n_workers=votes.n_workers, n_items=votes.n_items, work=np.empty((4, len(item)))
        )
        log_wrong_ways = np.log(max(votes.n_choices - 1, 1))
        n_unlisted = (votes.n_choices - pairs.sizes).astype(float)
        parameters = np.full(votes.n_workers + votes.n_items, PRIOR_MEAN)
        trace: list[float] = []
        while True:
            gain = np.bincount(pair, weights=objective.logit(parameters) + log_wrong_ways, minlength=len(pairs.item))
            posterior = known.clamp(normalize_groups(gain, pairs.starts, n_unlisted=n_unlisted)[0])
            right = posterior[pair]
            found = minimize(
                objective.measure,
                parameters,
                args=(right,),
                method="CG",
                jac=True,
                tol=self.step_tolerance,
                options={"maxiter": self.max_steps},
            )
            parameters = found.x
            trace.append(float(-found.fun - (1 - right).sum() * log_wrong_ways))
            still = stands_still(trace, tolerance=self.tolerance * len(votes) * votes.n_choices)
            if still or len(trace) == self.max_iterations:
                break
        rest = np.maximum(1 - np.add.reduceat(posterior, pairs.starts), 0)
        return Fit(
            **list_pairs(votes, pairs, posterior, rest=rest, weights=np.ones(votes.n_choices)),
            skill=blank_idle(parameters[: votes.n_workers], votes),
            trace=np.array(trace),
            converged=still,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Objective:
    """What an M-step makes small: parameters are the workers' abilities, then the logs of the items' easiness.

    It is measured hundreds of times, and most of that time would go into asking the system for memory: ``work`` holds
    the arrays of a number a vote that every measurement fills anew.
    """

    item: np.ndarray
    worker: np.ndarray
    n_workers: int
    n_items: int
    work: Float[np.ndarray, "4 a"]

    def logit(self, parameters: Float[np.ndarray, " q"]) -> Float[np.ndarray, " a"]:
        """Return the log odds that each vote is right."""
        return parameters[self.worker] * np.exp(parameters[self.n_workers :])[self.item]

    def measure(
        self, parameters: Float[np.ndarray, " q"], right: Float[np.ndarray, " a"]
    ) -> tuple[float, Float[np.ndarray, " q"]]:
        """Return minus the expected log-likelihood and prior, and its slope, given how likely each vote is right."""
        ability, easiness, logit, spare = self.work
        with np.errstate(over="ignore"):  # a line search may step far out, where the objective is infinite
            np.take(parameters, self.worker, out=ability, mode="clip")
            np.take(np.exp(parameters[self.n_workers :]), self.item, out=easiness, mode="clip")
            np.multiply(ability, easiness, out=logit)
        total = logit.sum()
        if not np.isfinite(total):
            return np.inf, np.zeros_like(parameters)
        # log p is min(logit, 0) - log(1 + e), and p is 1 / (1 + e) or 1 less that, where e is exp(-|logit|)
        magnitude = np.abs(logit, out=spare)
        log_right = 0.5 * (total - magnitude.sum())
        odds = np.exp(np.negative(magnitude, out=spare), out=spare)
        odds += 1
        log_right -= _sum_logs(odds)
        wrong = total - float(right @ logit)
        probability = np.reciprocal(odds, out=spare)
        probability -= 0.5
        slope = np.copysign(probability, logit, out=spare)
        np.subtract(right, slope, out=slope)
        slope -= 0.5
        slope *= easiness
        by_worker = np.bincount(self.worker, weights=slope, minlength=self.n_workers)
        slope *= ability
        by_item = np.bincount(self.item, weights=slope, minlength=self.n_items)
        from_mean = parameters - PRIOR_MEAN
        prior = -0.5 * (from_mean @ from_mean) - 0.5 * np.log(2 * np.pi) * len(parameters)
        return -float(log_right - wrong + prior), from_mean - np.concatenate([by_worker, by_item])


def _sum_logs(values: Float[np.ndarray, " a"]) -> float:
    """Return the sum of the logarithms of numbers between 1 and 2.

    Products of a few hundred of them do not overflow, and take a tenth of the time of their logarithms.
    """
    products = np.multiply.reduceat(values, np.arange(0, len(values), CHUNK))
    return float(np.log(products).sum())
