from __future__ import annotations

import torch
from torch import nn

from graticule.adaptation.algorithms.mdd import Mdd, MddConfig
from graticule.adaptation.modules.apart import pass_apart
from graticule.adaptation.modules.layers import make_bottleneck
from graticule.adaptation.schedule import Moment


def test_layers_that_see_both_at_once_equal_two_passes():
    generator = torch.Generator().manual_seed(0)
    source, target = (torch.randn(n, 6, generator=generator, dtype=torch.float64) for n in (5, 7))
    layers = nn.Sequential(make_bottleneck(6, 4), nn.Linear(4, 3)).double()
    found = pass_apart(layers, source, target)
    for fast, slow in zip(found, (layers(source), layers(target)), strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-12)
    joint = layers(torch.cat([source, target]))
    assert not torch.allclose(found[0], joint[:5])


def test_a_short_run_of_mdd_is_ramped_over_its_own_length(small, monkeypatch):
    strengths = []
    monkeypatch.setattr(
        "graticule.adaptation.algorithms.mdd.reverse_gradient",
        lambda inputs, strength: strengths.append(strength) or inputs,
    )
    algorithm = Mdd(MddConfig(bottleneck=8, width=7), small.SHAPE)
    for moment in (Moment(step=50, n_steps=100), Moment(step=500, n_steps=1000), Moment(step=500, n_steps=9000)):
        algorithm.compute_losses(small.draw_batch(), phase="all", moment=moment)
    assert strengths[0] == strengths[1] == strengths[2] > 0
