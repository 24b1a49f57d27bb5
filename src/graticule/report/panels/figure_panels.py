"""The panels that hold figures: their titles, what they ask, and one block a model."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.report.figures import FIGURES
from graticule.report.figures.figure import Figure
from graticule.report.groups import Groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The figures of one model, or of all together."""

    model: str
    """Empty for all models together."""
    figures: tuple[Figure, ...]
    absent: tuple[str, ...]
    """Why a figure of the panel is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel of figures."""

    key: str
    title: str
    question: str
    blocks: tuple[Block, ...]
    absent: str
    """Why there is no figure; empty if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a panel is to hold."""

    title: str
    question: str
    figures: tuple[str, ...]


PLANS: dict[str, Plan] = {
    "groups": Plan(
        title="Accuracy by {one}",
        question="Where is the model right less often, and is the difference larger than its uncertainty?",
        figures=("region_accuracy",),
    ),
    "map": Plan(title="On the map", question="Which parts of the world are served worst?", figures=("world_map",)),
    "labels": Plan(
        title="Label by label, against chance",
        question="Which labels differ between {many} more than a random split of their images would?",
        figures=("label_ranges",),
    ),
    "cells": Plan(
        title="Every label in every {one}",
        question="Exactly which label fails where? Choose a cell to see its failures.",
        figures=("heatmap",),
    ),
    "confusions": Plan(
        title="What is taken for what",
        question="Do the {many} fail in the same way, or each in its own?",
        figures=("confusions", "confusion_matrix"),
    ),
    "probabilities": Plan(
        title="How sure of the right label",
        question="Does the model give the right label as much probability in every {one}?",
        figures=("probability_boxes",),
    ),
    "calibration": Plan(
        title="Confidence against accuracy",
        question="Can its confidence be trusted equally in every {one}?",
        figures=("calibration",),
    ),
    "people": Plan(
        title="By what people see",
        question="How much of a difference between {many} is left when any label that people accept counts as right?",
        figures=("label_fidelity",),
    ),
    "doubts": Plan(
        title="Can the labels be trusted?",
        question="Where did people see something else than the data set says, and which labels do they mix up?",
        figures=("label_doubts", "ambiguous_pairs"),
    ),
    "models": Plan(
        title="Models side by side",
        question="Which model is better, and is it better everywhere?",
        figures=("model_differences",),
    ),
}
"""Panel → plan; ``{one}`` and ``{many}`` stand for what is compared."""


def draw_panels(metrics: pl.DataFrame, *, groups: Groups, models: tuple[str, ...]) -> dict[str, Panel]:
    """Return the panels of figures, drawn."""
    return {
        key: _draw_panel(key, plan=plan, metrics=metrics, groups=groups, models=models) for key, plan in PLANS.items()
    }


def _draw_panel(key: str, *, plan: Plan, metrics: pl.DataFrame, groups: Groups, models: tuple[str, ...]) -> Panel:
    drawers = [FIGURES[name] for name in plan.figures]
    if any(drawer.each_model for drawer in drawers):
        subjects = [(model, (model,)) for model in models]
    else:
        subjects = [("", models)]
    words = {"one": groups.one, "many": groups.many}
    blocks: list[Block] = []
    for name, subject in subjects:
        drawn = [(drawer, drawer.draw(metrics, groups, subject)) for drawer in drawers]
        figures = tuple(figure for _, figure in drawn if figure is not None)
        absent = tuple(drawer.needs.format(**words) for drawer, figure in drawn if figure is None)
        if figures:
            blocks.append(Block(model=name, figures=figures, absent=absent))
    return Panel(
        key=key,
        title=plan.title.format(**words),
        question=plan.question.format(**words),
        blocks=tuple(blocks),
        absent="" if blocks else drawers[0].needs.format(**words),
    )
