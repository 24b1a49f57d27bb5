"""What an algorithm is fed: rows that are drawn into batches to train on, and looked up to predict."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float32, Int
from torch import nn

from graticule.adaptation.algorithm import Algorithm
from graticule.adaptation.batches import BatchSource, FeatureBatches
from graticule.adaptation.inference import Inferred, infer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Which rows a run learns from.

    Parameters
    ----------
    source, target
        Rows of the inputs, shapes ``(n,)`` and ``(m,)``.
    source_labels
        Indices of the source's labels, shape ``(n,)``.
    is_source_balanced
        Whether all labels are drawn equally often.
    """

    source: Int[np.ndarray, " n"]
    source_labels: Int[np.ndarray, " n"]
    target: Int[np.ndarray, " m"]
    is_source_balanced: bool


@runtime_checkable
class Inputs(Protocol):
    """Features or photos, by row."""

    @property
    def n_features(self) -> int:
        """How many numbers the algorithm's bottleneck gets of an image."""
        ...

    def make_backbone(self) -> nn.Module | None:
        """Return what makes features of the inputs; None where they are features."""
        ...

    def make_batches(self, rows: Rows, *, batch_size: int, seed: int) -> BatchSource:
        """Return the batches of a run."""
        ...

    def infer(self, algorithm: Algorithm, rows: Int[np.ndarray, " n"]) -> Inferred:
        """Return what an algorithm in evaluation mode says of some rows."""
        ...

    def hash(self) -> str:
        """Return a hash of all inputs, so that a checkpoint of others is refused."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureInputs:
    """Features in memory.

    Parameters
    ----------
    vectors
        Scaled features, shape ``(n, d)``.
    """

    vectors: Float32[np.ndarray, "n d"]

    @property
    def n_features(self) -> int:
        """The features' width."""
        return self.vectors.shape[1]

    def make_backbone(self) -> nn.Module | None:
        """Return None: these are features."""
        return None

    def make_batches(self, rows: Rows, *, batch_size: int, seed: int) -> BatchSource:
        """Return batches of features."""
        return FeatureBatches(
            source=torch.from_numpy(self.vectors[rows.source]),
            source_labels=torch.from_numpy(rows.source_labels),
            target=torch.from_numpy(self.vectors[rows.target]),
            batch_size=batch_size,
            seed=seed,
            is_source_balanced=rows.is_source_balanced,
        )

    def infer(self, algorithm: Algorithm, rows: Int[np.ndarray, " n"]) -> Inferred:
        """Return what an algorithm says of some rows."""
        return infer(algorithm, self.vectors[rows])

    def hash(self) -> str:
        """Return a hash of the features."""
        return hashlib.sha256(np.ascontiguousarray(self.vectors).tobytes()).hexdigest()
