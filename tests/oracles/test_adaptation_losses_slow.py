"""Losses of adaptation beside slow versions, written from the papers' formulas with loops over images and labels.

Values agree to 1e-9 in float64. Gradients agree with central differences of the slow version, whose constants (weights
that no gradient passes) are held at the point where the gradient is taken.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from graticule.adaptation.algorithm import Batch, Shape
from graticule.adaptation.algorithms.cdan import Cdan, CdanConfig
from graticule.adaptation.algorithms.dance import find_neighbourhood_entropy, find_separation
from graticule.adaptation.algorithms.mcc import find_confusion
from graticule.adaptation.algorithms.mcd import find_discrepancy, find_imbalance
from graticule.adaptation.algorithms.mdd import find_disparity, find_log_of_rest
from graticule.adaptation.algorithms.memsac import MemSacConfig, find_consistency
from graticule.adaptation.algorithms.ovanet import find_open_entropy, find_open_loss
from graticule.adaptation.algorithms.safn import find_norm_loss
from graticule.adaptation.algorithms.toalign import ToAlign, ToAlignConfig
from graticule.adaptation.algorithms.unida import Unida, UnidaConfig, scale_weights
from graticule.adaptation.modules.domain_loss import tell_apart
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.schedule import Moment, ramp_up

STEP = 1e-6


def draw(*shape, seed=0, scale=1.5):
    return np.random.default_rng(seed).normal(size=shape) * scale


def softmax(row):
    high = max(row)
    exps = [math.exp(value - high) for value in row]
    return [value / sum(exps) for value in exps]


def entropy(row):
    return -sum(p * math.log(p) for p in softmax(row) if p > 0)


def differentiate(function, point):
    gradient = np.zeros_like(point)
    for index in np.ndindex(point.shape):
        up, down = point.copy(), point.copy()
        up[index] += STEP
        down[index] -= STEP
        gradient[index] = (function(up) - function(down)) / (2 * STEP)
    return gradient


def agree(fast, slow, *points):
    """Check the value at some points and the gradient with respect to each of them."""
    tensors = [torch.tensor(point, dtype=torch.float64, requires_grad=True) for point in points]
    value = fast(*tensors)
    assert value.item() == pytest.approx(slow(*points), rel=1e-9, abs=1e-12)
    gradients = torch.autograd.grad(value, tensors)
    for place, gradient in enumerate(gradients):

        def along(moved, place=place):
            return slow(*points[:place], moved, *points[place + 1 :])

        np.testing.assert_allclose(gradient.numpy(), differentiate(along, points[place]), rtol=1e-5, atol=1e-7)


def test_discriminator_loss_is_the_mean_of_both_halves():
    weights = np.abs(draw(4, seed=5)) + 0.1

    def slow(source, target):
        halves = 0.0
        for logit, weight in zip(source, weights, strict=True):
            halves += weight * -math.log(1 / (1 + math.exp(-logit))) / 4
        for logit in target:
            halves += -math.log(1 - 1 / (1 + math.exp(-logit))) / 5
        return halves / 2

    def fast(source, target):
        return tell_apart(source, target, source_weights=torch.tensor(weights))

    agree(fast, slow, draw(4), draw(5, seed=1))


def test_discriminator_loss_is_stable_where_it_is_very_wrong():
    logits = torch.tensor([-500.0], dtype=torch.float64, requires_grad=True)
    loss = tell_apart(logits, torch.tensor([500.0], dtype=torch.float64))
    loss.backward()
    assert loss.item() == pytest.approx(500)
    assert logits.grad.item() == pytest.approx(-0.5)


def test_reversal_turns_the_gradient_round():
    inputs = torch.tensor(draw(3, 2), requires_grad=True)
    (reverse_gradient(inputs, strength=0.3).square().sum()).backward()
    torch.testing.assert_close(inputs.grad, -0.3 * 2 * inputs.detach())


def make_cdan(**options):
    torch.manual_seed(0)
    config = CdanConfig(bottleneck=4, discriminator=5, discriminator_dropout=0.5, **options)
    algorithm = Cdan(config, Shape(n_features=6, n_labels=3, n_source=9, n_target=9)).double().eval()
    return algorithm, [layer for layer in algorithm.discriminator if isinstance(layer, torch.nn.Linear)]


def apply_layers(layers, row):
    for number, layer in enumerate(layers):
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        row = [sum(w * x for w, x in zip(line, row, strict=True)) + b for line, b in zip(weight, bias, strict=True)]
        if number < len(layers) - 1:
            row = [max(value, 0.0) for value in row]
    return row[0]


def cdan_by_loops(layers, features, probabilities, weights, n_source):
    total = 0.0
    for side, rows in enumerate((range(n_source), range(n_source, len(features)))):
        for row in rows:
            product = [p * f for p in probabilities[row] for f in features[row]]
            guess = 1 / (1 + math.exp(-apply_layers(layers, product)))
            total += weights[row] * -math.log(guess if side == 0 else 1 - guess) / len(rows) / 2
    return total


@pytest.mark.parametrize("weighting", ["paper", "joint"])
def test_cdan_with_entropy_equals_loops_and_its_gradient_is_reversed(weighting):
    algorithm, layers = make_cdan(weighting=weighting, ramp_steps=0)
    features, logits, n_source = draw(7, 4), draw(7, 3, seed=1), 3
    moment = Moment(step=30, n_steps=100)
    strength = ramp_up(moment, alpha=10.0, ramp_steps=0)
    fixed = [softmax(row) for row in logits]
    base = [1 + math.exp(-entropy(row)) for row in logits]
    sums = [sum(base[:n_source]) / n_source] * n_source + [sum(base[n_source:]) / 4] * 4
    if weighting == "joint":
        sums = [sum(base) / 7] * 7

    def of_features(moved):
        return cdan_by_loops(layers, moved, fixed, [b / s for b, s in zip(base, sums, strict=True)], n_source)

    def of_logits(moved):
        weights = [(1 + math.exp(-entropy(row))) / s for row, s in zip(moved, sums, strict=True)]
        return cdan_by_loops(layers, features, fixed, weights, n_source)

    inputs = [torch.tensor(array, requires_grad=True) for array in (features, logits)]
    loss = algorithm.confuse(*inputs, n_source=n_source, moment=moment)
    assert loss.item() == pytest.approx(of_features(features), rel=1e-9)
    got = torch.autograd.grad(loss, inputs, allow_unused=True)
    np.testing.assert_allclose(got[0].numpy(), -strength * differentiate(of_features, features), atol=1e-7)
    if weighting == "paper":
        np.testing.assert_allclose(got[1].numpy(), -strength * differentiate(of_logits, logits), atol=1e-7)
    else:
        assert got[1] is None


def test_cdan_s_randomised_map_keeps_inner_products_on_average():
    """<T(f, g), T(f', g')> has the expectation <f, f'> <g, g'>."""
    shape = Shape(n_features=6, n_labels=40, n_source=9, n_target=9)
    torch.manual_seed(0)
    algorithm = Cdan(CdanConfig(bottleneck=128, randomised=60_000), shape).double()
    assert algorithm.is_randomised
    probabilities = torch.tensor(draw(2, 40)).softmax(dim=1)
    features = torch.tensor(np.abs(draw(2, 128)))
    mapped = algorithm.join(probabilities, features)
    expected = (features[0] @ features[1]) * (probabilities[0] @ probabilities[1])
    assert (mapped[0] @ mapped[1]).item() == pytest.approx(expected.item(), rel=0.2)


def test_mcc_equals_loops():
    logits, temperature = draw(6, 4), 2.5
    sure = [1 + math.exp(-entropy(row / temperature)) for row in logits]
    weights = [6 * value / sum(sure) for value in sure]

    def slow(moved):
        predicted = [softmax(row / temperature) for row in moved]
        total = 0.0
        for one in range(4):
            line = [sum(weights[i] * predicted[i][one] * predicted[i][other] for i in range(6)) for other in range(4)]
            total += sum(line[other] for other in range(4) if other != one) / sum(line)
        return total / 4

    agree(lambda z: find_confusion(z, temperature=temperature), slow, logits)


def test_safn_equals_loops():
    features = draw(5, 3)
    wanted = [math.sqrt(sum(value**2 for value in row)) + 0.7 for row in features]

    def slow(moved):
        return sum(
            (math.sqrt(sum(value**2 for value in row)) - length) ** 2 for row, length in zip(moved, wanted, strict=True)
        ) / len(moved)

    agree(lambda f: find_norm_loss(f, step=0.7), slow, features)


def test_mdd_equals_loops_with_a_gradient_for_the_adversary_only():
    logits = draw(7, 4)

    def slow(adverse):
        labels = [int(np.argmax(row)) for row in logits]
        home = sum(-math.log(softmax(adverse[i])[labels[i]]) for i in range(3)) / 3
        away = sum(math.log(1 - softmax(adverse[i])[labels[i]]) for i in range(3, 7)) / 4
        return 4.0 * home - away

    agree(lambda f: find_disparity(torch.tensor(logits), f, n_source=3, margin=4.0), slow, draw(7, 4, seed=1))


def test_mdd_s_logarithm_of_the_rest_stays_finite_and_so_does_its_gradient():
    logits = torch.tensor([[800.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    found = find_log_of_rest(logits, torch.tensor([0]))
    found.sum().backward()
    assert found.item() == pytest.approx(math.log(2) - 800)
    torch.testing.assert_close(logits.grad, torch.tensor([[-1.0, 0.5, 0.5]], dtype=torch.float64))


def test_mcd_s_discrepancy_and_balance_equal_loops():
    def slow(one, two):
        pairs = [(softmax(a), softmax(b)) for a, b in zip(one, two, strict=True)]
        return sum(abs(p - q) for a, b in pairs for p, q in zip(a, b, strict=True)) / (5 * 3)

    def balance(one):
        predicted = [softmax(row) for row in one]
        return -sum(math.log(sum(row[k] for row in predicted) / 5 + 1e-6) for k in range(3)) / 3

    agree(find_discrepancy, slow, draw(5, 3), draw(5, 3, seed=1))
    agree(find_imbalance, balance, draw(5, 3))


def test_toalign_s_reweighting_keeps_lengths_and_equals_loops():
    torch.manual_seed(1)
    config = ToAlignConfig(bottleneck=4, discriminator=5)
    algorithm = ToAlign(config, Shape(n_features=6, n_labels=3, n_source=9, n_target=9)).double()
    heads = [head.weight.detach().numpy() for head in (algorithm.head, *algorithm.focal_heads)]
    labels = [2, 0, 1, 1, 0]
    features = np.abs(draw(5, 4))
    weight = heads[0] - heads[1] - heads[2] - heads[3]
    scales = []
    for row, label in zip(features, labels, strict=True):
        used = sum((f * w) ** 2 for f, w in zip(row, weight[label], strict=True))
        scales.append(math.sqrt(sum(f**2 for f in row) / used))

    def slow(moved):
        return sum(
            (number + 1) * f * w * scales[i]
            for i, row in enumerate(moved)
            for number, (f, w) in enumerate(zip(row, weight[labels[i]], strict=True))
        )

    def fast(moved):
        kept = algorithm.keep_what_counts(moved, torch.tensor(labels))
        return (kept * torch.arange(1, 5)).sum()

    agree(fast, slow, features)
    kept = algorithm.keep_what_counts(torch.tensor(features), torch.tensor(labels))
    np.testing.assert_allclose(kept.detach().norm(dim=1).numpy(), np.linalg.norm(features, axis=1))
    assert not algorithm.focal_heads[0].weight.any()


def test_memsac_equals_loops():
    config = MemSacConfig(n_neighbours=5, n_confident=4, kept_share=2 / 3, temperature=0.2)
    memory = draw(20, 4, seed=2)
    memory /= np.linalg.norm(memory, axis=1, keepdims=True)
    labels = [k % 3 for k in range(20)]
    target = draw(6, 4)
    similar = target @ memory.T

    def vote(row):
        nearest = [labels[i] for i in sorted(range(20), key=lambda i: -row[i])[:5]]
        return max(nearest, key=lambda label: (nearest.count(label), -nearest.index(label)))

    pseudo = [vote(row) for row in similar]

    def confidence(row, label):
        like = sorted((row[i] for i in range(20) if labels[i] == label), reverse=True)[:4]
        unlike = sorted((row[i] for i in range(20) if labels[i] != label), reverse=True)[:4]
        return sum(value for value in like if value > 0) / sum(value for value in unlike if value > 0)

    ranked = sorted(range(6), key=lambda i: -confidence(similar[i], pseudo[i]))
    kept = ranked[:4]

    def slow(moved):
        total = 0.0
        for i in kept:
            exps = [math.exp(float(np.dot(moved[i], memory[j])) / 0.2) for j in range(20)]
            same = sum(value for value, label in zip(exps, labels, strict=True) if label == pseudo[i])
            total -= math.log(same / sum(exps))
        return total / 4

    agree(lambda f: find_consistency(f, torch.tensor(memory), torch.tensor(labels), config=config), slow, target)


def test_unida_s_losses_equal_loops():
    torch.manual_seed(2)
    config = UnidaConfig(bottleneck=4, discriminator=5)
    algorithm = Unida(config, Shape(n_features=6, n_labels=3, n_source=9, n_target=9)).double().eval()
    batch = Batch(
        source=torch.tensor(draw(4, 6)),
        source_labels=torch.tensor([0, 1, 2, 1]),
        target=torch.tensor(draw(5, 6, seed=1)),
        target_rows=torch.arange(5),
    )
    losses = algorithm.compute_losses(batch, phase="all", moment=Moment(step=10, n_steps=100))
    features = algorithm.find_both_at_once(batch).detach()
    logits = algorithm.head(features).detach().numpy()
    plain, adverse = (
        [layer for layer in net if isinstance(layer, torch.nn.Linear)]
        for net in (algorithm.bystander, algorithm.discriminator)
    )
    seen = [1 / (1 + math.exp(-apply_layers(plain, row))) for row in features.tolist()]
    raw_source = [entropy(row / 10) / math.log(3) - d for row, d in zip(logits[:4], seen[:4], strict=True)]
    raw_target = [d - entropy(row) / math.log(3) for row, d in zip(logits[4:], seen[4:], strict=True)]
    total = 0.0
    for side, raw in enumerate((raw_source, raw_target)):
        scaled = [(value - min(raw)) / (max(raw) - min(raw)) for value in raw]
        for number, value in enumerate(scaled):
            weight = value / (sum(scaled) / len(scaled))
            guess = 1 / (1 + math.exp(-apply_layers(adverse, features[number + 4 * side].tolist())))
            total -= weight * math.log(guess if side == 0 else 1 - guess) / len(raw) / 2
    assert losses["adversarial"].item() == pytest.approx(total, rel=1e-9)
    expected = -sum(math.log(d) for d in seen[:4]) / 8 - sum(math.log(1 - d) for d in seen[4:]) / 10
    assert losses["bystander"].item() == pytest.approx(expected, rel=1e-9)
    assert losses["classification"].item() == pytest.approx(
        -sum(math.log(softmax(logits[i])[label]) for i, label in enumerate((0, 1, 2, 1))) / 4, rel=1e-9
    )


def test_unida_s_weights_are_ones_where_all_are_equal():
    assert scale_weights(torch.full((4,), 0.3)).tolist() == [1.0] * 4


def test_dance_s_neighbourhood_equals_loops():
    memory = draw(8, 3, seed=4)
    memory /= np.linalg.norm(memory, axis=1, keepdims=True)
    rows = [6, 1, 3]

    def slow(units, logits):
        total = 0.0
        for i in range(3):
            line = list(logits[i])
            line += [float(np.dot(units[i], memory[j])) / 0.3 for j in range(8) if j not in rows]
            line += [float(np.dot(units[i], units[j])) / 0.3 for j in range(3) if j != i]
            total += entropy(line)
        return total / 3

    def fast(units, logits):
        return find_neighbourhood_entropy(units, logits, torch.tensor(memory), torch.tensor(rows), temperature=0.3)

    agree(fast, slow, draw(3, 3, scale=0.5), draw(3, 4, seed=1))


@pytest.mark.parametrize("margin", [0.1, 0.3, 5.0])
def test_dance_s_separation_equals_loops_and_is_flat_inside_the_margin(margin):
    middle = math.log(4) / 2

    def slow(logits):
        far = [abs(entropy(row) - middle) for row in logits if abs(entropy(row) - middle) > margin]
        return -sum(far) / len(far) if far else 0.0

    agree(lambda z: find_separation(z, middle=middle, margin=margin), slow, draw(6, 4))


def test_ovanet_s_losses_equal_loops():
    labels = [0, 2, 1, 2]

    def yes(answers, i, k):
        return softmax([answers[i][0][k], answers[i][1][k]])[1]

    def slow(answers):
        positive = sum(-math.log(yes(answers, i, label)) for i, label in enumerate(labels)) / 4
        negative = sum(
            max(-math.log(1 - yes(answers, i, k)) for k in range(3) if k != label) for i, label in enumerate(labels)
        )
        return (positive + negative / 4) / 2

    def slow_entropy(answers):
        return sum(entropy([answers[i][0][k], answers[i][1][k]]) for i in range(4) for k in range(3)) / 12

    agree(lambda a: find_open_loss(a, torch.tensor(labels)), slow, draw(4, 2, 3))
    agree(find_open_entropy, slow_entropy, draw(4, 2, 3))
