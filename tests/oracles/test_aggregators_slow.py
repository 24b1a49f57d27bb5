"""Each aggregator against the obvious loops, written from its paper, on small crowds that hypothesis makes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from graticule.annotation.aggregation.dawid_skene import DawidSkene
from graticule.annotation.aggregation.glad import Glad
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.aggregation.hbcc import Hbcc
from graticule.annotation.aggregation.mace import Mace
from graticule.annotation.aggregation.majority import Majority
from graticule.annotation.aggregation.one_coin import OneCoin
from graticule.annotation.answers import code_answers

N_STEPS = 6
LEAST = 1e-10


@st.composite
def crowds(draw, min_labels=2):
    """(image, worker, label) of a crowd where every worker answers an image once."""
    n_images, n_workers = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    n_labels = draw(st.integers(min_labels, 4))
    answered = [(i, w) for i in range(n_images) for w in range(n_workers) if draw(st.booleans())]
    votes = [(i, w, draw(st.integers(0, n_labels - 1))) for i, w in answered] or [(0, 0, 0)]
    return votes


def code(votes):
    images, workers, labels = (list(column) for column in zip(*votes, strict=True))
    return code_answers(
        pl.DataFrame(
            {
                "task_id": [f"t{i}" for i in images],
                "worker_id": [f"w{w}" for w in workers],
                "image_id": [f"i{i}" for i in images],
                "label": [f"l{k}" for k in labels],
            }
        )
    )


def table(aggregate):
    """(image, label) → probability."""
    images = aggregate.images.gather(aggregate.image.astype(int)).to_list()
    labels = aggregate.labels.gather(aggregate.label.astype(int)).to_list()
    return dict(zip(zip(images, labels, strict=True), aggregate.probability.tolist(), strict=True))


def assert_same(aggregate, slow, votes, *, tolerance=1e-7):
    """Labels that are not listed are unlikely."""
    found = table(aggregate)
    for i in {image for image, _, _ in votes}:
        for k in {label for _, _, label in votes}:
            fast = found.get((f"i{i}", f"l{k}"))
            expected = slow[i][k]
            assert expected <= 2e-6 if fast is None else fast == pytest.approx(expected, abs=tolerance)


def shares(votes, labels):
    counts = defaultdict(Counter)
    for i, _, k in votes:
        counts[i][k] += 1
    return {i: {k: count[k] / sum(count.values()) for k in labels} for i, count in counts.items()}


def softmax(scores):
    top = max(scores.values())
    weights = {k: math.exp(score - top) for k, score in scores.items()}
    return {k: weight / sum(weights.values()) for k, weight in weights.items()}


def clamp(posterior, known):
    for i, right in known.items():
        if i in posterior:
            posterior[i] = {k: float(k == right) for k in posterior[i]}
    return posterior


def slow_dawid_skene(votes, smoothing, known):
    labels = sorted({k for _, _, k in votes} | set(known.values()))
    workers = {w for _, w, _ in votes}
    posterior = clamp(shares(votes, labels), known)
    for _ in range(N_STEPS):
        prior = {k: max(sum(p[k] for p in posterior.values()) / len(posterior), LEAST) for k in labels}
        confusion = {}
        for w in workers:
            for truth in labels:
                cells = {
                    answer: max(
                        sum(posterior[i][truth] for i, v, a in votes if v == w and a == answer) + smoothing, LEAST
                    )
                    for answer in labels
                }
                for answer in labels:
                    confusion[w, truth, answer] = cells[answer] / sum(cells.values())
        posterior = clamp(
            {
                i: softmax(
                    {
                        k: math.log(prior[k]) + sum(math.log(confusion[w, k, a]) for j, w, a in votes if j == i)
                        for k in labels
                    }
                )
                for i in posterior
            },
            known,
        )
    return posterior


@settings(deadline=None, max_examples=60)
@given(crowds(), st.sampled_from([0.01, 1.0]))
def test_dawid_skene_equals_the_loops(votes, smoothing):
    model = DawidSkene(pool_lone_workers=False, max_iterations=N_STEPS, tolerance=0.0, smoothing=smoothing)
    answers = code(votes)
    assert_same(run_all(model, answers), slow_dawid_skene(votes, smoothing, {}), votes, tolerance=1e-6)


def run_all(model, answers, gold=None):
    """All steps: a tolerance of 0 may end a fit early only where nothing moves any more."""
    return model.aggregate(answers, gold=gold)


@settings(deadline=None, max_examples=40)
@given(crowds())
def test_dawid_skene_holds_known_labels_as_the_loops_do(votes):
    answers = code(votes)
    image, _, label = votes[0]
    gold = code_gold(pl.DataFrame({"image_id": [f"i{image}"], "label": [f"l{label}"]}), answers)
    model = DawidSkene(pool_lone_workers=False, max_iterations=N_STEPS, tolerance=0.0, smoothing=0.5)
    slow = slow_dawid_skene(votes, 0.5, {image: label})
    assert_same(run_all(model, answers, gold), slow, votes, tolerance=1e-6)
    assert table(model.aggregate(answers, gold=gold))[f"i{image}", f"l{label}"] == 1.0


def slow_answered(votes, smoothing):
    """Dawid–Skene where an image's label is one of those given to it."""
    labels = sorted({k for _, _, k in votes})
    given_to = defaultdict(set)
    for i, _, k in votes:
        given_to[i].add(k)
    posterior = {i: {k: share.get(k, 0.0) for k in given_to[i]} for i, share in shares(votes, labels).items()}
    for _ in range(N_STEPS):
        prior = {k: sum(p.get(k, 0.0) for p in posterior.values()) / len(posterior) for k in labels}
        counts = Counter()
        for i, w, a in votes:
            for k in given_to[i]:
                counts[w, k, a] += posterior[i][k]
        rows = Counter()
        for (w, k, _), count in counts.items():
            rows[w, k] += count
        posterior = {
            i: softmax(
                {
                    k: math.log(max(prior[k], LEAST))
                    + sum(
                        math.log(max((counts[w, k, a] + smoothing) / (rows[w, k] + smoothing * len(labels)), LEAST))
                        for j, w, a in votes
                        if j == i
                    )
                    for k in given_to[i]
                }
            )
            for i in posterior
        }
    return {i: {k: p.get(k, 0.0) for k in labels} for i, p in posterior.items()}


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_dawid_skene_over_answered_labels_equals_the_loops(votes):
    model = DawidSkene(
        pool_lone_workers=False, max_iterations=N_STEPS, tolerance=0.0, smoothing=0.5, candidates="answered"
    )
    assert_same(run_all(model, code(votes)), slow_answered(votes, 0.5), votes, tolerance=1e-6)


def slow_one_coin(votes, smoothing):
    labels = sorted({k for _, _, k in votes})
    wrong_ways = max(len(labels) - 1, 1)
    posterior = shares(votes, labels)
    for _ in range(N_STEPS):
        prior = {k: max(sum(p[k] for p in posterior.values()) / len(posterior), LEAST) for k in labels}
        skill = {}
        for w in {v for _, v, _ in votes}:
            own = [(i, a) for i, v, a in votes if v == w]
            right = sum(posterior[i][a] for i, a in own) + smoothing
            skill[w] = min(max(right / (len(own) + 2 * smoothing), LEAST), 1 - LEAST)
        posterior = {
            i: softmax(
                {
                    k: math.log(prior[k])
                    + sum(math.log(skill[w] if a == k else (1 - skill[w]) / wrong_ways) for j, w, a in votes if j == i)
                    for k in labels
                }
            )
            for i in posterior
        }
    return posterior


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_one_coin_equals_the_loops(votes):
    model = OneCoin(max_iterations=N_STEPS, tolerance=0.0, smoothing=0.5)
    assert_same(run_all(model, code(votes)), slow_one_coin(votes, 0.5), votes, tolerance=1e-6)


def slow_mace(votes):
    labels = sorted({k for _, _, k in votes})
    workers = {w for _, w, _ in votes}
    images = {i for i, _, _ in votes}
    knows, makes_up = dict.fromkeys(workers, 0.5), dict.fromkeys(workers, 0.5)
    habit = {(w, k): 1 / len(labels) for w in workers for k in labels}
    for step in range(N_STEPS + 1):
        posterior = {
            i: softmax(
                {
                    k: sum(math.log(knows[w] * (a == k) + makes_up[w] * habit[w, a]) for j, w, a in votes if j == i)
                    for k in labels
                }
            )
            for i in images
        }
        if step == N_STEPS:
            return posterior
        knew, spammed, habits = Counter(), Counter(), Counter()
        for i, w, a in votes:
            share = posterior[i][a] * knows[w] / (knows[w] + makes_up[w] * habit[w, a])
            knew[w] += share
            spammed[w] += 1 - share
            habits[w, a] += 1 - share
        for w in workers:
            total = knew[w] + spammed[w] + 1.0
            knows[w] = math.exp(digamma(knew[w] + 0.5) - digamma(total))
            makes_up[w] = math.exp(digamma(spammed[w] + 0.5) - digamma(total))
            all_habits = sum(habits[w, k] + 10.0 for k in labels)
            for k in labels:
                habit[w, k] = math.exp(digamma(habits[w, k] + 10.0) - digamma(all_habits))
    return None


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_mace_equals_the_loops(votes):
    model = Mace(max_iterations=N_STEPS, tolerance=0.0)
    assert_same(run_all(model, code(votes)), slow_mace(votes), votes, tolerance=1e-6)


def slow_glad_posterior(votes, ability, easiness):
    labels = sorted({k for _, _, k in votes})
    wrong_ways = max(len(labels) - 1, 1)

    def right(w, i):
        return 1 / (1 + math.exp(-ability[w] * easiness[i]))

    return {
        i: softmax(
            {
                k: sum(
                    math.log(right(w, i) if a == k else (1 - right(w, i)) / wrong_ways) for j, w, a in votes if j == i
                )
                for k in labels
            }
        )
        for i in {image for image, _, _ in votes}
    }


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_the_first_step_of_glad_equals_the_loops(votes):
    """The first E-step has every ability and log-easiness at the mean of its prior."""
    ability, easiness = defaultdict(lambda: 1.0), defaultdict(lambda: math.e)
    slow = slow_glad_posterior(votes, ability, easiness)
    assert_same(Glad(max_iterations=1).aggregate(code(votes)), slow, votes)


@settings(deadline=None, max_examples=20)
@given(crowds())
def test_glad_ends_where_the_expected_log_likelihood_is_highest(votes):
    """Against a general optimiser on the objective as the paper writes it."""
    from scipy.optimize import minimize

    images, workers = sorted({i for i, _, _ in votes}), sorted({w for _, w, _ in votes})
    labels = sorted({k for _, _, k in votes})
    posterior = slow_glad_posterior(votes, defaultdict(lambda: 1.0), defaultdict(lambda: math.e))

    def minus_objective(parameters):
        ability = dict(zip(workers, parameters, strict=False))
        log_easiness = dict(zip(images, parameters[len(workers) :], strict=False))
        total = -0.5 * sum((parameters - 1) ** 2)
        for i, w, a in votes:
            right = 1 / (1 + math.exp(-ability[w] * math.exp(log_easiness[i])))
            for k in labels:
                wrong = (1 - right) / max(len(labels) - 1, 1)
                total += posterior[i][k] * math.log(max(right if a == k else wrong, 1e-300))
        return -total

    best = minimize(minus_objective, np.ones(len(workers) + len(images)), method="BFGS", tol=1e-9)
    found = Glad(max_iterations=1, max_steps=500, step_tolerance=1e-7).aggregate(code(votes))
    constant = 0.5 * (len(workers) + len(images)) * math.log(2 * math.pi)
    assert found.log_likelihood[-1] + constant == pytest.approx(-best.fun, abs=1e-5)


def slow_hbcc(votes, subtypes):
    """One type, no learned prior to speak of: independent Bayesian classifier combination (with one subtype)."""
    labels = sorted({k for _, _, k in votes})
    workers = {w for _, w, _ in votes}
    share = shares(votes, labels)
    base = {k: max(sum(p[k] for p in share.values()), 1e-2) for k in labels}
    posterior = share
    for _ in range(subtypes):
        count = {k: base[k] + sum(p[k] for p in posterior.values()) for k in labels}
        expected = {}
        for w in workers:
            for truth in labels:
                cells = {
                    answer: (4.0 if answer == truth else 1.0)
                    + sum(posterior[i][truth] for i, v, a in votes if v == w and a == answer)
                    for answer in labels
                }
                for answer in labels:
                    expected[w, truth, answer] = digamma(cells[answer]) - digamma(sum(cells.values()))
        posterior = {
            i: softmax({k: digamma(count[k]) + sum(expected[w, k, a] for j, w, a in votes if j == i) for k in labels})
            for i in posterior
        }
    return posterior


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_hbcc_with_a_fixed_prior_equals_the_loops_of_bayesian_classifier_combination(votes):
    model = Hbcc(
        n_worker_types=1,
        n_subtypes=1,
        prior_weight=1e12,
        vote_weight=0.0,
        max_iterations=N_STEPS,
        tolerance=0.0,
    )
    assert_same(run_all(model, code(votes)), slow_hbcc(votes, N_STEPS), votes, tolerance=1e-5)


@settings(deadline=None, max_examples=60)
@given(crowds())
def test_majority_equals_counting(votes):
    labels = sorted({k for _, _, k in votes})
    assert_same(Majority().aggregate(code(votes)), shares(votes, labels), votes)
