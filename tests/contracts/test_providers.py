"""Every provider keeps the same contract, on small networks with random weights."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from graticule.errors import GraticuleError, MissingExtraError, ModelError
from graticule.models.engine_choice import make_trial
from graticule.models.model import FEATURES, SCORES
from graticule.models.providers import PROVIDERS
from graticule.models.registry import load_model, load_network


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model of a provider: its name, where its weights come from, and what it must give."""

    name: str
    n_features: int
    n_scores: int
    weights: str | None = "random"


def make_timm(folder: Path) -> Case:
    del folder
    pytest.importorskip("timm")
    return Case(name="timm/test_vit", n_features=64, n_scores=1000)


def make_torchvision(folder: Path) -> Case:
    del folder
    pytest.importorskip("torchvision")
    return Case(name="torchvision/resnet18", n_features=512, n_scores=1000)


def make_open_clip(folder: Path) -> Case:
    open_clip = pytest.importorskip("open_clip")
    config = folder / "tiny-clip.json"
    config.write_text(
        '{"embed_dim": 16, "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, '
        '"patch_size": 8}, "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, '
        '"layers": 2}}'
    )
    open_clip.add_model_config(config)
    return Case(name="open_clip/tiny-clip", n_features=16, n_scores=0)


def make_hf(folder: Path) -> Case:
    transformers = pytest.importorskip("transformers")
    place = folder / "tiny-vit"
    config = transformers.ViTConfig(
        hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=8
    )
    config.id2label = {0: "cat", 1: "dog, hound", 2: "axolotl"}
    transformers.ViTForImageClassification(config).save_pretrained(place)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(place)
    return Case(name=f"hf/{place}", n_features=24, n_scores=3, weights=None)


def make_onnx(folder: Path) -> Case:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    weights = {
        "kernel": rng.normal(size=(6, 3, 4, 4)).astype(np.float32),
        "matrix": rng.normal(size=(6, 5)).astype(np.float32),
    }
    helper = onnx.helper
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["pixels", "kernel"], ["maps"], strides=[4, 4]),
            helper.make_node("GlobalAveragePool", ["maps"], ["pooled_maps"]),
            helper.make_node("Flatten", ["pooled_maps"], ["features"]),
            helper.make_node("MatMul", ["features", "matrix"], ["logits"]),
        ],
        "tiny",
        [helper.make_tensor_value_info("pixels", onnx.TensorProto.FLOAT, ["b", 3, 32, 32])],
        [
            helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["b", 5]),
            helper.make_tensor_value_info("features", onnx.TensorProto.FLOAT, ["b", 6]),
        ],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "tiny.onnx")
    (folder / "tiny.yaml").write_text("mean: [0.5, 0.5, 0.5]\nstd: [0.25, 0.25, 0.25]\nlabels: [a, b, c, d, e]\n")
    return Case(name=f"onnx/{folder / 'tiny.onnx'}", n_features=6, n_scores=5, weights=None)


def make_callable(folder: Path) -> Case:
    pytest.importorskip("torch")
    (folder / "tiny_network.py").write_text(
        "import torch\n"
        "from graticule.models.transform import Transform\n"
        "def make():\n"
        "    layers = [torch.nn.Conv2d(3, 8, 4, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1)]\n"
        "    network = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(8, 4))\n"
        "    network.transform = Transform(height=32, width=32, resize_to=(36, 36), mean=(.5,) * 3, std=(.5,) * 3)\n"
        "    network.labels = ['w', 'x', 'y', 'z']\n"
        "    return network\n"
    )
    return Case(name="tiny_network:make", n_features=8, n_scores=4, weights=None)


MAKERS: dict[str, Callable[[Path], Case]] = {
    "timm": make_timm,
    "open_clip": make_open_clip,
    "torchvision": make_torchvision,
    "hf": make_hf,
    "onnx": make_onnx,
    "callable": make_callable,
}


@pytest.fixture(params=PROVIDERS)
def case(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("tiny_network", None)
    return MAKERS[request.param](tmp_path)


@pytest.fixture
def engine(case):
    """The engine that computes without a conversion, which would take seconds."""
    return "onnxruntime" if case.name.startswith("onnx/") else "eager"


@pytest.fixture
def model(case, engine):
    return load_model(case.name, weights=case.weights, device="cpu", engine=engine)


def test_gives_features_and_scores_of_the_declared_sizes(case, model):
    trial = make_trial(model.transform.height, model.transform.width)
    outputs = model.compute(trial, outputs=[name for name in (FEATURES, SCORES) if name == FEATURES or case.n_scores])
    assert model.n_features == case.n_features
    assert model.n_scores == case.n_scores
    assert outputs.features.shape == (len(trial), case.n_features)
    assert outputs.features.dtype == np.float32
    assert np.isfinite(outputs.features).all()
    if case.n_scores:
        assert outputs.scores.shape == (len(trial), case.n_scores)
        assert outputs.scores.dtype == np.float32
    assert np.ptp(outputs.features, axis=0).max() > 0, "every image gets the same features"


def test_bytes_and_the_floats_of_its_own_transform_give_the_same(model):
    trial = make_trial(model.transform.height, model.transform.width)
    floats = model.transform.normalise(trial)
    one, other = (model.compute(batch, outputs=[FEATURES]).features for batch in (trial, floats))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_what_else_is_in_the_batch_changes_nothing(model):
    trial = make_trial(model.transform.height, model.transform.width)
    together = model.compute(trial, outputs=[FEATURES]).features
    alone = np.concatenate([model.compute(image[None], outputs=[FEATURES]).features for image in trial])
    backwards = model.compute(trial[::-1], outputs=[FEATURES]).features[::-1]
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(backwards, together, rtol=1e-4, atol=1e-5)


def test_loaded_again_it_is_the_same_model(case, engine, model):
    if case.name == "tiny_network:make":
        pytest.skip("a Python function may make another network each time")
    again = load_model(case.name, weights=case.weights, device="cpu", engine=engine)
    trial = make_trial(model.transform.height, model.transform.width)
    assert again.info["weights"] == model.info["weights"]
    np.testing.assert_array_equal(
        again.compute(trial, outputs=[FEATURES]).features, model.compute(trial, outputs=[FEATURES]).features
    )


def test_labels_are_as_many_as_scores_and_each_is_there_once(case, model):
    if not case.n_scores:
        assert model.labels is None
        assert model.label_ids is None
        return
    assert len(model.labels) == len(set(model.labels)) == case.n_scores
    if case.n_scores == 1000:
        assert model.label_ids[0] == "n01440764"
        assert model.labels[0] == "tench"


def test_says_what_it_is(case, model):
    info = model.info
    assert model.name == case.name
    assert set(info) >= {"model", "weights", "transform", "engine", "device", "precision", "versions"}
    assert info["weights"]["kind"] in {"random", "file", "own"}
    assert len(info["weights"]["sha256"]) == 64
    assert info["transform"] == model.transform.describe()
    assert info["precision"] == "float32"


def test_only_a_model_with_text_encodes_text(case, model):
    if model.text_encoder is None:
        with pytest.raises(ModelError, match="no text encoder"):
            model.encode_text(["a photo of a cat"])
        return
    encoded = model.encode_text(["a photo of a cat", "a photo of a dog"])
    assert encoded.shape == (2, case.n_features)
    assert not np.allclose(encoded[0], encoded[1])
    assert model.text_encoder.logit_scale > 0


def test_a_model_without_a_head_refuses_scores(case, model):
    if case.n_scores:
        return
    with pytest.raises(ModelError, match="no classification head"):
        model.compute(make_trial(model.transform.height, model.transform.width), outputs=[SCORES])


NEEDED = {
    "timm": ("timm", "models"),
    "open_clip": ("open_clip", "open-clip"),
    "torchvision": ("torchvision", "torch"),
    "hf": ("transformers", "hf"),
}


@pytest.mark.parametrize("provider", NEEDED)
def test_a_missing_package_is_named_with_its_extra(provider, monkeypatch):
    package, extra = NEEDED[provider]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'graticule\[{extra}\]'"):
        load_network(f"{provider}/anything")


UNKNOWN = {
    "timm": "timm/resnet51",
    "open_clip": "open_clip/ViT-B-33/openai",
    "torchvision": "torchvision/resnet19",
    "hf": "hf/no-such-folder",
    "onnx": "onnx/none.onnx",
    "callable": "no_such_module:make",
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unknown_name_is_refused_and_said(provider):
    name = UNKNOWN[provider]
    with pytest.raises(GraticuleError, match=name.split("/")[1] if "/" in name else "no_such_module"):
        load_network(name, weights=None)
