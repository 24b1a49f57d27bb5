"""The models of an audit: photos through a model, or its features through linear probes, to files of predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from graticule.cli.label_options import LabelOptions

if TYPE_CHECKING:
    from graticule.models.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A model to run and how."""

    name: str
    weights: str | None = None
    engine: str = "auto"
    labels: str | None = None
    label_options: LabelOptions = field(default_factory=LabelOptions)
    trains: tuple[str, ...] = ()
    """Queries that pick training images; each gives a linear probe. None predicts with the model's own head."""
    group: str | None = None
    seed: int = 0


def predict_photos(request: ModelRequest, images: pl.DataFrame, *, base: Path, folder: Path) -> list[Path]:
    """Return the files of predictions that a model gives for the images, written into ``folder``.

    Parameters
    ----------
    request
        The model.
    images
        An images table with paths, and with the columns that the training queries name.
    base
        Folder that relative paths start from.
    folder
        Where features and predictions go. A run that was killed goes on where it stopped.
    """
    from graticule.models.predict import predict_images
    from graticule.models.registry import load_model

    model = load_model(request.name, weights=request.weights, engine=request.engine)
    stem = folder / file_stem(request.name)
    if request.trains:
        return _train_probes(request, model, images, base=base, stem=stem)
    output = stem.with_name(f"{stem.name}.predictions.parquet")
    reads_prompts = model.text_encoder is not None
    predict_images(
        images,
        base=base,
        model=model,
        output=output,
        labels=request.labels,
        zero_shot=request.label_options.make_zero_shot() if reads_prompts else None,
        label_space=None if reads_prompts else request.label_options.make_label_space(),
    )
    return [output]


def file_stem(name: str) -> str:
    """Return a model's name as part of a file's name.

    Examples
    --------
    >>> file_stem("timm/tf_efficientnet_lite0")
    'timm_tf_efficientnet_lite0'
    """
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)


def _train_probes(request: ModelRequest, model: Model, images: pl.DataFrame, *, base: Path, stem: Path) -> list[Path]:
    from graticule.data.store import read_info, read_table, write_table
    from graticule.data.tables import FEATURES, PREDICTIONS
    from graticule.models.extract import embed_images
    from graticule.models.probe import ProbeConfig, probe_features

    features = stem.with_name(f"{stem.name}.features.parquet")
    embed_images(images, base=base, model=model, output=features)
    vectors, info = read_table(features, FEATURES), read_info(features)
    outputs: list[Path] = []
    for number, query in enumerate(request.trains, start=1):
        config = ProbeConfig(group=request.group)
        found = probe_features(vectors, images, train=query, config=config, seed=request.seed, features_info=info)
        output = stem.with_name(f"{stem.name}.probe_{number}.parquet")
        outputs.append(write_table(found.predictions, output, PREDICTIONS, info=found.info))
    return outputs
