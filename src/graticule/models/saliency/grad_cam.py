"""Grad-CAM by captum: places of the last feature map, weighed by how the score of a label hangs on its channels."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Int, UInt8

from graticule.errors import ConfigError, MissingExtraError
from graticule.models.feature_map import FIRST
from graticule.models.saliency.map import Looker, spread_map


def compute_grad_cam(
    looker: Looker, pixels: UInt8[np.ndarray, "b h w 3"], targets: Int[np.ndarray, " b"]
) -> Float32[np.ndarray, "b h w"]:
    """Return what speaks for the target label of each image.

    Raises
    ------
    MissingExtraError
        captum is not installed.
    ConfigError
        The network is a transformer, whose feature map has no channels in captum's sense.

    References
    ----------
    Selvaraju et al. (2017), Grad-CAM: visual explanations from deep networks via gradient-based localization.
    """
    try:
        from captum.attr import LayerGradCam
    except ImportError as error:
        raise MissingExtraError("captum", extra="saliency", needed_for="Grad-CAM") from error
    import torch

    feature_map = looker.feature_map
    if feature_map.layout != FIRST:
        raise ConfigError(
            f"--saliency grad_cam: {looker.network.name} gives {feature_map.layout}, expected a convolutional network. "
            "Take --saliency attention_rollout for a transformer."
        )
    given = looker.place(pixels)
    method = LayerGradCam(looker.score, feature_map.module.get_submodule(feature_map.layer))
    with torch.enable_grad():
        found = method.attribute(given, target=torch.from_numpy(targets).to(given.device), relu_attributions=True)
    assert isinstance(found, torch.Tensor)
    height, width = pixels.shape[1:3]
    return spread_map(found.detach()[:, 0].float().cpu().numpy(), height=height, width=width)
