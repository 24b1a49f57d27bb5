"""``torchvision/NAME`` or ``torchvision/NAME/WEIGHTS``: torchvision's classifiers, as in ``resnet50/IMAGENET1K_V2``."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from graticule.errors import MissingExtraError, ModelError, unknown_choice
from graticule.models import weights as weight_files
from graticule.models.hub import is_reachable, no_weights
from graticule.models.imagenet import recognise_ids, unique_names
from graticule.models.network import Network, WeightsFacts
from graticule.models.packaged_weights import list_packaged
from graticule.models.split_head import split_head
from graticule.models.transform import Transform

if TYPE_CHECKING:
    import torch


def load_torchvision(name: str, *, weights: str | None) -> Network:
    """Return a classifier of torchvision, without WEIGHTS the ones that torchvision calls the default.

    Raises
    ------
    ConfigError
        torchvision has no such classifier or no such weights.
    ModelError
        The weights cannot be had or do not fit.
    """
    try:
        import torchvision
    except ImportError as error:
        raise MissingExtraError("torchvision", extra="torch", needed_for=f"torchvision/{name}") from error
    architecture, _, tag = name.partition("/")
    entry = _find_entry(torchvision.models, architecture, tag)
    module, facts = _load(torchvision.models, f"torchvision/{name}", architecture, entry, weights)
    categories = tuple(entry.meta["categories"])
    ids = recognise_ids(categories)
    transform = _transform(entry.transforms())
    split, gives = split_head(module, height=transform.height, width=transform.width)
    n_classes = _count_classes(split, transform)
    known = n_classes == len(categories)
    return Network(
        name=f"torchvision/{name}",
        gives=gives,
        transform=transform,
        weights=facts,
        module=split,
        labels=unique_names(categories, ids or categories) if known else None,
        label_ids=ids if known else None,
        notes={"torchvision": torchvision.__version__},
    )


def _find_entry(models: ModuleType, architecture: str, tag: str) -> Any:
    names = models.list_models(module=models)
    if architecture not in names:
        raise unknown_choice("torchvision classifier", architecture, names)
    entries = models.get_model_weights(architecture)
    if not tag:
        return entries.DEFAULT
    if tag not in entries.__members__:
        raise unknown_choice(f"weights of torchvision/{architecture}", tag, entries.__members__)
    return entries[tag]


def _load(
    models: ModuleType, name: str, architecture: str, entry: Any, weights: str | None
) -> tuple[torch.nn.Module, WeightsFacts]:
    if weights == weight_files.PACKAGE:
        raise ModelError(f"{name}: no package is known that holds its weights. Leave --weights out, or give a file.")
    if weights == weight_files.RANDOM:
        with weight_files.drawing_alike():
            module = models.get_model(architecture, weights=None).eval()
        return module, weight_files.describe_random(module)
    if weights is not None and weights != weight_files.HUB:
        state = weight_files.read_state(weights)
        module = _build_for(models, architecture, state)
        weight_files.load_state(module, state, where=weights)
        return module.eval(), weight_files.describe_file(weights, module)
    import torch

    cached = Path(torch.hub.get_dir(), "checkpoints", Path(entry.url).name)
    if not cached.is_file() and not is_reachable(entry.url):
        raise no_weights(name, entry.url, installed=list_packaged())
    try:
        module = models.get_model(architecture, weights=entry).eval()
    except (OSError, RuntimeError) as error:
        raise ModelError(
            f"{name}: its weights could not be loaded from {entry.url} ({str(error).splitlines()[0]}). "
            "Run again, or give a file with --weights FILE."
        ) from error
    return module, weight_files.describe_hub(entry.url, module)


def _build_for(models: ModuleType, architecture: str, state: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Return the network with as many classes as a file's last layer has."""
    module = models.get_model(architecture, weights=None)
    last = next((key for key in reversed(module.state_dict()) if key.endswith(".weight")), "")
    found = next((value for key, value in state.items() if last and key.endswith(last)), None)
    if found is None or found.shape[0] == module.state_dict()[last].shape[0]:
        return module
    return models.get_model(architecture, weights=None, num_classes=found.shape[0])


def _count_classes(module: torch.nn.Module, transform: Transform) -> int:
    import torch

    with torch.inference_mode():
        return module(torch.zeros(1, 3, transform.height, transform.width))[-1].shape[1]


def _transform(preset: Any) -> Transform:
    height, width = (preset.crop_size * 2)[:2]
    aim = (preset.resize_size * 2)[:2]
    return Transform(
        height=height,
        width=width,
        resize_to=(aim[0], aim[1]),
        interpolation=preset.interpolation.value,
        mean=tuple(preset.mean),
        std=tuple(preset.std),
    )
