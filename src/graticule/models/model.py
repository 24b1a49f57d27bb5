"""A model as the rest of Graticule sees it: pixels in, feature vectors and scores out, all numpy.

Whatever library a model comes from (`graticule.models.providers`) and whatever computes it
(`graticule.models.engines`), `graticule.models.registry.load_model` gives one `Model`. Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, UInt8

from graticule.errors import ModelError
from graticule.models.transform import Transform

FEATURES = "features"
SCORES = "scores"
OUTPUTS = (FEATURES, SCORES)
"""What a model can be asked for: the penultimate layer (or an image embedding), and the head's scores."""

Batch = Float32[np.ndarray, "b 3 h w"] | UInt8[np.ndarray, "b h w 3"]
"""Images as a model takes them: normalised floats, or the bytes of `Transform.crop`, which the engine normalises."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """What a model gives for a batch; None where it was not asked for.

    Parameters
    ----------
    features
        Feature vectors, shape ``(b, d)``, float32, not normalised.
    scores
        The head's scores, shape ``(b, k)``, float32, of the model's ``score_kind``.
    """

    features: Float32[np.ndarray, "b d"] | None
    scores: Float32[np.ndarray, "b k"] | None


def outputs_in_order(gives: Sequence[str], arrays: Sequence[Float32[np.ndarray, "b _"]]) -> Outputs:
    """Return arrays that stand in the order of ``gives`` as outputs."""
    named = dict(zip(gives, arrays, strict=True))
    return Outputs(features=named.get(FEATURES), scores=named.get(SCORES))


@runtime_checkable
class Engine(Protocol):
    """What computes a network: torch, OpenVINO, ONNX Runtime …"""

    @property
    def name(self) -> str:
        """The engine's key in `graticule.models.engines.ENGINES`."""
        ...

    @property
    def device(self) -> str:
        """Where it computes, as in ``cpu`` or ``cuda:0``."""
        ...

    @property
    def precision(self) -> str:
        """What it really computes in: ``float32``, ``bfloat16`` or ``float16``."""
        ...

    @property
    def n_streams(self) -> int:
        """How many threads may usefully call `compute` at once."""
        ...

    def compute(self, batch: Batch) -> Outputs:
        """Return everything that the network gives for a batch."""
        ...


@runtime_checkable
class TextEncoder(Protocol):
    """The text half of a CLIP-like model."""

    @property
    def logit_scale(self) -> float:
        """What cosines are multiplied with before a softmax (a sigmoid for SigLIP)."""
        ...

    @property
    def logit_bias(self) -> float:
        """What is added after that; 0 for all but SigLIP."""
        ...

    def encode(self, texts: Sequence[str]) -> Float32[np.ndarray, "k d"]:
        """Return one embedding a text, not normalised, in the space of the image features."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A model that is loaded and ready.

    Parameters
    ----------
    name
        The name as typed, as in ``timm/resnet50``.
    transform
        The model's own preprocessing.
    engine
        What computes it.
    n_features
        Length of a feature vector; 0 where the model gives none.
    n_scores
        Number of scores; 0 where the model has no head.
    score_kind
        ``logits`` or ``probabilities``; empty where there is no head.
    labels
        Names of the head's classes, in the scores' order, each once; None where there is no head or they are unknown.
    label_ids
        WordNet ids (``n01440764``) of an ImageNet head's classes, in the scores' order; None for all others.
    text_encoder
        The text half of a CLIP-like model, else None.
    info
        What a file made with the model should say: weights and their hash, transform, engine, precision, versions.
    """

    name: str
    transform: Transform
    engine: Engine
    n_features: int
    n_scores: int
    score_kind: str = ""
    labels: tuple[str, ...] | None = None
    label_ids: tuple[str, ...] | None = None
    text_encoder: TextEncoder | None = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def compute(self, batch: Batch, *, outputs: Collection[str] = OUTPUTS) -> Outputs:
        """Return what the model gives for a batch of preprocessed images.

        Parameters
        ----------
        batch
            Images as `transform` makes them, shape ``(b, 3, height, width)``, float32; or as its ``crop`` gives them,
            shape ``(b, height, width, 3)``, bytes.
        outputs
            Which of `OUTPUTS` are wanted.

        Raises
        ------
        ModelError
            The model has no such output.
        """
        self.require(outputs)
        found = self.engine.compute(batch)
        return Outputs(
            features=found.features if FEATURES in outputs else None, scores=found.scores if SCORES in outputs else None
        )

    def require(self, outputs: Collection[str]) -> None:
        """Raise unless the model gives all of ``outputs``.

        Raises
        ------
        ModelError
            The model has no such output.
        """
        if FEATURES in outputs and not self.n_features:
            raise ModelError(
                f"{self.name}: gives scores only, expected feature vectors too. "
                "Take a model whose last layer is linear, or a callable that returns features."
            )
        if SCORES in outputs and not self.n_scores:
            raise ModelError(
                f"{self.name}: has no classification head, so it gives no scores. "
                "Use its features (graticule embed), or give --labels if it is a CLIP-like model."
            )

    def encode_text(self, texts: Sequence[str]) -> Float32[np.ndarray, "k d"]:
        """Return one embedding a text, not normalised.

        Raises
        ------
        ModelError
            The model has no text half.
        """
        if self.text_encoder is None:
            raise ModelError(
                f"{self.name}: has no text encoder, so it cannot be used with label names alone. "
                "Take a CLIP-like model, as in open_clip/ViT-B-32/openai."
            )
        return self.text_encoder.encode(texts)
