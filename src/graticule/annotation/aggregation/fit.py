"""What a model of votes comes to: probabilities of choices, skills of workers, and how the fit went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int32

from graticule.annotation.aggregation.pairs import Pairs
from graticule.annotation.aggregation.votes import Votes

MAX_TABLE = 20_000_000
"""Cells of a table of items × choices (160 MB) up to which one is made."""
TINY = 1e-300
LEAST_LISTED = 1e-6
"""Probability above which a choice that nobody took is listed all the same."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Probabilities of ``p`` choices of items, in the order of items and choices.

    Parameters
    ----------
    item, choice
        Indices, shape ``(p,)``; every choice that somebody took is there, the others where they are likely enough.
    probability
        Probability that the choice is the item's right one, shape ``(p,)``.
    skill
        What the method knows of each worker, shape ``(w,)``; NaN for a worker without votes.
    trace
        Log-likelihood (or the bound of it that the method raises) after each iteration, shape ``(t,)``.
    converged
        Whether the fit ended because it stood still.
    """

    item: Int32[np.ndarray, " p"]
    choice: Int32[np.ndarray, " p"]
    probability: Float[np.ndarray, " p"]
    skill: Float[np.ndarray, " w"]
    trace: Float[np.ndarray, " t"]
    converged: bool


def list_dense(votes: Votes, posterior: Float[np.ndarray, "n k"]) -> dict[str, np.ndarray]:
    """Return item, choice and probability of the choices in a full table that are voted for or likely at all."""
    listed = posterior > LEAST_LISTED
    taken = votes.choice < votes.n_choices
    listed[votes.item[taken], votes.choice[taken]] = True
    item, choice = np.nonzero(listed)
    return {
        "item": item.astype(np.int32),
        "choice": choice.astype(np.int32),
        "probability": posterior[item, choice],
    }


def list_pairs(
    votes: Votes,
    pairs: Pairs,
    posterior: Float[np.ndarray, " p"],
    *,
    rest: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, " k"],
) -> dict[str, np.ndarray]:
    """Return item, choice and probability of the choices that somebody took, and of the others where they are likely.

    Parameters
    ----------
    votes, pairs
        The votes, and the choices that somebody took.
    posterior
        Probabilities of the pairs, shape ``(p,)``.
    rest
        What each item leaves to the choices that nobody took, shape ``(n,)``.
    weights
        How they share it, shape ``(k,)``.

    Notes
    -----
    Where a full table would have more than `MAX_TABLE` cells, an item's likeliest untaken choice stands for the others.
    """
    if votes.n_items * votes.n_choices <= MAX_TABLE:
        taken = np.zeros((votes.n_items, votes.n_choices), dtype=bool)
        taken[pairs.item, pairs.choice] = True
        table = np.where(taken, 0.0, weights)
        table *= (rest / np.maximum(table.sum(axis=1), TINY))[:, None]
        table[pairs.item, pairs.choice] = posterior
        return list_dense(votes, table)
    order = np.argsort(-weights, kind="stable")
    place = np.zeros(votes.n_items, dtype=np.int64)
    keys = pairs.item * np.int64(votes.n_choices) + pairs.choice
    open_items = np.flatnonzero(pairs.sizes < votes.n_choices)
    waiting = open_items
    while len(waiting):
        wanted = waiting * np.int64(votes.n_choices) + order[place[waiting]]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        waiting = waiting[keys[found] == wanted]
        place[waiting] += 1
    left = np.maximum(weights.sum() - np.add.reduceat(weights[pairs.choice], pairs.starts), TINY)
    best = order[place[open_items]]
    probability = rest[open_items] * weights[best] / left[open_items]
    likely = probability > LEAST_LISTED
    item = np.concatenate([pairs.item, open_items[likely]])
    choice = np.concatenate([pairs.choice, best[likely]])
    in_order = np.lexsort((choice, item))
    return {
        "item": item[in_order].astype(np.int32),
        "choice": choice[in_order].astype(np.int32),
        "probability": np.concatenate([posterior, probability[likely]])[in_order],
    }


def blank_idle(skill: Float[np.ndarray, " w"], votes: Votes) -> Float[np.ndarray, " w"]:
    """Return the skills with NaN for workers who cast no vote."""
    idle = np.bincount(votes.worker, minlength=votes.n_workers) == 0
    return np.where(idle, np.nan, skill)
