"""A plan as rows of the metrics table, as the quota table of a collection campaign, and in sentences."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.estimates import Estimates, as_estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.value.plan import Plan

FITTED = "fitted learning curves; range over draws of trials and test images"
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Multiples of the images there are at which the curves are told."""


def make_plan_rows(plan: Plan, *, confidence: float = 0.95) -> pl.DataFrame:
    """Return rows of the metrics table; ``n_train`` is the number of training images."""
    cells = [(region, label) for region in plan.regions for label in plan.labels]
    regions, labels = [region for region, _ in cells], [label for _, label in cells]
    have, quotas = plan.have.ravel(), plan.quotas.ravel()
    places: list[str | None] = [*plan.regions, None, None]
    groups: list[str | None] = [*([None] * len(plan.regions)), "worst region", "mean of regions"]
    frames = [
        make_rows("images", as_estimates(have.astype(np.float64), have), model=None, region=regions, label=labels),
        make_rows("quota", as_estimates(quotas.astype(np.float64), have), model=None, region=regions, label=labels),
    ]
    for metric, found in (("accuracy_now", plan.now), ("accuracy_then", plan.then), ("accuracy_gain", plan.gain)):
        frames.append(make_rows(metric, found, model=None, region=places, group=groups, method=FITTED))
    for name, found in plan.lead.items():
        frames.append(make_rows("gain_beyond", found, model=None, group=name, method=FITTED))
    tail = [(1 - confidence) / 2, (1 + confidence) / 2]
    for scale in SCALES:
        counts = plan.have * scale
        regional = 1 - plan.curves.predict_error(counts).mean(axis=2)
        low, high = np.quantile(regional[1:], tail, axis=0)
        n = counts.sum(axis=1).round().astype(np.int64)
        found = Estimates(value=regional[0], low=np.minimum(low, regional[0]), high=np.maximum(high, regional[0]), n=n)
        frames.append(
            make_rows(
                "learning_curve", found, model=None, region=list(plan.regions), group=f"{scale:g}", method=FITTED
            ).with_columns(n_train=pl.Series(n))
        )
    return pl.concat([*frames, _list_slopes(plan)], how="diagonal")


def make_quota_table(plan: Plan) -> pl.DataFrame:
    """Return what a campaign reads: region, label, quota, price; cells without a quota are left out."""
    rows = [
        {"region": region, "label": label, "quota": int(plan.quotas[r, k]), "price": plan.price}
        for r, region in enumerate(plan.regions)
        for k, label in enumerate(plan.labels)
        if plan.quotas[r, k]
    ]
    return pl.DataFrame(
        rows, schema={"region": pl.String, "label": pl.String, "quota": pl.Int64, "price": pl.Float64}
    ).sort("quota", "region", "label", descending=[True, False, False])


def write_quota_yaml(quotas: pl.DataFrame, *, goal: str, budget: float) -> str:
    """Return the quota table as YAML, with the goal and the budget."""
    import yaml

    text = {"goal": goal, "budget": budget, "quotas": quotas.to_dicts()}
    return yaml.safe_dump(text, sort_keys=False, allow_unicode=True)


def describe_plan(plan: Plan) -> list[str]:
    """Return what to buy and what that should give, in sentences."""
    quotas = make_quota_table(plan)
    bought = int(plan.quotas.sum())
    cells = ", ".join(f"{row['quota']} of {row['label']} in {row['region']}" for row in quotas.head(5).to_dicts())
    more = f" and {quotas.height - 5} other cells" if quotas.height > 5 else ""
    place = len(plan.regions) + (0 if plan.goal == "worst" else 1)
    name = "The worst region" if plan.goal == "worst" else "The mean of all regions"
    lines = [
        f"Buy {bought:,} images for {bought * plan.price:,.2f}: {cells}{more}.",
        f"{name} should go from {100 * plan.now.value[place]:.1f}% to {100 * plan.then.value[place]:.1f}%: "
        f"{_points(plan.gain, place)} points.",
    ]
    for kind, lead in plan.lead.items():
        word = "the same number in every cell" if kind == "equal" else "as many in proportion to what there is"
        lines.append(f"That is {_points(lead, 0)} points more than {word} should give.")
    return lines


def _list_slopes(plan: Plan) -> pl.DataFrame:
    slope = plan.curves.slope
    flat = slope.reshape(len(slope), -1)
    low, high = np.quantile(flat[1:], [0.025, 0.975], axis=0)
    found = Estimates(
        value=flat[0],
        low=np.minimum(low, flat[0]),
        high=np.maximum(high, flat[0]),
        n=plan.have.ravel().astype(np.int64),
    )
    return make_rows(
        "learning_exponent",
        found,
        model=None,
        region=[region for region in plan.regions for _ in plan.labels],
        label=[label for _ in plan.regions for label in plan.labels],
        method=FITTED,
    )


def _points(found: Estimates, place: int) -> str:
    value, low, high = (100 * part[place] for part in (found.value, found.low, found.high))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
