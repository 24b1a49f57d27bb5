"""The division of a budget beside the best of all divisions, tried one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.evaluation.value.allocation import Order, allocate_budget, measure_goal
from graticule.evaluation.value.learning_curves import Curves


def draw_curves(seed, *, balance):
    rng = np.random.default_rng(seed)
    return Curves(
        level=np.log(rng.uniform(0.5, 2.0, size=(3, 2, 2))),
        slope=rng.uniform(0.1, 0.6, size=(3, 2, 2)),
        rate=rng.choice([0.0, 0.1, 0.3], size=3),
        balance=np.full(3, balance),
    )


def try_all(curves, order):
    """Return the highest goal of all quotas that the budget allows."""
    most = np.floor(order.budget / order.prices).astype(int)
    limit = most if order.most is None else np.minimum(most, order.most)
    ranges = [range(n + 1) for n in limit.ravel()]
    best = -np.inf
    for quotas in product(*ranges):
        bought = np.array(quotas).reshape(order.have.shape)
        if (bought * order.prices).sum() <= order.budget + 1e-9:
            best = max(best, measure_goal(curves, order.have + bought, order.goal))
    return best


@pytest.mark.parametrize("goal", ["worst", "mean"])
@pytest.mark.parametrize("seed", range(4))
def test_the_division_is_the_best_of_all(goal, seed):
    rng = np.random.default_rng(100 + seed)
    curves = draw_curves(seed, balance=0.0)
    order = Order(have=rng.integers(2, 12, size=(2, 2)), prices=np.ones((2, 2)), budget=9.0, goal=goal)
    quotas = allocate_budget(curves, order)
    assert quotas.sum() == 9
    assert measure_goal(curves, order.have + quotas, goal) == pytest.approx(try_all(curves, order), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_with_unequal_prices_and_limits_it_is_within_an_image_of_the_best(seed):
    rng = np.random.default_rng(200 + seed)
    curves = draw_curves(seed, balance=0.3)
    order = Order(
        have=rng.integers(2, 12, size=(2, 2)),
        prices=rng.choice([1.0, 2.0], size=(2, 2)),
        budget=10.0,
        most=np.array([[3, 9], [9, 9]]),
        goal="mean",
    )
    quotas = allocate_budget(curves, order)
    assert (quotas * order.prices).sum() <= 10
    assert (quotas <= order.most).all()
    reached = measure_goal(curves, order.have + quotas, "mean")
    best, before = try_all(curves, order), measure_goal(curves, order.have, "mean")
    assert reached - before >= 0.9 * (best - before)


def test_a_budget_below_every_price_is_refused():
    order = Order(have=np.ones((2, 2), dtype=int), prices=np.full((2, 2), 3.0), budget=2.0)
    with pytest.raises(ConfigError, match="--budget 2: an image costs 3 at least"):
        allocate_budget(draw_curves(0, balance=0.0), order)
