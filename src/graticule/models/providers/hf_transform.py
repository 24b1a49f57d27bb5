"""The settings of a transformers image processor, read as a `Transform`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graticule.errors import ModelError
from graticule.models.transform import Transform

RESAMPLES = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
"""Pillow's numbers, which the settings hold."""

CONVNEXT_WARP = 384
"""From this size on, the processor of ConvNeXt squashes instead of cropping."""


def read_transform(settings: Mapping[str, Any], *, name: str) -> Transform:
    """Return what an image processor with these settings does.

    Parameters
    ----------
    settings
        As ``processor.to_dict()`` gives them.
    name
        The model, for the message.

    Raises
    ------
    ModelError
        It does something that a `Transform` cannot say.
    """
    size, crop = dict(settings.get("size") or {}), dict(settings.get("crop_size") or {})
    resize, aim, cut = _sizes(settings, size, crop, name=name)
    rescale = settings.get("rescale_factor") if settings.get("do_rescale", True) else 1.0
    if abs(float(rescale or 1 / 255) - 1 / 255) > 1e-6:
        raise ModelError(f"{name}: its processor rescales pixels by {rescale}, expected 1/255. Use module:function.")
    normalises = settings.get("do_normalize", True)
    mean = settings["image_mean"] if normalises else (0.0, 0.0, 0.0)
    std = settings["image_std"] if normalises else (1.0, 1.0, 1.0)
    return Transform(
        height=cut[0],
        width=cut[1],
        resize=resize,
        resize_to=aim,
        interpolation=RESAMPLES[int(settings.get("resample", 2))],
        mean=_three(mean),
        std=_three(std),
        crops_down=True,
    )


def _sizes(
    settings: Mapping[str, Any], size: dict[str, Any], crop: dict[str, Any], *, name: str
) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """Return how to resize, what to, and what to cut out."""
    shortest = size.get("shortest_edge")
    if settings.get("crop_pct") is not None and shortest and "ConvNext" in str(settings.get("image_processor_type")):
        if shortest >= CONVNEXT_WARP:
            return "squash", (shortest, shortest), (shortest, shortest)
        aim = int(shortest / settings["crop_pct"])
        return "shortest", (aim, aim), (shortest, shortest)
    crops = bool(settings.get("do_center_crop")) and bool(crop)
    if not settings.get("do_resize", True) or settings.get("do_pad") or (shortest and size.get("longest_edge")):
        raise _unknown(name, size)
    if shortest and crops:
        return "shortest", (shortest, shortest), (int(crop["height"]), int(crop["width"]))
    if size.get("height") and size.get("width"):
        aim_and_cut = (int(size["height"]), int(size["width"]))
        return "squash", aim_and_cut, (int(crop["height"]), int(crop["width"])) if crops else aim_and_cut
    raise _unknown(name, size)


def _unknown(name: str, size: Mapping[str, Any]) -> ModelError:
    return ModelError(
        f"{name}: its processor resizes to {dict(size)} in a way that is not known here; expected a height and a "
        "width, or a shortest edge and a centre crop. Wrap the model in a Python function and give module:function."
    )


def _three(values: Any) -> tuple[float, float, float]:
    listed = [float(value) for value in values]
    if len(listed) == 1:
        listed *= 3
    return listed[0], listed[1], listed[2]
