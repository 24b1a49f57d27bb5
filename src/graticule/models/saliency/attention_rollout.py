"""Attention rollout: how much of each patch arrives at a transformer's class token (or at the mean of all tokens)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Float32, Int, UInt8

from graticule.errors import ConfigError
from graticule.models.feature_map import TOKENS
from graticule.models.saliency.map import Looker, spread_map


def roll_out_attention(
    looker: Looker, pixels: UInt8[np.ndarray, "b h w 3"], targets: Int[np.ndarray, " b"]
) -> Float32[np.ndarray, "b h w"]:
    """Return how much each patch counts; the same for every target label, for attention knows none.

    Raises
    ------
    ConfigError
        The network has no attention that can be read: it is no transformer of timm's.

    References
    ----------
    Abnar and Zuidema (2020), Quantifying attention flow in transformers.
    """
    import torch

    del targets
    feature_map = looker.feature_map
    layers = [module for module in feature_map.module.modules() if _has_attention(module)]
    if not layers or feature_map.layout != TOKENS:
        raise ConfigError(
            f"--saliency attention_rollout: {looker.network.name} has no attention over patches that can be read, "
            "expected a vision transformer of timm's. Take --saliency grad_cam for a convolutional network."
        )
    given = looker.place(pixels)
    with torch.inference_mode(), _reading(layers) as seen:
        feature_map.module(given)
    flow: Any = None
    for attention in seen:
        mixed = attention.mean(dim=1)
        step = mixed + torch.eye(mixed.shape[-1], device=mixed.device)
        step = step / step.sum(dim=-1, keepdim=True)
        flow = step if flow is None else step @ flow
    n_patches = feature_map.height * feature_map.width
    n_before = flow.shape[-1] - n_patches
    arriving = flow[:, 0] if n_before else flow.mean(dim=1)
    grid = arriving[:, n_before:].reshape(len(pixels), feature_map.height, feature_map.width)
    height, width = pixels.shape[1:3]
    return spread_map(grid.float().cpu().numpy(), height=height, width=width)


def _has_attention(module: Any) -> bool:
    return hasattr(module, "fused_attn") and hasattr(module, "attn_drop")


@contextmanager
def _reading(layers: list[Any]) -> Generator[list[Any]]:
    """Give a list that holds each layer's attention after a pass; fused attention shows none and is off meanwhile."""
    seen: list[Any] = []
    fused = [layer.fused_attn for layer in layers]
    handles = [
        layer.attn_drop.register_forward_hook(lambda _module, _inputs, output: seen.append(output)) for layer in layers
    ]
    for layer in layers:
        layer.fused_attn = False
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
        for layer, was in zip(layers, fused, strict=True):
            layer.fused_attn = was
