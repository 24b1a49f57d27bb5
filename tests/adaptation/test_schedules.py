from __future__ import annotations

import tomllib

import numpy as np
import pytest
import torch

from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.optimizers import make_optimizers
from graticule.adaptation.sampling import RowSampler
from graticule.adaptation.schedule import Moment, ramp_up
from graticule.adaptation.toml_text import write_toml
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.adaptation.unknown_threshold import split_scores


def test_the_two_ways_of_writing_the_ramp_are_one_curve():
    for step in (0, 10, 500, 3000):
        moment = Moment(step=step, n_steps=10_000)
        assert ramp_up(moment, alpha=10.0, ramp_steps=10_000) == pytest.approx(
            ramp_up(moment, alpha=1.0, ramp_steps=1000)
        )


def test_an_epoch_draws_each_row_once_and_any_step_can_be_drawn_alone():
    sampler = RowSampler(n=10, batch_size=3, seed=4)
    epoch = torch.cat([sampler.draw(step) for step in range(3)]).tolist()
    assert len(set(epoch)) == 9
    assert RowSampler(n=10, batch_size=3, seed=4).draw(7).tolist() == sampler.draw(7).tolist()
    assert [sampler.draw(step).tolist() for step in range(3)] != [sampler.draw(step).tolist() for step in range(3, 6)]


def test_a_balanced_source_draws_labels_equally_often():
    labels = torch.tensor([0] * 90 + [1] * 10)
    sampler = RowSampler(n=100, batch_size=50, seed=0, labels=labels)
    drawn = torch.cat([labels[sampler.draw(step)] for step in range(40)])
    assert drawn.double().mean() == pytest.approx(0.5, abs=0.05)


def test_rates_decay_inversely_and_the_backbone_learns_at_a_tenth(small):
    backbone = torch.nn.Linear(small.N_FEATURES, small.N_FEATURES)
    algorithm = ALGORITHMS["dann"](small.make_config("dann"), small.SHAPE, backbone=backbone)
    settings = TrainerConfig().fill(algorithm.recipe)
    optimizers = make_optimizers(algorithm, settings, algorithm.recipe)
    optimizers.set_rates(2000)
    rates = {name: optimizer.param_groups[0]["lr"] for name, optimizer in optimizers.by_group.items()}
    assert rates["new"] == pytest.approx(0.01 * 3**-0.75)
    assert rates["backbone"] == pytest.approx(rates["new"] / 10)


def test_only_the_heads_or_the_generator_move_in_mcd_s_later_phases(small):
    algorithm = small.make_algorithm("mcd")
    settings = TrainerConfig().fill(algorithm.recipe)
    movers = {mover.phase.name: mover for mover in make_optimizers(algorithm, settings, algorithm.recipe).movers}
    generator = {id(parameter) for parameter in algorithm.bottleneck.parameters()}
    assert {id(parameter) for parameter in movers["agree"].parameters} == generator
    assert not generator & {id(parameter) for parameter in movers["disagree"].parameters}
    assert movers["agree"].phase.repeats == 4


def test_settings_survive_toml():
    given = {"a": 'q"\\\n€', "b": [1, 2.5, True], "t": {"c d": 1e-05, "none": None, "deep": {"x": -3}}}
    assert tomllib.loads(write_toml(given)) == {
        "a": 'q"\\\n€',
        "b": [1, 2.5, True],
        "t": {"c d": 1e-05, "deep": {"x": -3}},
    }


def test_a_split_lies_between_two_heaps_and_does_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 0.1, 50), rng.normal(1, 0.1, 30)])
    assert 0.3 < split_scores(scores) < 0.7
    assert split_scores(scores) == split_scores(scores[::-1])
    assert split_scores(np.full(4, 2.0)) == 2.0
