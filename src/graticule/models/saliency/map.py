"""What a method of saliency is given and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Int, UInt8

from graticule.models.feature_map import FeatureMap
from graticule.models.network import Network

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Looker:
    """A network, its last feature map, and the head whose scores are asked about.

    Parameters
    ----------
    network, feature_map
        As `graticule.models.feature_map.find_feature_map` joins them.
    weights, intercepts
        A linear head on the network's features, shapes ``(d, k)`` and ``(k,)``.
    """

    network: Network
    feature_map: FeatureMap
    weights: Float32[np.ndarray, "d k"]
    intercepts: Float32[np.ndarray, " k"]

    def place(self, pixels: UInt8[np.ndarray, "b h w 3"]) -> torch.Tensor:
        """Return images as the network takes them."""
        import torch

        device = next(self.feature_map.module.parameters()).device
        return torch.from_numpy(self.network.transform.normalise(pixels)).to(device)

    def score(self, given: torch.Tensor) -> torch.Tensor:
        """Return the head's scores of images."""
        import torch

        features = self.feature_map.module(given)[0]
        weights = torch.from_numpy(self.weights).to(features.device)
        return features @ weights + torch.from_numpy(self.intercepts).to(features.device)


Saliency = Callable[[Looker, UInt8[np.ndarray, "b h w 3"], Int[np.ndarray, " b"]], Float32[np.ndarray, "b h w"]]
"""Gives, for each image and the label that is asked about, how much each pixel counts: from 0, each image summing to 1
(or to 0, where nothing speaks for the label)."""


def spread_map(coarse: Float32[np.ndarray, "b y x"], *, height: int, width: int) -> Float32[np.ndarray, "b h w"]:
    """Return a coarse map at the size of the input, each image summing to 1."""
    import torch

    grid = torch.from_numpy(np.ascontiguousarray(np.maximum(coarse, 0.0)))[:, None]
    fine = torch.nn.functional.interpolate(grid, size=(height, width), mode="bilinear", align_corners=False)[:, 0]
    total = fine.sum(dim=(1, 2), keepdim=True)
    return torch.where(total > 0, fine / total.clamp_min(1e-12), torch.zeros_like(fine)).numpy()
