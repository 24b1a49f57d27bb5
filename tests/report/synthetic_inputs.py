"""Made-up images and predictions with scores, to run the real audit on."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions

REGIONS = ("Africa", "Americas", "East Asia", "Europe", "Southeast Asia", "West Asia")


def make_inputs(*, n_images, n_labels, n_regions=6, n_models=1, seed=0, scores=True):
    """Return an images table and predictions whose accuracy falls from region to region."""
    rng = np.random.default_rng(seed)
    regions = REGIONS[:n_regions] if n_regions <= len(REGIONS) else [f"region {i:03d}" for i in range(n_regions)]
    labels = [f"label {i:03d}" for i in range(n_labels)]
    region = rng.integers(0, n_regions, n_images)
    label = rng.integers(0, n_labels, n_images)
    ids = np.array([f"img{i:07d}" for i in range(n_images)], dtype=object)
    images = pl.DataFrame(
        {
            "image_id": ids.tolist(),
            "path": [f"photos/{name}.jpg" for name in ids],
            "label": [labels[i] for i in label],
            "region": [regions[i] for i in region],
        }
    )
    ease = rng.normal(2.2, 0.8, n_labels)
    effect = np.linspace(-0.6, 0.5, n_regions)
    predictions = []
    for place in range(n_models):
        logits = rng.gumbel(0, 1, (n_images, n_labels)).astype(np.float32)
        logits[np.arange(n_images), label] += (ease[label] + effect[region] + 1.5 + 0.2 * place).astype(np.float32)
        top = np.argsort(-logits, axis=1, kind="stable")[:, : min(5, n_labels)]
        predictions.append(
            Predictions(
                model=f"timm/model-{place + 1}",
                image_ids=ids,
                labels=tuple(labels),
                kind="logits" if scores else "labels",
                top=top.astype(np.int64) if scores else top[:, :1].astype(np.int64),
                scores=logits if scores else None,
                info={},
            )
        )
    return images, predictions
