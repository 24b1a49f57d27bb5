from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image

from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.adapt_photos import NetworkChoice, adapt_photos
from graticule.adaptation.algorithm import Shape
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.augment import Augmentation
from graticule.adaptation.backbone import make_backbone
from graticule.adaptation.problem import Queries
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.cli.main import main
from graticule.data.store import read_info
from graticule.errors import ConfigError, ImageError
from graticule.models.network import Network, WeightsFacts
from graticule.models.transform import Transform

TRANSFORM = Transform(height=16, width=16, resize_to=(18, 18), mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
QUERIES = Queries(source='region == "Europe"', target='region == "Africa"')
COLOURS = {"red": (200, 40, 40), "blue": (40, 40, 200)}


class Tiny(torch.nn.Module):
    """Two convolutions; features and a classifier that nothing here uses."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 6, 3, stride=2),
            torch.nn.BatchNorm2d(6),
            torch.nn.ReLU(),
            torch.nn.Conv2d(6, 8, 3),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
        )
        self.classifier = torch.nn.Linear(8, 3)

    def forward(self, pixels):
        features = self.layers(pixels)
        return features, self.classifier(features)


def load_tiny(name="tiny", *, weights=None):
    with torch.random.fork_rng():
        module = Tiny().eval()
    facts = WeightsFacts(kind="random", source="a test")
    return Network(name=name, gives=("features", "scores"), transform=TRANSFORM, weights=facts, module=module)


@pytest.fixture
def photos(tmp_path, monkeypatch):
    for module in ("adapt_photos", "photos"):
        monkeypatch.setattr(f"graticule.adaptation.{module}.load_network", load_tiny)
    rng = np.random.default_rng(0)
    rows = []
    for region, light in (("Europe", 0), ("Africa", 25)):
        for label, colour in COLOURS.items():
            folder = tmp_path / "photos" / region / label
            folder.mkdir(parents=True)
            for number in range(10):
                noise = rng.integers(-30, 30, size=(24, 30, 3)) + light
                pixels = np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.png")
                path = f"{region}/{label}/{number}.png"
                rows.append({"image_id": path, "path": path, "label": label, "region": region})
    return tmp_path / "photos", pl.DataFrame(rows)


def adapt(photos, algorithm="dann", checkpoints=None, **training):
    base, images = photos
    trainer = TrainerConfig(**({"n_steps": 30, "batch_size": 8, "checkpoint_every": 10} | training))
    return adapt_photos(
        images,
        base=base,
        network=NetworkChoice(model="timm/tiny"),
        queries=QUERIES,
        config=AdaptConfig(algorithm=algorithm, options={"bottleneck": 6}, trainer=trainer),
        checkpoints=checkpoints,
    )


@pytest.mark.parametrize("algorithm", ["source_only", "mcc", "mcd", "dance"])
def test_a_network_learns_end_to_end(photos, algorithm):
    result = adapt(photos, algorithm, n_steps=60, learning_rate=0.02)
    accuracy = result.metrics.filter((pl.col("metric") == "accuracy") & pl.col("label").is_null())["value"][0]
    assert accuracy > 0.8
    assert result.predictions.height == 20
    assert result.info["network"]["model"] == "timm/tiny"


def test_a_stopped_run_goes_on_to_the_same_bits(photos, tmp_path, monkeypatch):
    whole = adapt(photos, checkpoints=tmp_path / "whole")
    from graticule.adaptation.photos import PhotoBatches

    class StoppedError(Exception):
        pass

    draw = PhotoBatches.draw

    def dying(self, step):
        if step == 17:
            raise StoppedError
        return draw(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(PhotoBatches, "draw", dying)
        with pytest.raises(StoppedError):
            adapt(photos, checkpoints=tmp_path / "stopped")
    assert adapt(photos, checkpoints=tmp_path / "stopped").predictions.equals(whole.predictions)


def test_the_backbone_learns_at_a_tenth_and_the_old_classifier_stays(photos):
    backbone, n_features = make_backbone(load_tiny())
    assert n_features == 8
    frozen = [name for name, parameter in backbone.named_parameters() if not parameter.requires_grad]
    assert frozen == ["module.classifier.weight", "module.classifier.bias"]
    kind = ALGORITHMS["dann"]
    shape = Shape(n_features=8, n_labels=2, n_source=20, n_target=20)
    groups = {group.name: group for group in kind(kind.config_type(), shape, backbone=backbone).list_groups()}
    assert groups["backbone"].rate == pytest.approx(groups["new"].rate / 10)
    assert len(groups["backbone"].parameters) == 6


def test_augmentation_keeps_the_size_and_follows_its_generator():
    photo = Image.fromarray(np.random.default_rng(0).integers(0, 255, size=(40, 90, 3), dtype=np.uint8))
    vary = Augmentation(transform=TRANSFORM)
    first = vary(photo, np.random.default_rng(1))
    assert first.shape == (16, 16, 3)
    assert np.array_equal(first, vary(photo, np.random.default_rng(1)))
    assert not np.array_equal(first, vary(photo, np.random.default_rng(2)))
    plain = Augmentation(transform=TRANSFORM, mirrors=False, areas=(1.0, 1.0))
    square = Image.fromarray(np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3))
    boxes = {plain(square, np.random.default_rng(seed)).tobytes() for seed in range(8)}
    assert np.asarray(square).tobytes() in boxes


def test_a_photo_that_cannot_be_read_is_named(photos):
    base, _ = photos
    (base / "Africa" / "red" / "3.png").write_bytes(b"nothing")
    with pytest.raises(ImageError, match=r"Africa/red/3\.png: .*Leave it out"):
        adapt(photos)


def test_a_batch_larger_than_the_photos_is_refused(photos):
    with pytest.raises(ConfigError, match="batch_size is 21, and the source has 20 images"):
        adapt(photos, batch_size=21)


def test_photos_as_typed(photos, tmp_path, capsys):
    base, _ = photos
    words = ["adapt", str(base), "--layout", "{region}/{label}", "--model", "timm/tiny", "--source", QUERIES.source]
    words += ["--target", QUERIES.target, "--algorithm", "mcc", "--steps", "10", "--batch-size", "8"]
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--resume", str(tmp_path / "run")])
        assert ended.value.code == 0
    assert read_info(tmp_path / "run" / "predictions.parquet")["labels"] == ["blue", "red"]
    assert "mcc: 20 source images of 2 labels → 20 target images" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["adapt", str(base), "--source", QUERIES.source, "--target", QUERIES.target])
    assert ended.value.code == 2
    assert "neither --images nor --model" in capsys.readouterr().err
