"""Feature vectors of images: what goes into a model's last layer, or a CLIP-like model's image embedding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from graticule.data.store import describe_run
from graticule.errors import ConfigError, ModelError
from graticule.models.model import FEATURES, Model, Outputs
from graticule.models.part_writer import DTYPES, Column
from graticule.models.pipeline import Job, StreamConfig, Streamed, stream_images

LAYER = "penultimate layer"
EMBEDDING = "image embedding"


def embed_images(
    images: pl.DataFrame,
    *,
    base: str | Path,
    model: Model,
    output: str | Path,
    dtype: str = "float32",
    config: StreamConfig | None = None,
    inputs: Mapping[str, Path] | None = None,
) -> Streamed:
    """Write the features of images to a Parquet file, and return what came of it.

    Parameters
    ----------
    images
        An images table with paths.
    base
        Folder that relative paths start from: that of the images table.
    model
        As `graticule.models.registry.load_model` gives it.
    output
        File to write; images that cannot be read stand beside it, as in ``features.rejects.parquet``.
    dtype
        ``float32`` or ``float16`` (half the file).
    config
        Batch size, threads and the like.
    inputs
        Files that the images came from, hashed into the provenance.

    Raises
    ------
    ModelError
        The model gives no features, or fails.
    GraticuleError
        As `graticule.models.pipeline.stream_images`.
    """
    if dtype not in DTYPES:
        raise ConfigError(f"unknown dtype '{dtype}'. Known: {', '.join(DTYPES)}.")
    model.require([FEATURES])
    name = str(model.info.get("model", model.name))
    run = {key: model.info.get(key) for key in ("model", "weights", "transform", "engine", "precision")}

    def take(outputs: Outputs) -> np.ndarray:
        if outputs.features is None:
            raise ModelError(f"{name}: gave no features.")
        return outputs.features

    layer = LAYER if model.text_encoder is None else EMBEDDING
    job = Job(
        images=images,
        base=Path(base),
        model=model,
        column=Column(name=FEATURES, width=model.n_features, dtype=dtype, outputs=(FEATURES,), make=take),
        output=Path(output),
        label="embedding",
        run=run,
        info={**model.info, "layer": layer, "n_features": model.n_features, "dtype": dtype},
        provenance=describe_run("embed", config={**run, "dtype": dtype}, inputs=inputs),
    )
    return stream_images(job, config)
