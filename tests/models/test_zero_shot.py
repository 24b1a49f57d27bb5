"""Zero-shot heads and the cache of sentences, with a text encoder whose answers are known and a tiny random CLIP."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.errors import ConfigError, ModelError
from graticule.models.label_file import LabelFile, LabelRule
from graticule.models.model import Model, Outputs
from graticule.models.prompts import Prompts
from graticule.models.text_cache import VARIABLE, encode_sentences, find_cache_folder, make_key
from graticule.models.transform import Transform
from graticule.models.zero_shot import ZeroShotConfig, embed_prompts, normalise, zero_shot_head

WORDS = ("red", "green", "blue")


@dataclass
class WordCounts:
    """Counts three words in a sentence: a text half with known answers."""

    logit_scale: float = 50.0
    logit_bias: float = 0.0
    asked: list[str] = field(default_factory=list)

    def encode(self, texts):
        self.asked += texts
        return np.array([[text.strip(".").split().count(word) for word in WORDS] for text in texts], dtype=np.float32)


@dataclass
class MeanColour:
    """The mean of each channel: an image half in the same space."""

    name: str = "toy"
    device: str = "cpu"
    precision: str = "float32"
    n_streams: int = 1

    def compute(self, batch):
        axes = (1, 2) if batch.dtype == np.uint8 else (2, 3)
        return Outputs(features=batch.astype(np.float32).mean(axis=axes), scores=None)


def make_model(**settings: Any):
    encoder = settings.pop("text_encoder", WordCounts())
    transform = Transform(
        height=8,
        width=8,
        resize="squash",
        resize_to=(8, 8),
        interpolation="bilinear",
        mean=(0.0, 0.0, 0.0),
        std=(1.0, 1.0, 1.0),
    )
    info = {"weights": {"kind": "own", "sha256": settings.pop("sha256", "f" * 64)}}
    return Model(
        name="toy", transform=transform, engine=MeanColour(), n_features=3, n_scores=0, text_encoder=encoder, info=info
    )


def labels(*names, **prompts):
    rules = [LabelRule(label=name) for name in names]
    rules += [LabelRule(label=name, prompts=tuple(given)) for name, given in prompts.items()]
    return LabelFile(rules=tuple(rules), where="labels.yaml", sha256="a" * 64)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))


def test_scores_are_cosines_with_the_mean_of_the_sentences_directions():
    file = labels(warm=["red red red red", "red green"], cold=["blue"])
    head = zero_shot_head(make_model(), file)
    features = np.array([[2, 0, 0], [0, 0, 5], [1, 1, 0], [0, 0, 0]], dtype=np.float32)
    warm = np.array([1, 0, 0]) + np.array([1, 1, 0]) / np.sqrt(2)
    warm /= np.linalg.norm(warm)
    expected = np.column_stack([[warm[0], 0, (warm[0] + warm[1]) / np.sqrt(2), 0], [0, 1, 0, 0]])
    np.testing.assert_allclose(head.apply(features), expected, atol=1e-6)
    assert (head.labels, head.kind, head.takes) == (("warm", "cold"), "similarity", "features")


def test_the_info_makes_a_result_reproducible():
    head = zero_shot_head(make_model(), labels("red", "Green_blue"), config=ZeroShotConfig(templates="name"))
    assert (head.info["logit_scale"], head.info["logit_bias"]) == (50.0, 0.0)
    prompts = head.info["prompts"]
    assert (prompts["templates"], prompts["labels_file"], prompts["labels_file_sha256"]) == (
        "name",
        "labels.yaml",
        "a" * 64,
    )
    assert prompts["examples"] == {"red": "red", "Green_blue": "Green blue"}
    again = zero_shot_head(make_model(), labels("red", "Green_blue"), config=ZeroShotConfig(templates="name"))
    other = zero_shot_head(make_model(), labels("red", "Green_blue"), config=ZeroShotConfig(templates="single"))
    assert prompts["sha256"] == again.info["prompts"]["sha256"] != other.info["prompts"]["sha256"]


def test_labels_and_templates_come_from_files(tmp_path):
    (tmp_path / "labels.yaml").write_text("[red, green]")
    (tmp_path / "mine.txt").write_text("just {label}")
    encoder = WordCounts()
    zero_shot_head(
        make_model(text_encoder=encoder),
        tmp_path / "labels.yaml",
        config=ZeroShotConfig(templates=str(tmp_path / "mine.txt")),
    )
    assert encoder.asked == ["just red", "just green"]


def test_photos_are_predicted_through_the_pipeline(tmp_path):
    """Red and blue squares, through reading, the model and the file."""
    predict = pytest.importorskip("graticule.models.predict")
    from graticule.data.readers.predictions import read_predictions

    for colour in ("red", "blue"):
        Image.new("RGB", (20, 20), colour).save(tmp_path / f"{colour}.png")
    images = pl.DataFrame({"image_id": ["r", "b"], "path": ["red.png", "blue.png"]})
    (tmp_path / "labels.yaml").write_text("[blue, green, red]")
    predict.predict_images(
        images, base=tmp_path, model=make_model(), output=tmp_path / "p.parquet", labels=tmp_path / "labels.yaml"
    )
    found = read_predictions(tmp_path / "p.parquet")
    assert dict(zip(found.image_ids, [found.labels[k] for k in found.top[:, 0]], strict=True)) == {
        "r": "red",
        "b": "blue",
    }
    assert found.info["logit_scale"] == 50.0
    assert found.info["prompts"]["templates"] == "single"
    config = ZeroShotConfig(templates="name")
    predict.predict_images(
        images,
        base=tmp_path,
        model=make_model(),
        output=tmp_path / "q.parquet",
        labels=tmp_path / "labels.yaml",
        zero_shot=config,
    )
    assert read_predictions(tmp_path / "q.parquet").info["prompts"]["templates"] == "name"


def test_prompts_without_a_direction_are_refused():
    with pytest.raises(ModelError, match="toy: the embeddings of the prompts of 'lamp' are zero or not finite"):
        zero_shot_head(make_model(), labels("lamp", "red"))
    with pytest.raises(ModelError, match=r"shape \(2, 3\), expected \(2, 4\)"):
        zero_shot_head(replace(make_model(), n_features=4), labels("blue", "red"))


def test_a_model_without_a_text_half_is_refused():
    with pytest.raises(ModelError, match="no text encoder"):
        zero_shot_head(make_model(text_encoder=None), labels("red"))


def test_unknown_templates_are_refused_before_anything_is_encoded():
    encoder = WordCounts()
    with pytest.raises(ConfigError, match="unknown set of templates"):
        zero_shot_head(make_model(text_encoder=encoder), labels("red"), config=ZeroShotConfig(templates="clip8"))
    assert not encoder.asked


def test_sentences_are_encoded_once_for_a_model_and_its_weights():
    encoder = WordCounts()
    first = encode_sentences(make_model(text_encoder=encoder), ["red", "blue"])
    again = encode_sentences(make_model(text_encoder=encoder), ["red", "blue"])
    assert encoder.asked == ["red", "blue"]
    np.testing.assert_array_equal(first, again)
    encode_sentences(make_model(text_encoder=encoder, sha256="e" * 64), ["red", "blue"])
    encode_sentences(make_model(text_encoder=encoder), ["blue", "red"])
    assert encoder.asked == ["red", "blue", "red", "blue", "blue", "red"]
    assert len(list(find_cache_folder().iterdir())) == 3


def test_weights_without_a_hash_are_never_kept():
    encoder = WordCounts()
    for _ in range(2):
        encode_sentences(make_model(text_encoder=encoder, sha256=""), ["red"])
    assert encoder.asked == ["red", "red"]
    assert not find_cache_folder().exists()


def test_a_damaged_or_misleading_entry_is_encoded_again(caplog):
    entry = find_cache_folder() / f"{make_key('toy', 'f' * 64, ['red'])}.npz"
    entry.parent.mkdir(parents=True)
    for damage in (
        b"",
        b"PK\x03\x04 cut short",
        None,
        np.zeros((2, 3), np.float32),
        np.full((1, 3), np.nan, np.float32),
    ):
        if isinstance(damage, bytes):
            entry.write_bytes(damage)
        elif damage is None:
            np.savez(entry, other=np.zeros(3))
        else:
            np.savez(entry, embeddings=damage)
        encoder = WordCounts()
        found = encode_sentences(make_model(text_encoder=encoder), ["red"])
        assert encoder.asked == ["red"]
        np.testing.assert_array_equal(found, [[1, 0, 0]])
    assert "is damaged" in caplog.text


def test_a_pickle_in_the_cache_is_never_loaded():
    entry = find_cache_folder() / f"{make_key('toy', 'f' * 64, ['red'])}.npz"
    entry.parent.mkdir(parents=True)
    np.savez(entry, embeddings=np.array([print], dtype=object), allow_pickle=True)
    encoder = WordCounts()
    encode_sentences(make_model(text_encoder=encoder), ["red"])
    assert encoder.asked == ["red"]


def test_a_cache_that_cannot_be_written_to_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    np.testing.assert_array_equal(encode_sentences(make_model(), ["red"]), [[1, 0, 0]])


def test_a_tiny_clip_gives_what_its_own_text_half_gives():
    torch = pytest.importorskip("torch")
    open_clip = pytest.importorskip("open_clip")
    from graticule.models.providers.open_clip import OpenClipText

    torch.manual_seed(0)
    module = open_clip.CLIP(
        embed_dim=16,
        vision_cfg={"layers": 1, "width": 32, "patch_size": 8, "image_size": 16, "head_width": 16},
        text_cfg={"layers": 1, "width": 32, "heads": 2, "context_length": 77},
    ).eval()
    text = OpenClipText(module=module, tokenizer=open_clip.get_tokenizer("ViT-B-32"), logit_scale=14.3, logit_bias=0.0)
    model = replace(make_model(text_encoder=text), n_features=16)
    prompts = (
        Prompts(label="dog", sentences=("a photo of a dog.", "a dog")),
        Prompts(label="cat", sentences=("a photo of a cat.",)),
    )
    found = embed_prompts(model, prompts)
    with torch.inference_mode():
        tokens = open_clip.tokenize(["a photo of a dog.", "a dog", "a photo of a cat."])
        directions = module.encode_text(tokens, normalize=True)
        dog = torch.nn.functional.normalize(directions[:2].mean(dim=0), dim=0)
    np.testing.assert_allclose(found[0], dog.numpy(), atol=1e-5)
    np.testing.assert_allclose(found[1], directions[2].numpy(), atol=1e-5)
    np.testing.assert_allclose(embed_prompts(model, prompts), found)
    np.testing.assert_allclose(np.linalg.norm(normalise(found * 7), axis=1), 1, rtol=1e-5)
