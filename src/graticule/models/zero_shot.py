"""Zero-shot classification: a CLIP-like model is asked which of some sentences an image is nearest to.

Every label has sentences (`graticule.models.prompts`). Their embeddings, each scaled to length one, are averaged and
scaled to length one again, as CLIP's authors do; an image's score for a label is the cosine between that mean and the
image's own embedding. A softmax of the cosines times the model's ``logit_scale`` gives probabilities; the cosines are
what is written (kind ``similarity``), with the scale beside them, so that nothing is lost.

References
----------
Radford et al., Learning Transferable Visual Models From Natural Language Supervision, 2021, section 3.1.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from graticule.errors import ModelError, shown
from graticule.models.head import Head
from graticule.models.label_file import LabelFile, read_label_file
from graticule.models.model import FEATURES, Model
from graticule.models.prompts import Prompts, hash_prompts, load_templates, write_prompts
from graticule.models.text_cache import encode_sentences

SHORTEST = 1e-12
"""Vectors that are shorter have no direction; they stay zero, and every cosine with them is zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShotConfig:
    """How labels become sentences."""

    templates: str = "single"
    """A set of templates or a file of them; see `graticule.models.prompts`."""
    cache: str | None = None
    """Folder for the sentences' embeddings; None is the user's cache folder."""


def zero_shot_head(model: Model, labels: str | Path | LabelFile, *, config: ZeroShotConfig | None = None) -> Head:
    """Return the head that scores a CLIP-like model's image features by label names.

    Parameters
    ----------
    model
        A model with a text half.
    labels
        A labels file, or its path; synsets and classes in it are not used.
    config
        Templates and cache.

    Raises
    ------
    ModelError
        The model has no text half, or its text half gives embeddings of another length or of no use.
    GraticuleError
        The labels file or the templates cannot be used.
    """
    settings = config or ZeroShotConfig()
    model.require([FEATURES])
    file = labels if isinstance(labels, LabelFile) else read_label_file(labels)
    templates = load_templates(settings.templates)
    prompts = write_prompts(file.rules, templates)
    means = embed_prompts(model, prompts, folder=Path(settings.cache) if settings.cache else None)
    encoder = model.text_encoder
    assert encoder is not None, "embed_prompts has raised otherwise"

    def apply(features: Float32[np.ndarray, "b d"]) -> Float32[np.ndarray, "b k"]:
        return normalise(features) @ means.T

    info = {
        "logit_scale": float(encoder.logit_scale),
        "logit_bias": float(encoder.logit_bias),
        "prompts": {
            "templates": templates.name,
            "n_templates": len(templates.templates),
            "sha256": hash_prompts(prompts),
            "labels_file": Path(file.where).name,
            "labels_file_sha256": file.sha256,
            "examples": {found.label: found.sentences[0] for found in prompts},
        },
    }
    return Head(labels=file.labels, kind="similarity", takes=FEATURES, apply=apply, info=info)


def embed_prompts(
    model: Model, prompts: Sequence[Prompts], *, folder: Path | None = None
) -> Float32[np.ndarray, "k d"]:
    """Return one embedding a label, of length one: the mean of its sentences' embeddings, each of length one.

    Raises
    ------
    ModelError
        The model has no text half, or it gives embeddings of another length than the images', or without a direction.
    """
    sentences = [sentence for found in prompts for sentence in found.sentences]
    embeddings = encode_sentences(model, sentences, folder=folder)
    if embeddings.shape != (len(sentences), model.n_features):
        raise ModelError(
            f"{model.name}: its text half gives embeddings of shape {embeddings.shape}, expected "
            f"{(len(sentences), model.n_features)} as its image half has. Is it a CLIP-like model?"
        )
    starts = np.cumsum([0, *(len(found.sentences) for found in prompts)])[:-1]
    counts = np.array([len(found.sentences) for found in prompts], dtype=np.float32)
    means = normalise(np.add.reduceat(normalise(embeddings), starts, axis=0) / counts[:, None])
    lost = ~(np.linalg.norm(means, axis=1) > 0.5)
    if lost.any():
        names = shown(found.label for found, is_lost in zip(prompts, lost, strict=True) if is_lost)
        raise ModelError(
            f"{model.name}: the embeddings of the prompts of {names} are zero or not finite, expected a direction. "
            "Compute in float32 (--precision float32), or check the weights."
        )
    return means


def normalise(vectors: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    """Return vectors of length one; those without a direction become zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > SHORTEST)
