"""Scores of images: a model's own classes, its classes mapped to other labels, or label names it has never seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from graticule.data.store import describe_run
from graticule.errors import ConfigError, ModelError
from graticule.models.head import Head, own_head
from graticule.models.model import FEATURES, SCORES, Model, Outputs
from graticule.models.part_writer import Column
from graticule.models.pipeline import Job, StreamConfig, Streamed, stream_images

if TYPE_CHECKING:
    from graticule.models.label_space import LabelSpaceConfig
    from graticule.models.zero_shot import ZeroShotConfig


def predict_images(
    images: pl.DataFrame,
    *,
    base: str | Path,
    model: Model,
    output: str | Path,
    labels: str | Path | None = None,
    zero_shot: ZeroShotConfig | None = None,
    label_space: LabelSpaceConfig | None = None,
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
    zero_shot, label_space
        How a labels file is used; see `make_head`.
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
    head = make_head(model, labels, zero_shot=zero_shot, label_space=label_space)
    return predict_with(head, images, base=base, model=model, output=output, config=config, inputs=inputs)


def make_head(
    model: Model,
    labels: str | Path | None,
    *,
    zero_shot: ZeroShotConfig | None = None,
    label_space: LabelSpaceConfig | None = None,
) -> Head:
    """Return what turns a model's outputs into scores.

    Parameters
    ----------
    model
        The model.
    labels
        None for the model's own classes. A labels file otherwise: prompts for a CLIP-like model
        (`graticule.models.zero_shot`), classes for a model with a head of known classes
        (`graticule.models.label_space`).
    zero_shot
        Templates of the prompts; only for a CLIP-like model with a labels file.
    label_space
        How classes become labels; only for a model with a head of known classes and a labels file.

    Raises
    ------
    ConfigError
        A setting is given that this model, or a run without a labels file, has no use for.
    GraticuleError
        The labels file cannot be used with this model.
    """
    by_prompts = labels is not None and model.text_encoder is not None
    by_classes = labels is not None and not by_prompts
    if zero_shot is not None and not by_prompts:
        raise _unused("templates", model, labels, "a model with a text half, as open_clip/… has")
    if label_space is not None and not by_classes:
        raise _unused("aggregation, others", model, labels, "a model with a head of known classes")
    if labels is None:
        return own_head(model)
    if by_prompts:
        from graticule.models.zero_shot import zero_shot_head

        return zero_shot_head(model, labels, config=zero_shot)
    from graticule.models.label_space import mapped_head

    return mapped_head(model, labels, config=label_space)


def _unused(setting: str, model: Model, labels: str | Path | None, needs: str) -> ConfigError:
    given = f"{model.name} without a labels file" if labels is None else f"{model.name} and {Path(labels).name}"
    return ConfigError(f"{setting}: given for {given}, expected {needs} and a labels file. Leave it out.")


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
