"""``hf/OWNER/NAME`` or ``hf/FOLDER``: models of transformers: classifiers, CLIP-like models, bare image encoders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from graticule.errors import MissingExtraError, ModelError, shown
from graticule.models import weights as weight_files
from graticule.models.hub import is_reachable, no_weights
from graticule.models.imagenet import recognise_ids, unique_names
from graticule.models.model import FEATURES, SCORES, TextEncoder
from graticule.models.network import Network, WeightsFacts
from graticule.models.packaged_weights import list_packaged
from graticule.models.providers.hf_networks import HfText, embed_images_with, encode_with
from graticule.models.providers.hf_transform import read_transform
from graticule.models.split_head import split_head

CLASSIFIER = "ForImageClassification"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedModel:
    """A model of transformers, where its weights come from, and whether a trained layer pools its output."""

    module: Any
    facts: WeightsFacts
    has_pooler: bool = True


def load_hf(name: str, *, weights: str | None) -> Network:
    """Return a model of transformers.

    Parameters
    ----------
    name
        A repository (``google/vit-base-patch16-224``) or a folder with ``config.json``.
    weights
        A file, ``random``, ``hub``, or None: those of the repository or folder.

    Raises
    ------
    ModelError
        There is no such model, its preprocessing is of a kind not known here, or its weights cannot be had.
    """
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("transformers", extra="hf", needed_for=f"hf/{name}") from error
    transformers.logging.set_verbosity_error()
    is_local = _require(name)
    try:
        config = transformers.AutoConfig.from_pretrained(name, local_files_only=is_local)
        processor = transformers.AutoImageProcessor.from_pretrained(name, local_files_only=is_local)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"hf/{name}: not a model of transformers with an image processor ({_first_line(error)}). "
            "Expected config.json and preprocessor_config.json."
        ) from error
    transform = read_transform(processor.to_dict(), name=f"hf/{name}")
    loaded = _load(transformers, name, config, weights, is_local=is_local)
    module = loaded.module
    notes = {"transformers": transformers.__version__, "architecture": type(module).__name__}
    labels, text = None, None
    if type(module).__name__.endswith(CLASSIFIER):
        split, gives = split_head(module, height=transform.height, width=transform.width)
        labels = tuple(str(label) for _, label in sorted(dict(config.id2label or {}).items()))
    elif hasattr(module, "get_image_features"):
        split, gives = embed_images_with(module), (FEATURES,)
        text = _text_half(transformers, name, module, is_local=is_local)
    else:
        split, gives = encode_with(module, has_pooler=loaded.has_pooler), (FEATURES,)
    ids = recognise_ids(labels) if labels else None
    names = unique_names(labels, ids or [str(index) for index in range(len(labels))]) if labels else None
    return Network(
        name=f"hf/{name}",
        gives=gives,
        transform=transform,
        weights=loaded.facts,
        module=split,
        labels=names if SCORES in gives else None,
        label_ids=ids if SCORES in gives else None,
        text_encoder=text,
        notes=notes,
    )


def _require(name: str) -> bool:
    """Return whether the model is on this machine; raise if it is not and cannot be fetched."""
    from huggingface_hub import try_to_load_from_cache

    if Path(name).is_dir():
        return True
    if name.count("/") != 1:
        raise ModelError(f"hf/{name}: no such folder, and not OWNER/NAME as in hf/google/vit-base-patch16-224.")
    files = ("model.safetensors", "pytorch_model.bin")
    if any(isinstance(try_to_load_from_cache(name, file), str) for file in files):
        return True
    if not is_reachable():
        raise no_weights(f"hf/{name}", f"huggingface.co ({name})", installed=list_packaged())
    return False


def _load(transformers: ModuleType, name: str, config: Any, weights: str | None, *, is_local: bool) -> LoadedModel:
    architecture = (getattr(config, "architectures", None) or [""])[0]
    kind = transformers.AutoModelForImageClassification if architecture.endswith(CLASSIFIER) else transformers.AutoModel
    if weights == weight_files.PACKAGE:
        raise ModelError(f"hf/{name}: no package is known that holds its weights. Give a file, or leave it out.")
    if weights == weight_files.RANDOM:
        with weight_files.drawing_alike():
            module = kind.from_config(config).eval()
        return LoadedModel(module=module, facts=weight_files.describe_random(module))
    if weights is not None and weights != weight_files.HUB:
        module = kind.from_config(config)
        weight_files.load_state(module, weight_files.read_state(weights), where=weights)
        return LoadedModel(module=module.eval(), facts=weight_files.describe_file(weights, module))
    try:
        module, report = kind.from_pretrained(name, local_files_only=is_local, output_loading_info=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"hf/{name}: its weights could not be loaded ({_first_line(error)}). Run again, or give --weights FILE."
        ) from error
    missing = sorted(report["missing_keys"])
    lost = [key for key in missing if "pooler" not in key]
    if lost:
        raise ModelError(
            f"hf/{name}: the weights lack {shown(lost)}, so {type(module).__name__} would be partly random. "
            "Take a checkpoint that was trained for it."
        )
    facts = WeightsFacts(
        kind="file" if Path(name).is_dir() else weight_files.HUB,
        source=name if Path(name).is_dir() else f"huggingface.co ({name})",
        sha256=weight_files.hash_module(module),
    )
    return LoadedModel(module=module.eval(), facts=facts, has_pooler=not missing)


def _text_half(transformers: ModuleType, name: str, module: Any, *, is_local: bool) -> TextEncoder | None:
    """Return the text half of a CLIP-like model; None where its tokenizer does not lie with it."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=is_local)
    except (OSError, ValueError, ImportError, KeyError):
        return None
    bias = getattr(module, "logit_bias", None)
    scale = getattr(module, "logit_scale", None)
    return HfText(
        module=module,
        tokenizer=tokenizer,
        logit_scale=1.0 if scale is None else scale.exp().item(),
        logit_bias=0.0 if bias is None else bias.item(),
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
