"""A gate for somebody's CI: does a rule over the metrics hold for any model?

``--fail-if 'worst_gap > 0.05'`` fails when any model's gap is wider. A number that is not defined (a region without
images, a gap of one region) cannot be shown to be good, so it fails too, with the reason said.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from graticule.errors import ConfigError, shown, unknown_choice
from graticule.evaluation import multi_label
from graticule.evaluation.audit import METRIC_NAMES
from graticule.evaluation.gate_parser import KEYS, AllOf, Comparison, Rule, parse_rule
from graticule.evaluation.numbers import Number, Numbers, Place

COMPARE = {">": operators.gt, ">=": operators.ge, "<": operators.lt, "<=": operators.le}
COUNTS = frozenset(
    (
        "n_images",
        "n_dropped",
        "n_labels_mapped",
        "n_unlisted_predictions",
        "partition_flags",
        "partition_flags_expected",
    )
)
"""Metrics of the audit that are counts; its others are fractions, their differences or p-values, from -1 to 1."""
KNOWN = (*METRIC_NAMES, *multi_label.NAMES)
ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a rule gave.

    Parameters
    ----------
    has_failed
        Whether the rule holds for any model, which is what the gate is to stop.
    reasons
        A sentence for each number that made it hold.
    """

    has_failed: bool
    reasons: tuple[str, ...]


def read_rule(text: str) -> Rule:
    """Return a rule after checking that it names metrics and limits that can be met, before an audit is run.

    Raises
    ------
    ConfigError
        The rule is not understood, names an unknown metric, or compares a fraction with a number beyond 1.
    """
    rule = parse_rule(text)
    for comparison in _list_comparisons(rule):
        if comparison.metric not in KNOWN:
            raise unknown_choice("metric", comparison.metric, KNOWN, where=f"rule '{text}'")
        is_fraction = comparison.metric in METRIC_NAMES and comparison.metric not in COUNTS and comparison.bound != "n"
        if is_fraction and abs(comparison.limit) > 1:
            raise ConfigError(
                f"rule '{text}': {comparison.metric} is compared with {comparison.limit:g}, expected a fraction from "
                f"-1 to 1. Did you mean {comparison.limit / 100:g} (or {comparison.limit:g}%)?"
            )
    return rule


def check_gate(text: str, metrics: pl.DataFrame) -> GateResult:
    """Return whether a rule holds for any model of a metrics table.

    Parameters
    ----------
    text
        The rule; see `graticule.evaluation.gate_parser`. A key that is not given means all: ``accuracy < 0.8`` is the
        accuracy over all regions and labels, ``accuracy[region=Africa] < 0.8`` that of one region,
        ``accuracy[region=*] < 0.8`` of any.
    metrics
        The metrics table.

    Raises
    ------
    ConfigError
        The rule is not understood, or names a number that the table does not have.

    Notes
    -----
    The rule is looked at for each model by itself; numbers that concern no model (``n_images``) hold for every one. An
    undefined number counts as breaking its limit; rules have no negation, so an undefined number can only make a gate
    fail, never pass.
    """
    rule = read_rule(text)
    names = {comparison.metric for comparison in _list_comparisons(rule)}
    numbers = Numbers(metrics, names)
    models: list[str | None] = list(metrics["model"].drop_nulls().unique(maintain_order=True))
    reasons: list[str] = []
    for model in models or [None]:
        for reason in _check(rule, numbers, model, text):
            if reason not in reasons:
                reasons.append(reason)
    return GateResult(has_failed=bool(reasons), reasons=tuple(reasons))


def _list_comparisons(rule: Rule) -> list[Comparison]:
    if isinstance(rule, Comparison):
        return [rule]
    return [comparison for part in rule.parts for comparison in _list_comparisons(part)]


def _check(rule: Rule, numbers: Numbers, model: str | None, text: str) -> list[str]:
    """Return why the rule holds for a model; empty if it does not."""
    if isinstance(rule, Comparison):
        return _compare(rule, numbers, model, text)
    found = [_check(part, numbers, model, text) for part in rule.parts]
    if isinstance(rule, AllOf) and not all(found):
        return []
    return [reason for reasons in found for reason in reasons]


def _compare(comparison: Comparison, numbers: Numbers, model: str | None, text: str) -> list[str]:
    reasons: list[str] = []
    for place, number in _find(comparison, numbers, model, text):
        value = float(getattr(number, comparison.bound))
        if math.isnan(value):
            reasons.append(f"{_name(place, comparison)} is not defined (n = {number.n:,})")
        elif COMPARE[comparison.operator](value, comparison.limit):
            reasons.append(
                f"{_name(place, comparison)} is {_write(value)}{_write_interval(number, comparison)}, "
                f"{comparison.operator} {comparison.limit:g}"
            )
    return reasons


def _find(comparison: Comparison, numbers: Numbers, model: str | None, text: str) -> Sequence[tuple[Place, Number]]:
    """Return the numbers that a comparison means; a model named in it stands for itself, whichever is looked at."""
    wanted = comparison.places.get("model", model)
    of_metric = [item for item in numbers.places.items() if item[0].metric == comparison.metric]
    of_model = [item for item in of_metric if wanted == ANY or item[0].model == wanted]
    if not of_model and "model" not in comparison.places:
        of_model = [item for item in of_metric if item[0].model is None]
    found = of_model
    for key in ("region", "label", "group"):
        name = comparison.places.get(key)
        found = [item for item in found if _matches(getattr(item[0], key), name)]
    if not found:
        raise _no_number(comparison, of_metric, text)
    return found


def _matches(name: str | None, wanted: str | None) -> bool:
    return name is not None if wanted == ANY else name == wanted


def _no_number(comparison: Comparison, of_metric: Sequence[tuple[Place, Number]], text: str) -> ConfigError:
    choices: list[str] = []
    for key in KEYS:
        names = sorted({name for place, _ in of_metric if (name := getattr(place, key)) is not None})
        if names:
            choices.append(f"{key}: {shown(names, limit=10)}")
    has = f"It is known for {'; '.join(choices)}" if choices else "The predictions do not hold what it needs"
    return ConfigError(
        f"rule '{text}': there is no {comparison.metric} at '{comparison}', expected a number of the metrics table. "
        f"{has}. Name a place between brackets, as in accuracy[region=Africa]."
    )


def _name(place: Place, comparison: Comparison) -> str:
    parts = [f"{key}={name}" for key in KEYS if (name := getattr(place, key)) is not None and key != "model"]
    bound = "" if comparison.bound == "value" else f".{comparison.bound}"
    start = f"{place.model}: " if place.model is not None else ""
    return f"{start}{place.metric}{'[' + ', '.join(parts) + ']' if parts else ''}{bound}"


def _write(value: float) -> str:
    return f"{value:.4g}"


def _write_interval(number: Number, comparison: Comparison) -> str:
    if comparison.bound != "value" or math.isnan(number.low):
        return ""
    return f" ({_write(number.low)} to {_write(number.high)})"
