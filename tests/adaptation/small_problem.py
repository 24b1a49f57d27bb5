"""A small problem with a shift, and algorithms small enough for tests."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import polars as pl
import torch

from graticule.adaptation.algorithm import Batch, Shape
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.batches import FeatureBatches
from graticule.adaptation.trainer import train
from graticule.adaptation.trainer_config import TrainerConfig

WIDTHS = {"bottleneck": 8, "discriminator": 6, "width": 7}
N_FEATURES, N_LABELS = 12, 3
SHAPE = Shape(n_features=N_FEATURES, n_labels=N_LABELS, n_source=60, n_target=48)


def make_config(name, **options):
    config_type = ALGORITHMS[name].config_type
    names = {field.name for field in fields(config_type)}
    return config_type(**{key: value for key, value in WIDTHS.items() if key in names} | options)


def make_algorithm(name, **options):
    return ALGORITHMS[name](make_config(name, **options), SHAPE)


def draw_features(seed=0, n=60, shift=0.0):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(9).normal(size=(N_LABELS, N_FEATURES)) * 1.5
    labels = np.arange(n) % N_LABELS
    return (centres[labels] + rng.normal(size=(n, N_FEATURES)) + shift).astype(np.float32), labels


def make_batches(name, *, seed=0, batch_size=12):
    source, labels = draw_features(0, SHAPE.n_source)
    target, _ = draw_features(1, SHAPE.n_target, shift=0.5)
    return FeatureBatches(
        source=torch.from_numpy(source),
        source_labels=torch.from_numpy(labels),
        target=torch.from_numpy(target),
        batch_size=batch_size,
        seed=seed,
        is_source_balanced=ALGORITHMS[name].recipe.is_source_balanced,
    )


def run(name, *, seed=0, options=None, batches=None, **training):
    config = {"n_steps": 12, "checkpoint_every": 4, "batch_size": 12} | training.pop("config", {})
    return train(
        lambda: make_algorithm(name, **(options or {})),
        batches or make_batches(name, seed=seed),
        config=TrainerConfig(**config),
        seed=seed,
        **training,
    )


def draw_batch(dtype=torch.float32, n=9):
    generator = torch.Generator().manual_seed(3)
    return Batch(
        source=torch.randn(n, N_FEATURES, generator=generator, dtype=torch.float64).to(dtype),
        source_labels=torch.arange(n) % N_LABELS,
        target=torch.randn(n, N_FEATURES, generator=generator, dtype=torch.float64).to(dtype) + 0.3,
        target_rows=torch.randperm(SHAPE.n_target, generator=generator)[:n],
    )


def state(training):
    return {name: value.clone() for name, value in training.algorithm.state_dict().items()}


def assert_same_bits(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def make_tables(n=60):
    """Features and images tables of a source (Europe) and a target (Africa)."""
    source, labels = draw_features(0, n)
    target, _ = draw_features(1, n, shift=0.5)
    names = ["cup", "hat", "shoe"]
    ids = [f"e{i:03d}" for i in range(n)] + [f"a{i:03d}" for i in range(n)]
    images = pl.DataFrame(
        {
            "image_id": ids,
            "label": [names[k] for k in labels] * 2,
            "region": ["Europe"] * n + ["Africa"] * n,
            "split": (["train"] * 4 + ["test"]) * (2 * n // 5),
        }
    )
    features = pl.DataFrame({"image_id": ids, "features": pl.Series(np.concatenate([source, target]))})
    return features, images
