"""What every validator must do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graticule.adaptation.validators import VALIDATORS
from graticule.adaptation.validators.dev import find_density_ratios
from graticule.adaptation.validators.seen import Seen

NAMES = list(VALIDATORS)
N_LABELS = 4


def look(seed=0, *, certainty=4.0, wrong=0.1, shift=0.5, n=80):
    rng = np.random.default_rng(seed)

    def logits(labels, share):
        said = np.where(rng.random(len(labels)) < share, (labels + 1) % N_LABELS, labels)
        return np.eye(N_LABELS)[said] * certainty + rng.normal(size=(len(labels), N_LABELS)) * 0.3

    source_labels = rng.integers(0, N_LABELS, n)
    return Seen(
        source_features=rng.normal(size=(n, 5)),
        source_logits=logits(source_labels, wrong),
        source_labels=source_labels,
        training_features=rng.normal(size=(n, 5)),
        target_features=rng.normal(size=(n - 10, 5)) + shift,
        target_logits=logits(rng.integers(0, N_LABELS, n - 10), wrong),
    )


def permuted(seen, order):
    return Seen(
        source_features=seen.source_features,
        source_logits=seen.source_logits,
        source_labels=seen.source_labels,
        training_features=seen.training_features,
        target_features=seen.target_features[order],
        target_logits=seen.target_logits[order],
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_validator_stands_in_a_file_of_its_name(name):
    assert VALIDATORS[name].__module__.endswith(f".{name}")
    assert VALIDATORS[name].__name__ == f"score_{name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_images_changes_nothing(name):
    seen = look()
    order = np.random.default_rng(1).permutation(len(seen.target_logits))
    assert VALIDATORS[name](seen) == pytest.approx(VALIDATORS[name](permuted(seen, order)), rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_finite_where_predictions_are_extreme(name):
    assert math.isfinite(VALIDATORS[name](look(certainty=2000.0)))
    assert math.isfinite(VALIDATORS[name](look(certainty=0.0)))


@pytest.mark.parametrize("name", ["entropy", "infomax", "bnm", "corr_c"])
def test_sure_and_balanced_predictions_are_liked(name):
    assert VALIDATORS[name](look(certainty=8.0)) > VALIDATORS[name](look(certainty=1.0))


@pytest.mark.parametrize("name", ["source_accuracy", "dev"])
def test_errors_at_home_are_disliked(name):
    assert VALIDATORS[name](look(wrong=0.05)) > VALIDATORS[name](look(wrong=0.5))


def test_dev_s_density_ratios_average_to_one_and_grow_towards_the_target():
    seen = look(shift=0.5, n=2000)
    ratios = find_density_ratios(seen)
    assert ratios.mean() == pytest.approx(1, abs=0.15)
    assert np.corrcoef(ratios, seen.source_features.sum(axis=1))[0, 1] > 0.5


def probabilities(seen):
    exp = np.exp(seen.target_logits)
    return exp / exp.sum(axis=1, keepdims=True)


def slow_snd(seen):
    p = probabilities(seen)
    total = 0.0
    for i in range(len(p)):
        exps = [
            math.exp(float(p[i] @ p[j]) / np.linalg.norm(p[i]) / np.linalg.norm(p[j]) / 0.05)
            for j in range(len(p))
            if j != i
        ]
        total -= sum(e / sum(exps) * math.log(e / sum(exps)) for e in exps)
    return total / len(p)


def slow_infomax(seen):
    p = probabilities(seen)
    mean = p.mean(axis=0)
    return -sum(m * math.log(m) for m in mean) + sum(float(v) * math.log(v) for row in p for v in row) / len(p)


def slow_corr_c(seen):
    p = probabilities(seen)
    both = [[sum(p[i, a] * p[i, b] for i in range(len(p))) for b in range(N_LABELS)] for a in range(N_LABELS)]
    length = math.sqrt(sum(value**2 for row in both for value in row))
    return sum(both[k][k] for k in range(N_LABELS)) / length / math.sqrt(N_LABELS)


def slow_bnm(seen):
    p = probabilities(seen)
    return float(np.sqrt(np.clip(np.linalg.eigvalsh(p.T @ p), 0, None)).sum() / math.sqrt(len(p) * N_LABELS))


@pytest.mark.parametrize(
    ("name", "slow"),
    [("snd", slow_snd), ("infomax", slow_infomax), ("corr_c", slow_corr_c), ("bnm", slow_bnm)],
)
def test_validators_equal_loops(name, slow):
    assert VALIDATORS[name](look()) == pytest.approx(slow(look()), rel=1e-9)
