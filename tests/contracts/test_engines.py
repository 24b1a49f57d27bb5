"""Every engine gives what torch gives, in whatever batches and threads it is asked."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from graticule.errors import ConfigError, GraticuleError, ModelError
from graticule.models.engine_choice import load_engine, make_trial
from graticule.models.engine_settings import EngineSettings
from graticule.models.engines import ENGINES
from graticule.models.model import FEATURES, SCORES
from graticule.models.network import Network, WeightsFacts
from graticule.models.split_head import split_head
from graticule.models.transform import Transform
from graticule.models.weights import drawing_alike

torch = pytest.importorskip("torch")

SIZE = 32
TRANSFORM = Transform(height=SIZE, width=SIZE, resize_to=(36, 36), mean=(0.5, 0.4, 0.3), std=(0.2, 0.3, 0.4))
SETTINGS = EngineSettings(n_threads=2)
PACKAGES = {"onnxruntime": "onnxruntime", "openvino": "openvino"}


def make_network() -> Network:
    with drawing_alike():
        module = torch.nn.Sequential(
            torch.nn.Conv2d(3, 12, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(12),
            torch.nn.ReLU6(),
            torch.nn.Conv2d(12, 12, 3, groups=12),
            torch.nn.SiLU(),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(48, 20),
            torch.nn.ReLU(),
            torch.nn.Linear(20, 6),
        )
    split, gives = split_head(module, height=SIZE, width=SIZE)
    return Network(
        name="test/tiny",
        gives=gives,
        transform=TRANSFORM,
        weights=WeightsFacts(kind="random", source="test"),
        module=split,
    )


SLOW = {"compiled": [pytest.mark.slow]}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=SLOW.get(name, [])) for name in ENGINES])
def engine(request):
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    if request.param == "compiled" and shutil.which("g++") is None:
        pytest.skip("torch.compile needs a C++ compiler on a CPU")
    return load_engine(request.param, make_network(), SETTINGS)


@pytest.fixture(scope="module")
def images():
    return np.concatenate([make_trial(SIZE, SIZE), 255 - make_trial(SIZE, SIZE)[:3]])


@pytest.fixture(scope="module")
def expected(images):
    """What the network gives in the plainest way."""
    with torch.inference_mode():
        features, scores = make_network().module(torch.from_numpy(TRANSFORM.normalise(images)))
    return {FEATURES: features.numpy(), SCORES: scores.numpy()}


def check(outputs, expected, rows=slice(None)):
    np.testing.assert_allclose(outputs.features, expected[FEATURES][rows], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(outputs.scores, expected[SCORES][rows], rtol=1e-3, atol=1e-4)
    assert outputs.features.dtype == outputs.scores.dtype == np.float32


def test_agrees_with_torch_on_bytes_and_on_floats(engine, images, expected):
    check(engine.compute(images), expected)
    check(engine.compute(TRANSFORM.normalise(images)), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_any_batch_size_gives_the_same(engine, images, expected, size):
    for start in range(0, len(images), size):
        check(engine.compute(images[start : start + size]), expected, slice(start, start + size))


def test_threads_may_ask_at_once(engine, images, expected):
    with ThreadPoolExecutor(4) as pool:
        for outputs in pool.map(engine.compute, [images] * 12):
            check(outputs, expected)


def test_earlier_results_stay_as_they_were(engine, images, expected):
    first = engine.compute(images)
    engine.compute(images[::-1])
    check(first, expected)


def test_a_batch_may_be_read_only_or_a_view(engine, images, expected):
    view = np.repeat(images, 2, axis=0)[::2]
    view.flags.writeable = False
    check(engine.compute(view), expected)


def test_says_what_it_computes_in(engine):
    assert engine.name in ENGINES
    assert engine.device == "cpu"
    assert engine.precision == "float32"
    assert engine.n_streams >= 1


@pytest.mark.parametrize("name", ENGINES)
def test_fewer_bits_are_refused_or_change_little(name, images, expected):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    if name == "compiled":
        pytest.skip("as eager, and slow to compile twice")
    refusal = ""
    try:
        found = load_engine(name, make_network(), EngineSettings(precision="bfloat16", n_threads=1))
    except ConfigError as error:
        refusal = str(error)
    if refusal:
        assert "--precision bfloat16" in refusal
        assert "float32" in refusal
        return
    assert found.precision == "bfloat16"
    features = found.compute(images).features
    difference = np.abs(features - expected[FEATURES]).max()
    assert 0 < difference < 0.1 * np.abs(expected[FEATURES]).max()


@pytest.mark.parametrize("name", ["compiled", "onnxruntime", "openvino"])
def test_a_python_callable_is_refused_by_all_but_eager(name):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    network = Network(
        name="test:callable",
        gives=(SCORES,),
        transform=TRANSFORM,
        weights=WeightsFacts(kind="own", source="test"),
        function=lambda batch: (batch.mean(axis=(2, 3)),),
    )
    with pytest.raises(ModelError, match="--engine eager"):
        load_engine(name, network, SETTINGS)
    scores = load_engine("eager", network, SETTINGS).compute(make_trial(SIZE, SIZE)).scores
    assert scores.shape == (4, 3)


def test_a_network_that_an_engine_cannot_convert_says_so():
    class Odd(torch.nn.Module):
        def forward(self, pixels):
            raise RuntimeError("not on paper")

    network = Network(
        name="test/odd",
        gives=(SCORES,),
        transform=TRANSFORM,
        weights=WeightsFacts(kind="random", source="test"),
        module=Odd(),
    )
    for name in ("onnxruntime", "openvino"):
        pytest.importorskip(PACKAGES[name])
        with pytest.raises(GraticuleError, match=r"test/odd: .*not on paper.*--engine eager"):
            load_engine(name, network, SETTINGS)
