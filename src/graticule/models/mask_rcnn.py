"""Foreground masks by torchvision's Mask R-CNN, all its classes taken as one: whatever it finds is foreground.

What GeoNet's appendix B does, but for its training: there the network was trained on COCO with one class, here the one
that torchvision offers is used and its classes are not looked at. COCO's photos are mostly from North America and
Europe, so what it finds elsewhere may be less.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from jaxtyping import Bool, Float
from PIL import Image

from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.data.store import replace_atomically
from graticule.errors import FileError, ImageError, MissingExtraError, ModelError
from graticule.progress import track

if TYPE_CHECKING:
    import torch

LEAST_SCORE = 0.5
HALF = 0.5
LONGEST_SIDE = 800
HUB = "hub"


def write_masks(images: pl.DataFrame, *, base: str | Path, output: str | Path, weights: str) -> int:
    """Write a mask a photo into a folder, and return how many were written; photos that have one are passed over.

    Parameters
    ----------
    images
        An images table with paths.
    base
        Folder that relative paths start from.
    output
        The folder; masks are named as `graticule.models.foreground.MaskFolder` finds them.
    weights
        A file of ``maskrcnn_resnet50_fpn``'s weights, or ``hub``.

    Raises
    ------
    ModelError
        The weights cannot be had or do not fit.
    """
    import torch

    network = load_mask_rcnn(weights)
    written = 0
    rows = images.select("image_id", "path").rows()
    for image_id, path in track(rows, total=len(rows), label="masks"):
        place = Path(output) / Path(str(image_id).lstrip("/\\")).with_suffix(".png")
        if not path or ".." in place.parts or place.is_file():
            continue
        try:
            image = open_image(read_bytes(path, Path(base)))
        except (ImageError, FileError):
            continue
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        pixels = torch.from_numpy(np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255)
        with torch.inference_mode():
            found = network([pixels])[0]
        mask = unite_detections(found["masks"][:, 0].numpy(), found["scores"].numpy())
        with replace_atomically(place) as temporary:
            Image.fromarray(mask.astype(np.uint8) * 255).save(temporary, "PNG")
        written += 1
    return written


def unite_detections(
    masks: Float[np.ndarray, "k h w"], scores: Float[np.ndarray, " k"], *, least_score: float = LEAST_SCORE
) -> Bool[np.ndarray, "h w"]:
    """Return where any detection that is sure enough has its object."""
    return np.asarray((masks[scores >= least_score] >= HALF).any(axis=0))


def load_mask_rcnn(weights: str) -> torch.nn.Module:
    """Return the network, ready to detect.

    Raises
    ------
    MissingExtraError
        torchvision is not installed.
    ModelError
        The weights cannot be had or do not fit.
    """
    try:
        from torchvision.models.detection import MaskRCNN_ResNet50_FPN_Weights, maskrcnn_resnet50_fpn
    except ImportError as error:
        raise MissingExtraError("torchvision", extra="torch", needed_for="Mask R-CNN") from error
    from graticule.models.hub import is_reachable, no_weights
    from graticule.models.weights import read_state

    if weights != HUB:
        network = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None)
        try:
            network.load_state_dict(read_state(weights))
        except RuntimeError as error:
            raise ModelError(
                f"{weights}: no weights of maskrcnn_resnet50_fpn ({str(error).splitlines()[0]}). Give a file that "
                "torchvision's own state was saved to."
            ) from error
        return network.eval()
    import torch

    entry = MaskRCNN_ResNet50_FPN_Weights.DEFAULT
    cached = Path(torch.hub.get_dir(), "checkpoints", Path(entry.url).name)
    if not cached.is_file() and not is_reachable(entry.url):
        raise no_weights("torchvision/maskrcnn_resnet50_fpn", entry.url, installed=[])
    return maskrcnn_resnet50_fpn(weights=entry).eval()
