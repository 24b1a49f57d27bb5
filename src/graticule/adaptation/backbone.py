"""A network from the registry as a trainable backbone: photos in, features out, its classifier left behind."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from graticule.errors import ModelError
from graticule.models.model import FEATURES
from graticule.models.network import Network


class Backbone(nn.Module):
    """The part of a network that makes features.

    Parameters
    ----------
    module
        The network's module: pixels → a tuple of outputs.
    place
        Which of them is the features.
    """

    def __init__(self, module: nn.Module, place: int) -> None:
        super().__init__()
        self.module = module
        self.place = place

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the features, shape ``(b, d)``."""
        outputs: Any = self.module(pixels)
        return outputs[self.place]


def make_backbone(network: Network) -> tuple[Backbone, int]:
    """Return a trainable backbone and how many features it gives.

    Parameters that the features do not depend on (the classifier's) are frozen, so that no optimiser moves them.

    Raises
    ------
    ModelError
        The network cannot be trained, or gives no features.
    """
    if network.module is None:
        raise ModelError(
            f"{network.name}: cannot be trained here (it is no torch module); expected timm/…, open_clip/…, "
            "torchvision/… or hf/…. Embed with it and adapt the features."
        )
    if FEATURES not in network.gives:
        raise ModelError(
            f"{network.name}: gives {', '.join(network.gives)}, expected features. Choose another network."
        )
    backbone = Backbone(network.module, network.gives.index(FEATURES))
    generator = torch.Generator().manual_seed(0)
    trial = torch.rand(2, 3, network.transform.height, network.transform.width, generator=generator)
    parameters = list(backbone.parameters())
    backbone.eval()
    with torch.enable_grad():
        features = backbone(trial)
        gradients: Any = torch.autograd.grad(features.sum(), parameters, allow_unused=True)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.requires_grad_(gradient is not None)
    return backbone, features.shape[1]
