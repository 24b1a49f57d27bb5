"""Models by name: ``timm/…``, ``open_clip/…``, ``torchvision/…``, ``hf/…``, ``onnx/…`` or ``module:function``."""

from __future__ import annotations

import re
from dataclasses import asdict
from importlib import import_module
from typing import Any

from graticule.errors import ModelError, unknown_choice
from graticule.models.engine_choice import ChosenEngine, choose_engine, make_trial
from graticule.models.engine_settings import resolve_settings
from graticule.models.model import Model
from graticule.models.network import Network
from graticule.models.providers import PROVIDERS

CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
EXAMPLES = (
    "timm/resnet50, open_clip/ViT-B-32/openai, torchvision/resnet50, hf/google/vit-base-patch16-224, onnx/file.onnx or "
    "module:function"
)


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
    settings = resolve_settings(device=device, precision=precision)
    network = load_network(name, weights=weights)
    chosen = choose_engine(network, settings, engine=engine)
    found = chosen.engine.compute(make_trial(network.transform.height, network.transform.width)[:2])
    n_features = 0 if found.features is None else found.features.shape[1]
    n_scores = 0 if found.scores is None else found.scores.shape[1]
    _check_labels(network, n_scores)
    return Model(
        name=name,
        transform=network.transform,
        engine=chosen.engine,
        n_features=n_features,
        n_scores=n_scores,
        score_kind=network.score_kind if n_scores else "",
        labels=network.labels,
        label_ids=network.label_ids,
        text_encoder=network.text_encoder,
        info=_describe(network, chosen),
    )


def load_network(name: str, *, weights: str | None = None) -> Network:
    """Return a network by name, which no engine computes yet.

    Raises
    ------
    ConfigError
        The name is of no known form.
    """
    provider, slash, rest = name.partition("/")
    if CALLABLE.fullmatch(name):
        provider, rest = "callable", name
    elif not slash or not rest or provider == "callable":
        raise ModelError(f"--model {name}: not the name of a model. Expected {EXAMPLES}.")
    elif provider not in PROVIDERS:
        known = [key for key in PROVIDERS if key != "callable"]
        raise unknown_choice("model provider", provider, known, where=f"--model {name}")
    module, _, function = PROVIDERS[provider].partition(":")
    return getattr(import_module(module), function)(rest, weights=weights)


def _check_labels(network: Network, n_scores: int) -> None:
    for what, given in (("labels", network.labels), ("label_ids", network.label_ids)):
        if given is not None and len(given) != n_scores:
            raise ModelError(f"{network.name}: has {len(given)} {what} and gives {n_scores} scores, expected as many.")
    if network.labels is not None and len(set(network.labels)) != len(network.labels):
        raise ModelError(f"{network.name}: two of its labels have the same name; give each a name of its own.")


def _describe(network: Network, chosen: ChosenEngine) -> dict[str, Any]:
    """Return what a file made with the model should say."""
    engine = chosen.engine
    return {
        "model": network.name,
        "weights": asdict(network.weights),
        "transform": network.transform.describe(),
        "engine": engine.name,
        "engine_why": chosen.why,
        "device": engine.device,
        "precision": engine.precision,
        "versions": dict(network.notes),
    }
