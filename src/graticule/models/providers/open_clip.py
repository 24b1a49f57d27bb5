"""``open_clip/NAME/TAG``: CLIP-like models, as in ``open_clip/ViT-B-32/openai``; the image half and the text half.

A name may also be a folder or a repository in open_clip's form: ``open_clip/local-dir:FOLDER``,
``open_clip/hf-hub:OWNER/NAME``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from graticule.errors import MissingExtraError, ModelError, unknown_choice
from graticule.models import weights as weight_files
from graticule.models.hub import is_reachable, no_weights, staying_offline
from graticule.models.model import FEATURES
from graticule.models.network import Network, WeightsFacts
from graticule.models.packaged_weights import list_packaged
from graticule.models.transform import Transform

if TYPE_CHECKING:
    import torch

TEXT_BATCH = 256
"""Texts encoded at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenClipText:
    """The text half of a model of open_clip; it computes wherever the model lies."""

    module: Any
    tokenizer: Callable[[list[str]], Any]
    logit_scale: float
    logit_bias: float

    def encode(self, texts: Sequence[str]) -> Float32[np.ndarray, "k d"]:
        """Return one embedding a text, not normalised."""
        import torch

        device = next(self.module.parameters()).device
        encoded: list[np.ndarray] = []
        with torch.inference_mode():
            for start in range(0, len(texts), TEXT_BATCH):
                tokens = self.tokenizer(list(texts[start : start + TEXT_BATCH])).to(device)
                encoded.append(self.module.encode_text(tokens).float().cpu().numpy())
        return np.concatenate(encoded)


def load_open_clip(name: str, *, weights: str | None) -> Network:
    """Return the image half of a CLIP-like model, with its text half beside it.

    Raises
    ------
    ConfigError
        open_clip has no such model or no such tag.
    ModelError
        The weights cannot be had or do not fit.
    """
    try:
        import open_clip
    except ImportError as error:
        raise MissingExtraError("open_clip_torch", extra="open-clip", needed_for=f"open_clip/{name}") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on GELU variants, which the tag's entry settles
        module, facts = _load(open_clip, name, weights)
        tokenizer = _load_tokenizer(open_clip, name)
    scale, bias = module.logit_scale.exp().item(), getattr(module, "logit_bias", None)
    text = OpenClipText(
        module=module, tokenizer=tokenizer, logit_scale=scale, logit_bias=0.0 if bias is None else bias.item()
    )
    return Network(
        name=f"open_clip/{name}",
        gives=(FEATURES,),
        transform=_transform(open_clip.get_model_preprocess_cfg(module)),
        weights=facts,
        module=_image_half(module),
        text_encoder=text,
        notes={"open_clip": open_clip.__version__},
    )


def _load(open_clip: ModuleType, name: str, weights: str | None) -> tuple[Any, WeightsFacts]:
    if weights == weight_files.PACKAGE:
        raise ModelError(f"open_clip/{name}: no package is known that holds its weights. Give a file, or leave it out.")
    if name.startswith("local-dir:"):
        module = _create(open_clip, name, architecture=name)
        return module, weight_files.describe_file(name.removeprefix("local-dir:"), module)
    if name.startswith("hf-hub:"):
        return _load_hub(open_clip, name, architecture=name, tag=None)
    architecture, _, tag = name.partition("/")
    if architecture not in open_clip.list_models():
        raise unknown_choice("open_clip model", architecture, open_clip.list_models())
    tags = open_clip.list_pretrained_tags_by_model(architecture)
    if tag and tag not in tags:
        raise unknown_choice(f"tag of open_clip/{architecture}", tag, tags)
    settings = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    if weights == weight_files.RANDOM:
        with weight_files.drawing_alike():
            module = _create(open_clip, name, architecture=architecture, settings=settings)
        return module, weight_files.describe_random(module)
    if weights is not None and weights != weight_files.HUB:
        module = _create(open_clip, name, architecture=architecture, settings=settings)
        _load_file(module, weights)
        return module.eval(), weight_files.describe_file(weights, module)
    if not tag:
        raise ModelError(
            f"open_clip/{name}: a name is not enough, several sets of weights exist. "
            f"Expected open_clip/{architecture}/TAG, where TAG is one of {', '.join(tags) or '(none known)'}."
        )
    return _load_hub(open_clip, name, architecture=architecture, tag=tag)


def _load_hub(open_clip: ModuleType, name: str, *, architecture: str, tag: str | None) -> tuple[Any, WeightsFacts]:
    settings = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    repository = str(settings.get("hf_hub") or architecture.removeprefix("hf-hub:"))
    place = f"huggingface.co ({repository.strip('/')})"
    is_cached = _is_cached(repository)
    if not is_cached and not is_reachable():
        raise no_weights(f"open_clip/{name}", place, installed=list_packaged())
    try:
        if is_cached:
            with staying_offline():
                module = _create(open_clip, name, architecture=architecture, tag=tag, settings=settings)
        else:
            module = _create(open_clip, name, architecture=architecture, tag=tag, settings=settings)
    except Exception as error:  # hub, network and open_clip raise many kinds
        raise ModelError(
            f"open_clip/{name}: its weights could not be loaded from {place} ({str(error).splitlines()[0]}). "
            "Run again, or give a file with --weights FILE."
        ) from error
    return module, weight_files.describe_hub(place, module)


def _create(
    open_clip: ModuleType,
    name: str,
    *,
    architecture: str,
    tag: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """Return the model with the activation and the preprocessing that its tag was trained with."""
    known = settings or {}
    try:
        preprocessing = {key: known[key] for key in ("mean", "std", "interpolation", "resize_mode") if key in known}
        return open_clip.create_model(
            architecture,
            pretrained=tag,
            force_quick_gelu=bool(known.get("quick_gelu", False)),
            force_preprocess_cfg=preprocessing,
            pretrained_text=False,
            require_pretrained=tag is not None,
        ).eval()
    except (FileNotFoundError, ValueError) as error:
        raise ModelError(f"open_clip/{name}: {str(error).splitlines()[0]}") from error


def _load_file(module: Any, weights: str) -> None:
    from open_clip.convert import convert_state_dict
    from open_clip.model import convert_to_custom_text_state_dict

    state = convert_state_dict(module, weight_files.read_state(weights))
    expected = module.state_dict()
    for key in ("logit_scale", "logit_bias"):
        if key in state and key in expected:
            state[key] = state[key].reshape(expected[key].shape)
    if "positional_embedding" in state and "positional_embedding" not in expected:
        state = convert_to_custom_text_state_dict(state)
    weight_files.load_state(module, state, where=weights)


def _load_tokenizer(open_clip: ModuleType, name: str) -> Callable[[list[str]], Any]:
    architecture = name if name.startswith(("local-dir:", "hf-hub:")) else name.partition("/")[0]
    try:
        return open_clip.get_tokenizer(architecture)
    except Exception as error:  # noqa: BLE001  # tokenizers are fetched, unpacked and imported on the way
        reason = str(error).splitlines()[0]
        return _no_tokenizer(f"open_clip/{name}: its tokenizer cannot be loaded ({reason}). Connect and run again.")


def _no_tokenizer(message: str) -> Callable[[list[str]], Any]:
    """Return a tokenizer that raises: a model without one still gives features."""

    def tokenize(texts: list[str]) -> Any:
        del texts
        raise ModelError(message)

    return tokenize


def _is_cached(repository: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    owner_and_name = "/".join(repository.split("/")[:2])
    filename = "/".join(repository.split("/")[2:])
    names = [filename] if filename else ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"]
    return any(isinstance(try_to_load_from_cache(owner_and_name, known), str) for known in names)


def _image_half(module: Any) -> torch.nn.Module:
    import torch

    class OpenClipImage(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = module

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (self.network.encode_image(pixels),)

    return OpenClipImage().eval()


def _transform(config: Mapping[str, Any]) -> Transform:
    size = config["size"]
    height, width = (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
    fill = int(config.get("fill_color", 0))
    return Transform(
        height=height,
        width=width,
        resize=config["resize_mode"],
        resize_to=(height, width),
        interpolation=config["interpolation"],
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
        fill=(fill, fill, fill),
    )
