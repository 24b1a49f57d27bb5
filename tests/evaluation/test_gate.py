"""Gates: what a rule means, that any model can break it, that the undefined never passes, and errors that help."""

from __future__ import annotations

import math

import polars as pl
import pytest

from graticule.data.tables import METRICS
from graticule.errors import ConfigError
from graticule.evaluation.gate import check_gate, read_rule
from graticule.evaluation.gate_parser import AllOf, AnyOf, parse_rule

NAN = math.nan
ROWS = [
    ("n_images", None, None, None, None, 500.0, NAN, NAN, 500),
    ("n_images", None, "Africa", None, None, 40.0, NAN, NAN, 40),
    ("accuracy", "good", None, None, None, 0.9, 0.88, 0.92, 500),
    ("accuracy", "bad", None, None, None, 0.7, 0.66, 0.74, 500),
    ("accuracy", "good", "Africa", None, None, 0.85, 0.7, 0.93, 40),
    ("accuracy", "bad", "Africa", None, None, 0.6, 0.45, 0.73, 40),
    ("accuracy", "good", "South, East", "front door", None, 0.5, 0.2, 0.8, 9),
    ("accuracy", "bad", "South, East", "front door", None, NAN, NAN, NAN, 0),
    ("worst_gap", "good", None, None, None, 0.06, 0.0, 0.15, 500),
    ("worst_gap", "bad", None, None, None, 0.2, 0.12, 0.3, 500),
    ("worst_gap", "good", None, "dog", None, NAN, NAN, NAN, 0),
    ("worst_gap", "bad", None, "dog", None, NAN, NAN, NAN, 0),
    ("partition_flags", "good", None, None, "extremes", 2.0, NAN, NAN, 40),
    ("partition_flags", "bad", None, None, "extremes", 30.0, NAN, NAN, 40),
]


@pytest.fixture(scope="module")
def metrics():
    names = ("metric", "model", "region", "label", "group", "value", "low", "high", "n")
    return pl.DataFrame(ROWS, schema={name: METRICS.columns[name].dtype for name in names}, orient="row")


PASSING = [
    "worst_gap > 0.3",
    "worst_gap.low > 0.12",
    "accuracy < 0.6",
    "accuracy[model=good] < 0.8",
    "accuracy[region=Africa, model=good] < 0.8",
    "partition_flags[group=extremes] > 30",
    "n_images[region=Africa] < 40",
    "accuracy < 0.8 and worst_gap > 0.25",
    "(accuracy < 0.8 or worst_gap > 0.05) and n_images < 100",
    "accuracy.n < 500",
]
FAILING = {
    "worst_gap > 0.05": "good: worst_gap is 0.06 (0 to 0.15), > 0.05",
    "worst_gap.low > 0.05": "bad: worst_gap.low is 0.12, > 0.05",
    "worst_gap > 5%": "bad: worst_gap is 0.2 (0.12 to 0.3), > 0.05",
    "accuracy<0.8": "bad: accuracy is 0.7 (0.66 to 0.74), < 0.8",
    "accuracy[region=Africa] < 0.8": "bad: accuracy[region=Africa] is 0.6 (0.45 to 0.73), < 0.8",
    "accuracy[region=*] < 0.65": "bad: accuracy[region=Africa] is 0.6 (0.45 to 0.73), < 0.65",
    "accuracy[model=*] < 0.8": "bad: accuracy is 0.7 (0.66 to 0.74), < 0.8",
    "accuracy[region='South, East', label=front door] < .6": "good: accuracy[region=South, East, label=front door] is",
    "n_images[region=Africa] <= 40": "n_images[region=Africa] is 40, <= 40",
    "accuracy < 0.8 and worst_gap > 0.1": "bad: worst_gap is 0.2",
    "accuracy < 0.1 or partition_flags[group=extremes] >= 3": "bad: partition_flags[group=extremes] is 30, >= 3",
    "(accuracy < 0.8 or worst_gap > 0.05) and n_images > 100": "n_images is 500, > 100",
}


@pytest.mark.parametrize("rule", PASSING)
def test_rules_that_hold_for_no_model_pass(rule, metrics):
    found = check_gate(rule, metrics)
    assert not found.has_failed
    assert found.reasons == ()


@pytest.mark.parametrize("rule", FAILING)
def test_rules_that_hold_for_any_model_fail_and_say_why(rule, metrics):
    found = check_gate(rule, metrics)
    assert found.has_failed
    assert any(reason.startswith(FAILING[rule]) for reason in found.reasons), found.reasons


@pytest.mark.parametrize(
    "rule",
    [
        "worst_gap[label=dog] > 0.05",
        "worst_gap[label=dog] < 0.05",
        "worst_gap[label=dog].low > 0.05",
        "accuracy[region='South, East', label='front door', model=bad] < 0.9",
        "accuracy[region='South, East', label='front door', model=bad] > 0.9",
        "accuracy < 0.1 or worst_gap[label=dog] > 0.5",
    ],
)
def test_what_is_not_defined_never_passes_silently(rule, metrics):
    found = check_gate(rule, metrics)
    assert found.has_failed
    assert any("is not defined (n = 0)" in reason for reason in found.reasons)


def test_and_needs_both_parts_of_the_same_model(metrics):
    assert not check_gate("accuracy > 0.8 and worst_gap > 0.1", metrics).has_failed
    assert check_gate("accuracy > 0.8 and worst_gap > 0.05", metrics).has_failed


def test_a_model_named_in_a_rule_stands_for_itself(metrics):
    assert check_gate("accuracy[model=bad] < 0.8 and accuracy[model=good] > 0.8", metrics).has_failed


ERRORS = {
    "wurst_gap > 0.05": "unknown metric 'wurst_gap'.*Did you mean 'worst_gap'",
    "worst_gap > 5": "a fraction from -1 to 1. Did you mean 0.05",
    "worst_gap": "expected one of > >= < <= at its end",
    "worst_gap >": "expected a number at its end",
    "worst_gap > x": "expected a number at 'x'",
    "worst_gap = 0.05": "expected one of > >= < <= at '= 0.05'",
    "worst_gap == 0.05": "expected one of > >= < <=",
    "0.05 < worst_gap": "expected the name of a metric at '0.05 < worst_gap'",
    "worst_gap.mean > 0.05": "unknown bound 'mean'",
    "accuracy[place=Africa] < 0.5": "unknown key 'place'",
    "accuracy[Africa] < 0.5": "expected key=name between the brackets",
    "accuracy[region=Afrika] < 0.5": "no accuracy at .*region: 'Africa', 'South, East'",
    "(accuracy < 0.5": r"expected '\)' at its end",
    "accuracy < 0.5)": r"expected 'and', 'or' or the end at '\)'",
    "accuracy < 0.5 worst_gap > 0.1": "expected 'and', 'or' or the end at 'worst_gap > 0.1'",
    "": "expected the name of a metric at its end",
    "accuracy < 0.5; import os": "not understood at '; import os'|expected 'and', 'or' or the end",
    "__import__('os').system('true') > 0": "unknown metric|expected",
    "calibration_error > 0.1": "no calibration_error.*do not hold what it needs",
    "accuracy[model=ugly] < 0.5": "no accuracy at .*model: 'bad', 'good'",
}


@pytest.mark.parametrize("rule", ERRORS)
def test_rules_that_cannot_be_checked_are_refused_with_help(rule, metrics):
    with pytest.raises(ConfigError, match=f"(?s){ERRORS[rule]}"):
        check_gate(rule, metrics)


def test_a_rule_can_be_read_before_there_is_an_audit():
    assert str(read_rule("accuracy[region=Africa].high < 80%")) == "accuracy[region=Africa].high < 0.8"
    with pytest.raises(ConfigError, match="unknown metric"):
        read_rule("gap > 0.1")


def test_numbers_of_what_people_see_may_be_named_too():
    assert read_rule("multi_label_accuracy < 0.9").metric == "multi_label_accuracy"


def test_and_binds_tighter_than_or():
    rule = parse_rule("accuracy < 0.5 or accuracy < 0.6 and worst_gap > 0.1")
    assert isinstance(rule, AnyOf)
    assert isinstance(rule.parts[1], AllOf)
