"""Scores of images: a model's own classes, its classes mapped to other labels, or label names it has never seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from graticule.data.store import describe_run
from graticule.errors import ModelError
from graticule.models.head import Head, own_head
from graticule.models.model import FEATURES, SCORES, Model, Outputs
from graticule.models.part_writer import Column
from graticule.models.pipeline import Job, StreamConfig, Streamed, stream_images


def predict_images(
    images: pl.DataFrame,
    *,
    base: str | Path,
    model: Model,
    output: str | Path,
    labels: str | Path | None = None,
    config: StreamConfig | None = None,
    inputs: Mapping[str, Path] | None = None,
) -> Streamed:
    """Write the scores of images to a Parquet file, and return what came of it.

    Parameters
    ----------
    images
        An images table with paths.
    base
        Folder that relative paths start from: that of the images table.
    model
        As `graticule.models.registry.load_model` gives it.
    output
        File to write; images that cannot be read stand beside it, as in ``predictions.rejects.parquet``.
    labels
        A labels file; see `make_head`. None keeps the model's own classes.
    config
        Batch size, threads and the like.
    inputs
        Files that the images came from, hashed into the provenance.

    Raises
    ------
    ModelError
        The model gives no scores, or fails.
    GraticuleError
        As `graticule.models.pipeline.stream_images`.
    """
    return predict_with(
        make_head(model, labels), images, base=base, model=model, output=output, config=config, inputs=inputs
    )


def make_head(model: Model, labels: str | Path | None) -> Head:
    """Return what turns a model's outputs into scores.

    Parameters
    ----------
    model
        The model.
    labels
        None for the model's own classes. A labels file otherwise: prompts for a CLIP-like model
        (`graticule.models.zero_shot`), classes for a model with a head of known classes
        (`graticule.models.label_space`).
    """
    if labels is None:
        return own_head(model)
    if model.text_encoder is not None:
        from graticule.models.zero_shot import zero_shot_head

        return zero_shot_head(model, labels)
    from graticule.models.label_space import mapped_head

    return mapped_head(model, labels)


def predict_with(
    head: Head,
    images: pl.DataFrame,
    *,
    base: str | Path,
    model: Model,
    output: str | Path,
    config: StreamConfig | None = None,
    inputs: Mapping[str, Path] | None = None,
) -> Streamed:
    """Write the scores that a head makes of a model's outputs; parameters as of `predict_images`."""
    model.require([head.takes])
    keys = ("model", "weights", "transform", "engine", "precision")
    run = {**{key: model.info.get(key) for key in keys}, "labels": list(head.labels), "kind": head.kind, **head.info}

    def make(outputs: Outputs) -> np.ndarray:
        taken = {FEATURES: outputs.features, SCORES: outputs.scores}[head.takes]
        if taken is None:
            raise ModelError(f"{model.name}: gave no {head.takes}.")
        return head.apply(taken)

    job = Job(
        images=images,
        base=Path(base),
        model=model,
        column=Column(name=SCORES, width=len(head.labels), outputs=(head.takes,), make=make),
        output=Path(output),
        label="predicting",
        run=run,
        info={**model.info, "labels": list(head.labels), "kind": head.kind, **head.info},
        provenance=describe_run("predict", config={key: run[key] for key in keys}, inputs=inputs),
    )
    return stream_images(job, config)
