"""Dawid and Skene's model where an image's label is one of those that somebody gave it.

A worker's confusion matrix then only matters where an answer meets a label that somebody gave the same image. With a
thousand labels and ninety thousand answers that is some hundred thousand cells, where the full matrices have billions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int32, Int64

from graticule.annotation.aggregation.fit import Fit, blank_idle
from graticule.annotation.aggregation.pairs import Pairs, find_pairs
from graticule.annotation.aggregation.posterior import normalize_groups
from graticule.annotation.aggregation.stopping import stands_still
from graticule.annotation.aggregation.votes import Votes

LEAST = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meetings:
    """``m`` meetings of a vote with a label that its item may have.

    Parameters
    ----------
    pair
        The item and the label that it may have, shape ``(m,)``.
    cell
        The cell of the worker's matrix (worker, possible truth, answer) that this touches, shape ``(m,)``.
    cell_row
        The row (worker, possible truth) of each cell, shape ``(c,)``.
    row_worker, row_choice
        What each row is about, shape ``(r,)``.
    is_right
        Whether a cell's answer is its truth, shape ``(c,)``.
    """

    pair: Int32[np.ndarray, " m"]
    cell: Int32[np.ndarray, " m"]
    cell_row: Int32[np.ndarray, " c"]
    row_worker: Int64[np.ndarray, " r"]
    row_choice: Int64[np.ndarray, " r"]
    is_right: np.ndarray


def fit_answered(votes: Votes, *, max_iterations: int, tolerance: float, smoothing: float) -> Fit:
    """Return the fit of Dawid and Skene's model over the labels that were answered.

    Parameters
    ----------
    votes
        The votes.
    max_iterations, tolerance, smoothing
        As in `DawidSkene`; smoothing adds to every cell, those that are never touched included.
    """
    pairs = find_pairs(votes)
    meetings = _meet(votes, pairs)
    none_unlisted = np.zeros(votes.n_items)
    known = pairs.find_known(votes)
    posterior = known.clamp(pairs.count / np.repeat(np.add.reduceat(pairs.count, pairs.starts), pairs.sizes))
    prior, table, row_total = _estimate(posterior, pairs, meetings, votes, smoothing=smoothing)
    trace: list[float] = []
    for _ in range(max_iterations):
        scores = np.bincount(meetings.pair, weights=table[meetings.cell], minlength=len(posterior))
        scores += prior[pairs.choice]
        posterior, evidence = normalize_groups(scores, pairs.starts, n_unlisted=none_unlisted)
        posterior = known.clamp(posterior)
        entropy = evidence[votes.known < 0].sum() + scores[known.right].sum() - (posterior * scores).sum()
        prior, table, row_total = _estimate(posterior, pairs, meetings, votes, smoothing=smoothing)
        expected = table[meetings.cell] @ posterior[meetings.pair] + prior[pairs.choice] @ posterior
        trace.append(float(expected + entropy + _weigh_prior(table, row_total, meetings, votes, smoothing=smoothing)))
        if stands_still(trace, tolerance=tolerance * len(votes)):
            break
    return Fit(
        item=pairs.item,
        choice=pairs.choice,
        probability=posterior,
        skill=_measure_skill(table, row_total, meetings, votes),
        trace=np.array(trace),
        converged=stands_still(trace, tolerance=tolerance * len(votes)),
    )


def _meet(votes: Votes, pairs: Pairs) -> Meetings:
    n_met = pairs.sizes[votes.item]
    first = pairs.starts[votes.item]
    ends = np.cumsum(n_met)
    pair = np.arange(ends[-1]) - np.repeat(ends - n_met - first, n_met)
    row_key = np.repeat(votes.worker.astype(np.int64), n_met) * votes.n_choices + pairs.choice[pair]
    key, cell = np.unique(row_key * votes.n_answers + np.repeat(votes.choice, n_met), return_inverse=True)
    rows, cell_row = np.unique(key // votes.n_answers, return_inverse=True)
    row_choice = rows % votes.n_choices
    return Meetings(
        pair=pair.astype(np.int32),
        cell=cell.astype(np.int32),
        cell_row=cell_row.astype(np.int32),
        row_worker=rows // votes.n_choices,
        row_choice=row_choice,
        is_right=key % votes.n_answers == row_choice[cell_row],
    )


def _estimate(
    posterior: Float[np.ndarray, " p"], pairs: Pairs, meetings: Meetings, votes: Votes, *, smoothing: float
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " c"], Float[np.ndarray, " r"]]:
    """Return the logs of the prior and of the cells, and how many votes each row has."""
    prior = np.bincount(pairs.choice, weights=posterior, minlength=votes.n_choices) / votes.n_items
    counts = np.bincount(meetings.cell, weights=posterior[meetings.pair], minlength=len(meetings.cell_row))
    row_total = np.bincount(meetings.cell_row, weights=counts)
    total = np.maximum(row_total + smoothing * votes.n_answers, LEAST)
    table = np.log(np.maximum((counts + smoothing) / total[meetings.cell_row], LEAST))
    return np.log(np.maximum(prior, LEAST)), table, row_total


def _weigh_prior(
    table: Float[np.ndarray, " c"],
    row_total: Float[np.ndarray, " r"],
    meetings: Meetings,
    votes: Votes,
    *,
    smoothing: float,
) -> float:
    """Return the log of the matrices' prior density, the cells that are never touched included."""
    if smoothing == 0:
        return 0.0
    untouched = votes.n_answers - np.bincount(meetings.cell_row)
    empty = np.log(smoothing / (row_total + smoothing * votes.n_answers))
    return smoothing * float(table.sum() + untouched @ empty)


def _measure_skill(
    table: Float[np.ndarray, " c"], row_total: Float[np.ndarray, " r"], meetings: Meetings, votes: Votes
) -> Float[np.ndarray, " w"]:
    """Return each worker's share of right answers over the truths that the worker probably met."""
    right = np.bincount(meetings.cell_row, weights=np.exp(table) * meetings.is_right, minlength=len(row_total))
    met = np.bincount(meetings.row_worker, weights=row_total, minlength=votes.n_workers)
    hit = np.bincount(meetings.row_worker, weights=row_total * right, minlength=votes.n_workers)
    return blank_idle(hit / np.maximum(met, LEAST), votes)
