"""``auto`` takes the fastest engine that gives torch's results, and checks that it does."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.models import engine_choice
from graticule.models.engine_choice import choose_engine, least_cosine, make_trial
from graticule.models.engine_settings import EngineSettings, count_threads, resolve_settings
from graticule.models.model import SCORES, Outputs
from graticule.models.network import Network, WeightsFacts
from graticule.models.split_head import split_head
from graticule.models.transform import Transform
from graticule.models.weights import drawing_alike

torch = pytest.importorskip("torch")

TRANSFORM = Transform(height=24, width=24, resize_to=(24, 24), mean=(0.5,) * 3, std=(0.5,) * 3)


@pytest.fixture(scope="module")
def network():
    with drawing_alike():
        module = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, stride=2),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(32, 5),
        )
    split, gives = split_head(module, height=24, width=24)
    weights = WeightsFacts(kind="random", source="test")
    return Network(name="test/tiny", gives=gives, transform=TRANSFORM, weights=weights, module=split)


@dataclass
class Wrong:
    """An engine that computes something else."""

    inner: object
    noise: float
    name: str = "openvino"
    device: str = "cpu"
    precision: str = "float32"
    n_streams: int = 1

    def compute(self, batch):
        found = self.inner.compute(batch)
        rng = np.random.default_rng(0)
        changed = found.features + self.noise * rng.standard_normal(found.features.shape).astype(np.float32)
        return Outputs(features=changed, scores=found.scores)


def test_takes_openvino_where_it_agrees(network):
    pytest.importorskip("openvino")
    chosen = choose_engine(network, EngineSettings(n_threads=1), engine="auto")
    assert chosen.engine.name == "openvino"
    assert "cosine with torch 1.0000" in chosen.why


def test_does_not_take_an_engine_that_differs(network, monkeypatch):
    original = engine_choice.load_engine

    def load(name, given, settings):
        if name == "eager":
            return original(name, given, settings)
        return Wrong(inner=original("eager", given, settings), noise=0.1)

    monkeypatch.setattr(engine_choice, "load_engine", load)
    chosen = choose_engine(network, EngineSettings(n_threads=1), engine="auto")
    assert chosen.engine.name == "eager"
    assert "not openvino: its results differ from torch's" in chosen.why


def test_goes_on_to_torch_where_no_other_engine_is_installed(network, monkeypatch):
    for package in ("openvino", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    chosen = choose_engine(network, EngineSettings(n_threads=1), engine="auto")
    assert chosen.engine.name == "eager"
    assert "graticule[openvino]" in chosen.why


def test_takes_torch_for_fewer_bits_and_for_graphics_cards(network):
    chosen = choose_engine(network, EngineSettings(precision="bfloat16"), engine="auto")
    assert (chosen.engine.name, chosen.engine.precision) == ("eager", "bfloat16")


def test_a_callable_computes_itself(network):
    plain = replace(network, module=None, gives=(SCORES,), function=lambda batch: (batch.mean(axis=(2, 3)),))
    assert choose_engine(plain, EngineSettings(), engine="auto").engine.name == "eager"


def test_an_unknown_engine_is_refused_with_the_nearest(network):
    with pytest.raises(ConfigError, match=r"--engine: unknown engine 'openvin'.*Did you mean 'openvino'"):
        choose_engine(network, EngineSettings(), engine="openvin")


def test_the_cosine_is_of_what_differs_between_features():
    base = np.full((2, 50), 100, dtype=np.float32)
    one, other = base.copy(), base.copy()
    one[:, 0], other[:, 1] = 101, 101
    assert least_cosine(Outputs(features=one, scores=None), Outputs(features=one, scores=None)) == 1
    assert least_cosine(Outputs(features=one, scores=None), Outputs(features=other, scores=None)) < 0.1


def test_the_trial_is_the_same_each_time_and_fills_the_range():
    trial = make_trial(40, 30)
    assert trial.shape == (4, 40, 30, 3)
    np.testing.assert_array_equal(trial, make_trial(40, 30))
    assert trial.min() < 30
    assert trial.max() > 225


@pytest.mark.parametrize(
    ("device", "precision", "message"),
    [
        ("gpu", "auto", "unknown device 'gpu'"),
        ("cuda:x", "auto", "unknown device"),
        ("cuda:99", "auto", "torch sees"),
        ("cpu", "half", "unknown precision 'half'"),
    ],
)
def test_settings_that_this_machine_does_not_have_are_refused(device, precision, message):
    with pytest.raises(ConfigError, match=message):
        resolve_settings(device=device, precision=precision)


def test_threads_follow_the_usual_variable(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert resolve_settings(device="cpu", precision="auto") == EngineSettings(n_threads=3)
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert count_threads() >= 1


def test_the_converter_of_openvino_sends_nothing(network, monkeypatch):
    pytest.importorskip("openvino")
    telemetry = pytest.importorskip("openvino_telemetry")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("socket.socket.connect", lambda *address: pytest.fail(f"connects to {address[1:]}"))
    engine_choice.load_engine("openvino", network, EngineSettings(n_threads=1))
    assert telemetry.Telemetry().consent is False
    assert "CI" not in os.environ
