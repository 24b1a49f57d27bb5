"""What every adaptation algorithm must do."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
import torch

from graticule.adaptation.algorithm import Batch
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.checkpoint import CheckpointFolder
from graticule.adaptation.schedule import Moment
from graticule.errors import ConfigError, TrainingError

HERE = Path(__file__).parents[1] / "adaptation" / "small_problem.py"
SPEC = importlib.util.spec_from_file_location("small_problem", HERE)
small = sys.modules.setdefault("small_problem", importlib.util.module_from_spec(SPEC))
SPEC.loader.exec_module(small)

NAMES = list(ALGORITHMS)
REFERENCES = {"source_only", "target_supervised"}
ADVERSARIAL = {"dann": "adversarial", "cdan": "adversarial", "memsac": "adversarial", "toalign": "adversarial"}
ADVERSARIAL |= {"unida": "adversarial", "mdd": "disparity"}
LATE = Moment(step=900, n_steps=1000)


def compute(algorithm, batch, phase=None, moment=LATE):
    return algorithm.compute_losses(batch, phase=phase or algorithm.phases[0].name, moment=moment)


@pytest.mark.parametrize("name", NAMES)
def test_an_algorithm_stands_in_a_file_of_its_name_with_a_frozen_config(name):
    kind = ALGORITHMS[name]
    assert kind.__module__.endswith(f".{name}")
    assert kind.__name__.lower() == name.replace("_", "")
    config = kind.config_type()
    assert is_dataclass(config)
    assert kind.config_type.__name__ == f"{kind.__name__}Config"
    for field in fields(config):
        with pytest.raises(AttributeError):
            setattr(config, field.name, None)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_weights_to_the_bit_and_another_does_not(name):
    small.assert_same_bits(small.state(small.run(name)), small.state(small.run(name)))
    other = small.state(small.run(name, seed=1))
    assert not all(torch.equal(value, other[key]) for key, value in small.state(small.run(name)).items())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_killed_run_goes_on_to_the_same_weights_to_the_bit(name, optimizer, tmp_path):
    class KilledError(Exception):
        pass

    class Dying:
        def __init__(self, batches, at):
            self.batches, self.at = batches, at

        def draw(self, step):
            if step == self.at:
                raise KilledError
            return self.batches.draw(step)

    settings = {"optimizer": optimizer}
    whole = small.run(name, config=settings)
    folder = CheckpointFolder(folder=tmp_path, identity={"algorithm": name})
    with pytest.raises(KilledError):
        small.run(name, batches=Dying(small.make_batches(name), 7), checkpoints=folder, config=settings)
    assert folder.read().step == 4
    resumed = small.run(name, checkpoints=folder, config=settings)
    small.assert_same_bits(small.state(whole), small.state(resumed))
    assert resumed.history == whole.history


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_falls_and_the_source_is_learned(name):
    training = small.run(name, config={"n_steps": 150, "checkpoint_every": 0, "learning_rate": 0.02})
    terms = ["loss/classification"] if name != "mcd" else ["loss/first", "loss/second"]
    first = compute(small.make_algorithm(name), small.draw_batch())
    for term in terms:
        assert training.history[-1][term] < 0.7 < first[term.removeprefix("loss/")]
    source, labels = small.draw_features(0, small.SHAPE.n_source)
    with torch.inference_mode():
        found = training.algorithm.predict(torch.from_numpy(source))
    right = (found.logits.argmax(dim=1) == torch.from_numpy(labels)).double().mean()
    assert right > 0.8
    assert found.unknown_scores.shape == (len(source),)
    assert torch.isfinite(found.unknown_scores).all()


@pytest.mark.parametrize("name", NAMES)
def test_losses_do_not_move_weights_and_name_finite_numbers(name):
    algorithm = small.make_algorithm(name)
    weights = [parameter.clone() for parameter in algorithm.parameters()]
    for phase in algorithm.phases:
        for term, value in compute(algorithm, small.draw_batch(), phase.name).items():
            assert value.ndim == 0, term
            assert torch.isfinite(value), term
    assert all(torch.equal(old, new) for old, new in zip(weights, algorithm.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in algorithm.parameters())


def test_a_batch_has_no_field_for_target_labels():
    assert {field.name for field in fields(Batch)} == {"source", "source_labels", "target", "target_rows"}


@pytest.mark.parametrize("name", sorted(set(NAMES) - REFERENCES))
def test_the_target_reaches_the_features(name):
    """Some loss has a gradient with respect to the target's images: a method that has none is source only."""
    algorithm = small.make_algorithm(name)
    batch = small.draw_batch()
    target = batch.target.clone().requires_grad_()
    seen = Batch(source=batch.source, source_labels=batch.source_labels, target=target, target_rows=batch.target_rows)
    if name == "memsac":
        compute(algorithm, batch)
        algorithm.finish_step(batch)
    total = sum(value for phase in algorithm.phases for value in compute(algorithm, seen, phase.name).values())
    (gradient,) = torch.autograd.grad(total, [target])
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_references_do_not_look_at_the_target(name):
    batch = small.draw_batch()
    algorithm = small.make_algorithm(name)
    changed = Batch(
        source=batch.source,
        source_labels=batch.source_labels,
        target=batch.target * 7,
        target_rows=batch.target_rows,
    )
    assert compute(algorithm, batch)["classification"] == compute(algorithm, changed)["classification"]


@pytest.mark.parametrize("name", sorted(ADVERSARIAL))
def test_the_adversary_s_gradient_is_reversed_at_the_features(name, monkeypatch):
    """What lowers the adversary's loss for its own weights raises it for the features, with the ramp's strength."""
    module = sys.modules[ALGORITHMS[name].__module__]
    owner = sys.modules["graticule.adaptation.algorithms.cdan"] if name == "memsac" else module
    batch = small.draw_batch(torch.float64)
    found = {}
    for reverse in (True, False):
        torch.manual_seed(0)
        algorithm = small.make_algorithm(name).double().eval()
        if not reverse:
            monkeypatch.setattr(owner, "reverse_gradient", lambda inputs, strength: inputs)
        loss = compute(algorithm, batch)[ADVERSARIAL[name]]
        found[reverse] = torch.autograd.grad(loss, [algorithm.bottleneck[0].weight])[0]
    assert found[True].abs().sum() > 0
    if name in ("toalign", "mdd", "dann", "unida"):
        ratio = found[True] / found[False]
        expected = ratio.flatten()[found[False].flatten().abs().argmax()]
        assert expected < 0
        torch.testing.assert_close(found[True], expected * found[False], rtol=1e-6, atol=1e-12)
    else:
        cosine = torch.nn.functional.cosine_similarity(found[True].flatten(), found[False].flatten(), dim=0)
        assert cosine < -0.9


@pytest.mark.parametrize("name", NAMES)
def test_a_nan_stops_the_run_and_the_last_good_checkpoint_stays(name, tmp_path):
    class Poisoned:
        def __init__(self, batches):
            self.batches = batches

        def draw(self, step):
            batch = self.batches.draw(step)
            if step < 6:
                return batch
            poison = torch.full_like(batch.source, torch.nan)
            return Batch(source=poison, source_labels=batch.source_labels, target=poison, target_rows=batch.target_rows)

    folder = CheckpointFolder(folder=tmp_path, identity={})
    with pytest.raises(TrainingError, match=r"step 7: the loss term '\w+' of phase '\w+' is nan.*step-00000004"):
        small.run(name, batches=Poisoned(small.make_batches(name)), checkpoints=folder)
    assert folder.read().step == 4
    assert all(torch.isfinite(value).all() for value in folder.read().model.values() if value.is_floating_point())


@pytest.mark.parametrize("name", NAMES)
def test_options_out_of_range_are_refused(name):
    with pytest.raises(ConfigError, match="expected a number above 0"):
        small.make_config(name, bottleneck=0)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_belongs_to_one_group_and_moves(name):
    algorithm = small.make_algorithm(name)
    grouped = [id(parameter) for group in algorithm.list_groups() for parameter in group.parameters]
    assert sorted(grouped) == sorted(id(parameter) for parameter in algorithm.parameters())
    training = small.run(name, config={"n_steps": 3, "checkpoint_every": 0, "weight_decay": 0.0})
    first = small.run(name, config={"n_steps": 1, "checkpoint_every": 0, "weight_decay": 0.0})
    later = dict(training.algorithm.named_parameters())
    assert not [
        key for key, value in first.algorithm.named_parameters() if torch.equal(value, later[key]) and "weight" in key
    ]
