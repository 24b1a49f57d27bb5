"""Learning curves and plans: planted curves are found, plans spend the budget, and go where errors can be had."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError, TableError
from graticule.evaluation.value.allocation import Order
from graticule.evaluation.value.labelled import label_features
from graticule.evaluation.value.learning_curves import Curves, fit_curves
from graticule.evaluation.value.plan import PlanConfig, allocate_plainly, plan_purchase
from graticule.evaluation.value.tell_plan import describe_plan, make_plan_rows, make_quota_table, write_quota_yaml
from graticule.evaluation.value.trials import Trials
from graticule.models.probe_space import make_probe_space


def plant(*, rate, slope, n_trials=40, n_tested=400, seed=0):
    """Return trials whose wrong answers follow curves that are known."""
    rng = np.random.default_rng(seed)
    shape = (3, 2)
    truth = Curves(
        level=np.log(rng.uniform(0.8, 1.6, size=(1, *shape))),
        slope=np.full((1, *shape), slope),
        rate=np.array([rate]),
        balance=np.array([0.0]),
    )
    counts = np.ceil(400 * 2.0 ** -rng.uniform(0, 5, size=(n_trials, *shape))).astype(np.int64)
    cell = np.repeat(np.arange(6), n_tested)
    errors = np.stack([truth.predict_error(row.astype(float))[0].ravel() for row in counts])
    is_wrong = rng.random((n_trials, len(cell))) < errors[:, cell]
    return truth, Trials(counts=counts, is_wrong=is_wrong, is_tested=np.ones_like(is_wrong), cell=cell)


@pytest.mark.parametrize(("rate", "slope"), [(0.0, 0.4), (0.3, 0.25)])
def test_planted_curves_are_found(rate, slope):
    truth, trials = plant(rate=rate, slope=slope)
    found = fit_curves(trials, n_draws=20)
    assert found.rate[0] == pytest.approx(rate, abs=0.11)
    assert found.slope[0].mean() == pytest.approx(slope, abs=0.05)
    for counts in (np.full((3, 2), 100.0), np.full((3, 2), 800.0)):
        expected = truth.predict_error(counts)[0]
        draws = found.predict_error(counts)
        assert draws[0] == pytest.approx(expected, abs=0.03)
        assert (np.quantile(draws, 0.01, axis=0) - 0.02 < expected).all()


def test_cells_without_test_images_lean_on_the_others():
    _, trials = plant(rate=0.0, slope=0.4)
    unseen = trials.cell == 5
    part = Trials(
        counts=trials.counts,
        is_wrong=trials.is_wrong & ~unseen,
        is_tested=trials.is_tested & ~unseen,
        cell=trials.cell,
    )
    found = fit_curves(part, n_draws=10)
    assert np.isfinite(found.level).all()
    assert found.slope[0, 2, 1] == pytest.approx(float(found.slope[0].mean()), abs=0.1)


def test_nothing_to_learn_from_is_said():
    _, trials = plant(rate=0.0, slope=0.4)
    right = Trials(
        counts=trials.counts, is_wrong=np.zeros_like(trials.is_wrong), is_tested=trials.is_tested, cell=trials.cell
    )
    with pytest.raises(TableError, match="nothing to gain"):
        fit_curves(right)


@pytest.fixture(scope="module")
def thin_africa(make_world):
    """Return a world in which Africa looks different and has a tenth of the others' images."""
    features, images = make_world(sizes=[[12] * 3, [120] * 3, [120] * 3], shift=4.0)
    labelled = label_features(features, images, by="region")
    return labelled, make_probe_space(labelled.vectors, labelled.targets, n_labels=3)


@pytest.fixture(scope="module")
def plan(thin_africa):
    labelled, space = thin_africa
    return plan_purchase(labelled, space, config=PlanConfig(budget=100.0, price=1.0, n_trials=16, n_draws=30))


def test_a_plan_spends_its_budget_where_a_region_is_thin(plan):
    assert plan.quotas.sum() == 100
    assert plan.quotas[0].sum() > 60
    worst = len(plan.regions)
    assert plan.gain.low[worst] <= plan.gain.value[worst] <= plan.gain.high[worst]
    assert plan.gain.value[worst] > 0
    assert plan.lead["proportional"].value[0] > 0


def test_the_quota_file_says_what_the_plan_says(plan):
    import yaml

    table = make_quota_table(plan)
    assert table.columns == ["region", "label", "quota", "price"]
    assert table["quota"].sum() == 100
    assert (table["quota"] > 0).all()
    read = yaml.safe_load(write_quota_yaml(table, goal="worst", budget=100.0))
    assert read["quotas"] == table.to_dicts()
    rows = make_plan_rows(plan)
    assert rows.filter(rows["metric"] == "quota")["value"].sum() == 100
    assert "Buy 100 images for 100.00" in describe_plan(plan)[0]


def test_the_same_seed_gives_the_same_plan(thin_africa, plan):
    labelled, space = thin_africa
    again = plan_purchase(labelled, space, config=PlanConfig(budget=100.0, price=1.0, n_trials=16, n_draws=30))
    assert (again.quotas == plan.quotas).all()


def test_what_can_be_had_is_a_limit(thin_africa):
    labelled, space = thin_africa
    config = PlanConfig(budget=100.0, price=1.0, n_trials=8, n_draws=10)
    found = plan_purchase(labelled, space, config=config, most=np.full((3, 3), 7))
    assert found.quotas.max() <= 7
    assert found.quotas.sum() == 63


def test_equal_and_proportional_purchases():
    order = Order(have=np.array([[1, 3], [4, 0]]), prices=np.ones((2, 2)), budget=8.0)
    assert allocate_plainly(order, "equal").tolist() == [[2, 2], [2, 2]]
    assert allocate_plainly(order, "proportional").tolist() == [[1, 3], [4, 0]]
    capped = Order(have=order.have, prices=order.prices, budget=8.0, most=np.array([[1, 9], [9, 0]]))
    assert allocate_plainly(capped, "equal").tolist() == [[1, 4], [3, 0]]


@pytest.mark.parametrize("given", [{"budget": 1.0}, {"budget": 5.0, "price": 0.0}, {"budget": float("nan")}])
def test_budgets_that_buy_nothing_are_refused(given):
    with pytest.raises(ConfigError, match=r"expected"):
        PlanConfig(**given)


def test_one_region_is_refused(make_world):
    features, images = make_world(sizes=[[30] * 3, [0] * 3, [0] * 3])
    labelled = label_features(features, images, by="region")
    space = make_probe_space(labelled.vectors, labelled.targets, n_labels=3)
    with pytest.raises(TableError, match="all images are of the region 'Africa'"):
        plan_purchase(labelled, space, config=PlanConfig(budget=10.0))
