"""The steps of ``graticule value plan``: the one place that joins curves, allocation, the quota file and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from graticule.cli.value_files import note_axes, read_pool, write_run
from graticule.data.store import replace_atomically, write_text
from graticule.errors import ConfigError, unknown_choice
from graticule.evaluation.value.allocation import GOALS
from graticule.evaluation.value.plan import PlanConfig, plan_purchase
from graticule.evaluation.value.tell_plan import describe_plan, make_plan_rows, make_quota_table, write_quota_yaml
from graticule.models.probe_space import ProbeSpaceConfig, make_probe_space
from graticule.report.value.page import Section
from graticule.report.value.plan import draw_expected, draw_learning_curves, draw_quotas


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What was typed after ``value plan``."""

    features: Path
    images: Path
    budget: float
    price: float
    goal: str
    most: int | None
    by: str
    test: str | None
    group: str | None
    n_trials: int
    inverse_penalty: float
    n_axes: int
    seed: int
    output: Path


def run_plan(request: PlanRequest) -> list[str]:
    """Write the folder of a plan, and return what to print.

    Raises
    ------
    GraticuleError
        The budget buys nothing, a table cannot be read or lacks labels or regions; nothing is written.
    """
    if request.goal not in GOALS:
        raise unknown_choice("goal", request.goal, GOALS, where="--goal")
    if request.most is not None and request.most < 1:
        raise ConfigError(f"--most {request.most}: expected at least one image of a region and label. Leave it out.")
    config = PlanConfig(budget=request.budget, price=request.price, goal=request.goal, n_trials=request.n_trials)
    probes = ProbeSpaceConfig(inverse_penalty=request.inverse_penalty, n_axes=request.n_axes)
    pool = read_pool(request.features, request.images, by=request.by, group=request.group)
    images = pool.labelled
    test = pool.find(request.test, where="--test") if request.test is not None else None
    space = make_probe_space(
        images.vectors, images.targets, n_labels=len(images.labels), config=probes, seed=request.seed
    )
    shape = (len(images.regions), len(images.labels))
    plan = plan_purchase(
        images,
        space,
        config=config,
        test=test,
        most=None if request.most is None else np.full(shape, request.most),
        seed=request.seed,
        shown_progress=True,
    )
    metrics = make_plan_rows(plan)
    quotas = make_quota_table(plan)
    sections = [
        Section(
            key="quotas",
            title="What to buy",
            question="How many images of each label in each region?",
            figures=(draw_quotas(metrics, plan.regions, plan.labels),),
        ),
        Section(
            key="expected",
            title="What it should give",
            question="How accurate would the same kind of model be in each region?",
            figures=(draw_expected(metrics, plan.regions),),
        ),
        Section(
            key="curves",
            title="Learning curves",
            question="Does more of the same still help?",
            figures=(draw_learning_curves(metrics, plan.regions),),
        ),
    ]
    lines = write_run(
        request.output,
        metrics,
        sections,
        command="plan",
        config=asdict(config) | asdict(probes) | {"most": request.most, "test": request.test, "by": request.by},
        inputs=[request.features, request.images],
        seed=request.seed,
        title="Which images to buy next",
        headline=describe_plan(plan),
        notes=[
            *images.notes,
            note_axes(space.kept_share),
            "The plan is for a linear probe on these features; another kind of model may want other images.",
            "Curves are drawn on beyond what was tried: buy in steps, and plan again after each.",
        ],
    )
    with replace_atomically(request.output / "quotas.csv") as temporary:
        quotas.write_csv(temporary)
    text = write_quota_yaml(quotas, goal=request.goal, budget=request.budget)
    write_text(text, request.output / "quotas.yaml")
    return [*lines, f"Quotas:  {request.output / 'quotas.csv'}"]
