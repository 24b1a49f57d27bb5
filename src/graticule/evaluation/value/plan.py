"""What to buy next: learning curves, a budget, and how many images of each region and label gain most for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graticule.errors import ConfigError, TableError, shown
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.value.allocation import Order, allocate_budget
from graticule.evaluation.value.drawing import spread_evenly
from graticule.evaluation.value.labelled import Labelled
from graticule.evaluation.value.learning_curves import Curves, fit_curves
from graticule.evaluation.value.trials import Trials, run_trials
from graticule.models.probe_space import ProbeSpace

PRICE_USD = 1.08
"""What an image of GeoDE cost, researchers' time not counted (GeoDE, section 3)."""
FEWEST_IMAGES = 40
ALTERNATIVES = ("equal", "proportional")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanConfig:
    """How a plan is made."""

    budget: float
    """What may be spent, in the currency of the price."""
    price: float = PRICE_USD
    goal: str = "worst"
    """One of `graticule.evaluation.value.allocation.GOALS`."""
    n_trials: int = 32
    """Probes that the learning curves are fitted to."""
    n_draws: int = 100
    """Bootstrap draws of the curves."""
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if not 0 < self.price < float("inf") or not np.isfinite(self.budget):
            raise ConfigError(
                f"--budget {self.budget:g}, --price {self.price:g}: expected a price above 0 and a number. An image of "
                f"GeoDE cost {PRICE_USD} USD."
            )
        if self.budget < self.price:
            raise ConfigError(
                f"--budget {self.budget:g}: less than the price of one image, {self.price:g} (--price); expected "
                "enough for some. Raise --budget."
            )
        if self.n_trials < 8 or self.n_draws < 10:
            raise ConfigError(
                f"{self.n_trials} trials and {self.n_draws} draws: expected at least 8 and 10. Leave them out for the "
                "defaults."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """What to buy, and what that should give.

    Parameters
    ----------
    regions, labels
        Names, ``r`` and ``k`` of them.
    have, quotas
        Images that there are, and images to buy, shape ``(r, k)``.
    price
        Of an image.
    goal
        What was made as large as can be.
    curves
        The learning curves.
    trials
        What they were fitted to.
    now, then
        Expected accuracy of each region before and after, the worst region's and the mean of all last, shape
        ``(r + 2,)``.
    gain
        What each gains.
    lead
        Alternative → what the plan's gain in its goal is beyond that of the alternative; length one.
    """

    regions: tuple[str, ...]
    labels: tuple[str, ...]
    have: Int[np.ndarray, "r k"]
    quotas: Int[np.ndarray, "r k"]
    price: float
    goal: str
    curves: Curves
    trials: Trials
    now: Estimates
    then: Estimates
    gain: Estimates
    lead: dict[str, Estimates]


def plan_purchase(
    images: Labelled,
    space: ProbeSpace,
    *,
    config: PlanConfig,
    test: Int[np.ndarray, " q"] | None = None,
    most: Int[np.ndarray, "r k"] | None = None,
    seed: int = 0,
    shown_progress: bool = False,
) -> Plan:
    """Return how many images of each region and label to buy.

    Parameters
    ----------
    images
        The images that there are, and the test images if there are any.
    space
        The same images, ready for probes.
    config
        Budget, price, goal.
    test
        Rows of the test images; without them every image is tested by probes that did not see it.
    most
        Images of each region and label that can be had; None if there is no end to them.
    seed
        Seed of all draws.
    shown_progress
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError
        The budget is below the price of an image, or the goal is unknown.
    TableError
        There are fewer than two regions, or too few images.

    Notes
    -----
    A region's accuracy is the mean over its labels, each with the same weight.
    """
    if len(images.regions) < 2:
        raise TableError(
            f"plan: all images are of the region {''.join(images.regions)!r}, expected at least two regions to choose "
            "between. Choose another column with --by."
        )
    train = np.arange(len(images.targets))
    train = train if test is None else np.setdiff1d(train, test)
    have = images.take(train).count_cells()
    if len(train) < FEWEST_IMAGES or (have.sum(axis=0) == 0).any():
        empty = [name for name, n in zip(images.labels, have.sum(axis=0), strict=True) if n == 0]
        raise TableError(
            f"plan: {len(train)} images to train on, labels without one: {shown(empty) if empty else 'none'}; expected "
            f"at least {FEWEST_IMAGES} and some of every label. Take fewer images for --test."
        )
    trials = run_trials(
        space,
        train,
        test,
        region=images.region,
        n_regions=len(images.regions),
        groups=images.groups,
        n_trials=config.n_trials,
        seed=seed,
        shown=shown_progress,
    )
    curves = fit_curves(trials, n_draws=config.n_draws, seed=seed)
    order = Order(
        have=have,
        prices=np.full(have.shape, config.price),
        budget=config.budget,
        most=most,
        goal=config.goal,
    )
    quotas = allocate_budget(curves, order)
    before = _measure_regions(curves, have)
    after = _measure_regions(curves, have + quotas)
    n = np.array([*have.sum(axis=1), have.sum(), have.sum()])
    place = -2 if config.goal == "worst" else -1
    lead: dict[str, Estimates] = {}
    for name in ALTERNATIVES:
        other = _measure_regions(curves, have + allocate_plainly(order, name))
        lead[name] = _summarise((after - other)[:, place][:, None], n[-1:], config.confidence)
    return Plan(
        regions=images.regions,
        labels=images.labels,
        have=have,
        quotas=quotas,
        price=config.price,
        goal=config.goal,
        curves=curves,
        trials=trials,
        now=_summarise(before, n, config.confidence),
        then=_summarise(after, n, config.confidence),
        gain=_summarise(after - before, n, config.confidence),
        lead=lead,
    )


def allocate_plainly(order: Order, kind: str) -> Int[np.ndarray, "r k"]:
    """Return quotas that follow no curve: equal for every region and label, or in proportion to what there is."""
    weights = np.ones(order.have.shape, dtype=np.int64) if kind == "equal" else order.have
    most = np.full(order.have.shape, np.iinfo(np.int64).max // 2) if order.most is None else order.most
    quotas = np.zeros(order.have.shape, dtype=np.int64)
    total = min(int(order.budget / float(order.prices.mean()) + 1e-9), int(min(most.sum(dtype=np.float64), 2**62)))
    while (left := total - int(quotas.sum())) > 0:
        open_cells = np.where(quotas < most, weights, 0)
        if not open_cells.any():
            break
        quotas = np.minimum(quotas + spread_evenly(left, open_cells.ravel()).reshape(quotas.shape), most)
    return quotas


def _measure_regions(curves: Curves, counts: Int[np.ndarray, "r k"]) -> Float[np.ndarray, "p r2"]:
    """Return, for each draw, the accuracy of every region, of the worst one, and the mean."""
    regional = 1 - curves.predict_error(counts.astype(np.float64)).mean(axis=2)
    return np.concatenate([regional, regional.min(axis=1, keepdims=True), regional.mean(axis=1, keepdims=True)], axis=1)


def _summarise(draws: Float[np.ndarray, "p m"], n: Int[np.ndarray, " m"], confidence: float) -> Estimates:
    """Return the fit's own number, with the range of the draws."""
    low, high = np.quantile(draws[1:], [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    value = draws[0]
    return Estimates(value=value, low=np.minimum(low, value), high=np.maximum(high, value), n=n)
