"""Bottlenecks, heads and discriminators, with the initial values that public recipes agree on."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def make_bottleneck(n_in: int, n_out: int, *, dropout: float = 0.0) -> nn.Sequential:
    """Return linear, batch normalisation, ReLU and, where asked for, dropout; weights N(0, .005), bias .1."""
    linear = nn.Linear(n_in, n_out)
    nn.init.normal_(linear.weight, std=0.005)
    nn.init.constant_(linear.bias, 0.1)
    layers: list[nn.Module] = [linear, nn.BatchNorm1d(n_out), nn.ReLU()]
    if dropout:
        layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)


def make_head(n_features: int, n_labels: int) -> nn.Linear:
    """Return a linear head; weights N(0, .01), bias 0."""
    linear = nn.Linear(n_features, n_labels)
    nn.init.normal_(linear.weight, std=0.01)
    nn.init.zeros_(linear.bias)
    return linear


def make_discriminator(n_in: int, *, width: int, dropout: float) -> nn.Sequential:
    """Return two hidden layers and one logit: above 0 means source.

    With ``dropout`` the hidden layers are ReLU and dropout (as in CDAN's paper); without, batch normalisation and ReLU.
    """
    layers: list[nn.Module] = []
    for n_from in (n_in, width):
        layers.append(nn.Linear(n_from, width))
        layers += [nn.ReLU(), nn.Dropout(dropout)] if dropout else [nn.BatchNorm1d(width), nn.ReLU()]
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


class CosineHead(nn.Module):
    """Cosines of normalised features with weight vectors, divided by a temperature; no bias.

    `normalise` brings the weights back to length 1; it is called after each step of the optimiser.
    """

    def __init__(self, n_features: int, n_out: int, *, temperature: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_features))
        nn.init.xavier_normal_(self.weight)
        self.temperature = temperature
        self.normalise()

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores."""
        return functional.normalize(features, dim=1) @ self.weight.T / self.temperature

    def normalise(self) -> None:
        """Bring each weight vector to length 1."""
        with torch.no_grad():
            self.weight.copy_(functional.normalize(self.weight, dim=1))
