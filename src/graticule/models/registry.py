"""Models by name: ``timm/…``, ``open_clip/…``, ``torchvision/…``, ``hf/…``, ``onnx/…`` or ``module:function``."""

from __future__ import annotations

from graticule.models.model import Model


def load_model(
    name: str, *, weights: str | None = None, device: str = "auto", engine: str = "auto", precision: str = "auto"
) -> Model:
    """Return a model that is ready to compute.

    Parameters
    ----------
    name
        ``provider/name``, as in ``timm/resnet50`` or ``open_clip/ViT-B-32/openai``; ``onnx/file.onnx``; or a Python
        callable as ``module:function``.
    weights
        A file (safetensors or a torch checkpoint), ``hub``, ``package`` (an installed package that holds weights),
        ``random``; None takes an installed package where there is one for this model, else the provider's hub.
    device
        ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto``.
    engine
        A key of `graticule.models.engines.ENGINES`, or ``auto``: the fastest installed one that gives the results of
        torch in float32.
    precision
        ``float32``, ``bfloat16``, ``float16``, or ``auto`` (float32).

    Raises
    ------
    ConfigError
        No such provider, engine, device or precision.
    ModelError
        No such model, or its weights cannot be had.
    MissingExtraError
        A package that it needs is not installed.
    """
    raise NotImplementedError
