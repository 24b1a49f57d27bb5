"""What a provider gives: a network that nothing computes yet, and what is known of it.

A provider (`graticule.models.providers`) makes a `Network`, an engine (`graticule.models.engines`) computes it, and
`graticule.models.registry.load_model` joins the two into a `Model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graticule.models.model import TextEncoder
from graticule.models.transform import Transform

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsFacts:
    """Where a network's weights come from.

    Parameters
    ----------
    kind
        ``hub``, ``file``, ``package``, ``random``, or ``own`` (a Python callable brought them).
    source
        The repository, file or package, in words.
    sha256
        SHA-256 over the loaded values, or of the ONNX file; empty where there is nothing to hash.
    """

    kind: str
    source: str
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """A network and what is known of it. Exactly one of ``module``, ``onnx_path`` and ``function`` is there.

    Parameters
    ----------
    gives
        What it returns, in order: a subset of `graticule.models.model.OUTPUTS`.
    module
        A torch module in evaluation mode: float32 ``(b, 3, h, w)`` → a tuple of one tensor for each of ``gives``.
    onnx_path
        An ONNX file whose outputs named ``onnx_outputs`` are ``gives``.
    function
        A Python callable: a numpy batch → a tuple of one array for each of ``gives``.
    """

    name: str
    gives: tuple[str, ...]
    transform: Transform
    weights: WeightsFacts
    module: torch.nn.Module | None = None
    onnx_path: Path | None = None
    onnx_outputs: tuple[str, ...] = ()
    function: Callable[[Any], tuple[Any, ...]] | None = None
    score_kind: str = "logits"
    labels: tuple[str, ...] | None = None
    label_ids: tuple[str, ...] | None = None
    text_encoder: TextEncoder | None = None
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Anything else a file made with it should say, as in ``{"timm": "1.0.19"}``."""
