"""A ring of the latest features and their labels, kept in buffers so that checkpoints hold it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

EMPTY = -1
"""Label of a slot that nothing was put in yet."""


class FeatureQueue(nn.Module):
    """The latest features, oldest overwritten first."""

    features: Tensor
    labels: Tensor
    position: Tensor

    def __init__(self, size: int, n_features: int) -> None:
        super().__init__()
        self.register_buffer("features", torch.zeros(size, n_features))
        self.register_buffer("labels", torch.full((size,), EMPTY, dtype=torch.int64))
        self.register_buffer("position", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def push(self, features: Tensor, labels: Tensor) -> None:
        """Put rows in."""
        size = len(self.labels)
        features, labels = features[-size:], labels[-size:]
        slots = (self.position + torch.arange(len(labels), device=labels.device)) % size
        self.features[slots] = features.to(self.features.dtype)
        self.labels[slots] = labels
        self.position.copy_((self.position + len(labels)) % size)

    def read(self) -> tuple[Tensor, Tensor]:
        """Return the features and labels of the slots that are filled."""
        n_filled = int((self.labels != EMPTY).sum())
        return self.features[:n_filled], self.labels[:n_filled]
