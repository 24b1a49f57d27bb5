"""A budget divided among regions and labels so that the expected accuracy gains most.

Expected accuracies rise with the number of images and ever more slowly, so that steps uphill lead to the top: the
budget is spent piece by piece where it helps most for its price, then pieces are moved from where they help least to
where they help most, smaller and smaller, down to single images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graticule.errors import ConfigError, unknown_choice
from graticule.evaluation.value.learning_curves import Curves

GOALS = {
    "worst": "the accuracy of the worst region",
    "mean": "the mean accuracy of all regions",
}
"""Goal → what is made as large as can be; a region's accuracy is the mean over its labels."""
N_PIECES = 100
SOFTNESS = 0.002
"""Regions whose accuracies differ by less than about this count as equally bad, so that steps uphill do not stick."""
N_TRIED = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Order:
    """What is to be bought.

    Parameters
    ----------
    have
        Images of each region and label that there are, shape ``(r, k)``.
    prices
        Price of an image of each, shape ``(r, k)``, above 0.
    budget
        What may be spent.
    most
        Images of each that can be had, shape ``(r, k)``; None if there is no end to them.
    goal
        One of `GOALS`.
    """

    have: Int[np.ndarray, "r k"]
    prices: Float[np.ndarray, "r k"]
    budget: float
    most: Int[np.ndarray, "r k"] | None = None
    goal: str = "worst"


def allocate_budget(curves: Curves, order: Order) -> Int[np.ndarray, "r k"]:
    """Return how many images of each region and label to buy.

    Raises
    ------
    ConfigError
        The goal is unknown, or the budget buys no image.
    """
    if order.goal not in GOALS:
        raise unknown_choice("goal", order.goal, GOALS, where="--goal")
    cheapest = float(order.prices.min())
    if order.prices.min() <= 0 or order.budget < cheapest:
        raise ConfigError(
            f"--budget {order.budget:g}: an image costs {cheapest:g} at least (--price), expected prices above 0 and "
            "enough for one image. Raise --budget."
        )
    quotas = np.zeros(order.have.shape, dtype=np.int64)
    piece = max(1, int(order.budget / cheapest / N_PIECES))
    quotas = _spend(curves, order, quotas, piece=piece)
    while piece >= 1:
        quotas = _exchange(curves, order, quotas, piece=piece)
        piece //= 2
    return _spend(curves, order, quotas, piece=1)


def measure_goal(curves: Curves, counts: np.ndarray, goal: str) -> float:
    """Return what the goal makes large: the expected accuracy of the worst region (softly), or of all."""
    regional = 1 - curves.predict_error(counts.astype(np.float64)).mean(axis=(0, 2))
    if goal == "mean":
        return float(regional.mean())
    lowest = regional.min()
    return float(lowest - SOFTNESS * np.log(np.exp(-(regional - lowest) / SOFTNESS).mean()))


def _find_slopes(curves: Curves, counts: Float[np.ndarray, "r k"], goal: str) -> Float[np.ndarray, "r k"]:
    """Return by how much the goal rises with one more image of each region and label."""
    errors = curves.predict_error(counts)
    of_label = counts.sum(axis=0)
    rate, balance = curves.rate[:, None, None], curves.balance[:, None, None]
    size = 1 + counts + rate * (of_label - counts)
    steepness = errors * curves.slope / size
    share = balance * errors / (of_label + 0.5)
    lost = (balance * errors).sum(axis=2) / (of_label.sum() + 0.5 * counts.shape[1])
    regional = 1 - errors.mean(axis=(0, 2))
    if goal == "mean":
        weights = np.full(len(regional), 1 / len(regional))
    else:
        weights = np.exp(-(regional - regional.min()) / SOFTNESS)
        weights /= weights.sum()
    elsewhere = np.einsum("r,prk->pk", weights, steepness * rate + share)
    here = weights[:, None] * steepness * (1 - rate)
    slopes = here + elsewhere[:, None, :] - (weights * lost).sum(axis=1)[:, None, None]
    return slopes.mean(axis=0) / counts.shape[1]


def _spend(curves: Curves, order: Order, quotas: Int[np.ndarray, "r k"], *, piece: int) -> Int[np.ndarray, "r k"]:
    """Return quotas with what is left of the budget spent, piece by piece."""
    quotas = quotas.copy()
    left = order.budget - float((quotas * order.prices).sum())
    while True:
        room = np.full(quotas.shape, piece) if order.most is None else np.minimum(piece, order.most - quotas)
        affordable = np.minimum(room, np.floor(left / order.prices + 1e-9).astype(np.int64))
        if not (affordable > 0).any():
            return quotas
        slopes = _find_slopes(curves, (order.have + quotas).astype(np.float64), order.goal) / order.prices
        best = np.unravel_index(int(np.where(affordable > 0, slopes, -np.inf).argmax()), quotas.shape)
        quotas[best] += affordable[best]
        left -= float(affordable[best] * order.prices[best])


def _exchange(curves: Curves, order: Order, quotas: Int[np.ndarray, "r k"], *, piece: int) -> Int[np.ndarray, "r k"]:
    """Return quotas after pieces have been moved for as long as that helps."""
    current = measure_goal(curves, order.have + quotas, order.goal)
    for _ in range(20 * quotas.size):
        slopes = (_find_slopes(curves, (order.have + quotas).astype(np.float64), order.goal) / order.prices).ravel()
        ranked = np.argsort(-slopes, kind="stable")
        takers, givers = ranked[:N_TRIED], ranked[::-1]
        givers = givers[quotas.ravel()[givers] > 0][:N_TRIED]
        moved = None
        for taker in takers:
            for giver in givers:
                trial = _move(quotas, order, int(taker), int(giver), piece=piece)
                if trial is None:
                    continue
                reached = measure_goal(curves, order.have + trial, order.goal)
                if reached > current + 1e-12:
                    moved, current = trial, reached
                    break
            if moved is not None:
                break
        if moved is None:
            return quotas
        quotas = moved
    return quotas


def _move(
    quotas: Int[np.ndarray, "r k"], order: Order, taker: int, giver: int, *, piece: int
) -> Int[np.ndarray, "r k"] | None:
    """Return quotas with images of the taker bought for what the giver's cost; None where that cannot be."""
    if taker == giver:
        return None
    trial, prices = quotas.copy().ravel(), order.prices.ravel()
    given = min(piece, int(trial[giver]))
    left = order.budget - float((trial * prices).sum()) + given * prices[giver]
    taken = int(min(np.floor(left / prices[taker] + 1e-9), piece if prices[taker] == prices[giver] else np.inf))
    if order.most is not None:
        taken = min(taken, int(order.most.ravel()[taker] - trial[taker]))
    if taken < 1:
        return None
    trial[giver] -= given
    trial[taker] += taken
    return trial.reshape(quotas.shape)
