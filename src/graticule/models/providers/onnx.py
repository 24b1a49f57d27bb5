"""``onnx/FILE.onnx``: an ONNX file, with its preprocessing and its labels in a YAML file of the same name beside it.

The network takes ``(b, 3, h, w)`` in float32. An output called ``features`` (or ``embedding``, ``embeddings``,
``pooled``) is the feature vector; any other is the scores, and if there are two without such a name, features come
first. The file ``FILE.yaml`` may hold any field of `Transform`, and ``labels``, ``label_ids`` and ``score_kind``. What
it leaves out is ImageNet's usual preprocessing at the network's own size, and what is made with it says so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from graticule.data.store import hash_file
from graticule.errors import ConfigError, FileError, MissingExtraError, ModelError, unknown_choice
from graticule.models.model import FEATURES, SCORES
from graticule.models.network import Network, WeightsFacts
from graticule.models.transform import IMAGENET_MEAN, IMAGENET_STD, Transform, scaled

FEATURE_NAMES = {"features", "embedding", "embeddings", "pooled"}
USUAL_SIZE = 224
USUAL_CROP = 0.875
LENGTHS = {"resize_to": 2, "mean": 3, "std": 3, "fill": 3}
"""Settings that are lists, and of how many numbers."""
OTHER_SETTINGS = ("labels", "label_ids", "score_kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxFacts:
    """What a file says of itself; 0 where a size is free."""

    height: int
    width: int
    outputs: tuple[str, ...]


def load_onnx(name: str, *, weights: str | None) -> Network:
    """Return the network in an ONNX file.

    Raises
    ------
    FileError
        There is no such file.
    ModelError
        It is not ONNX, or takes or gives something else than images and vectors.
    ConfigError
        The YAML file beside it has an unknown key or value.
    """
    path = Path(name)
    if not path.is_file():
        raise FileError(f"onnx/{name}: no such file in {Path.cwd()}. Expected onnx/FILE.onnx.")
    if weights is not None:
        raise ConfigError(
            f"onnx/{name}: --weights {weights} makes no sense, an ONNX file holds its weights. Leave it out."
        )
    facts = _inspect(path)
    beside = path.with_suffix(".yaml")
    settings = _read_settings(beside)
    labels, ids = settings.get("labels"), settings.get("label_ids")
    features = [output for output in facts.outputs if output.lower() in FEATURE_NAMES]
    if not features and len(facts.outputs) == 2:
        features = [facts.outputs[0]]
    scores = [output for output in facts.outputs if output not in features]
    outputs = {FEATURES: features[:1], SCORES: scores[:1]}
    gives = tuple(key for key, found in outputs.items() if found)
    return Network(
        name=f"onnx/{name}",
        gives=gives,
        transform=_transform(facts, settings, where=str(beside)),
        weights=WeightsFacts(kind="file", source=str(path), sha256=hash_file(path)),
        onnx_path=path,
        onnx_outputs=tuple(outputs[key][0] for key in gives),
        score_kind=str(settings.get("score_kind", "logits")),
        labels=tuple(str(label) for label in labels) if labels else None,
        label_ids=tuple(str(label) for label in ids) if ids else None,
        notes={"preprocessing": f"from {beside.name}" if settings else "ImageNet's usual, assumed"},
    )


def _inspect(path: Path) -> OnnxFacts:
    if find_spec("onnxruntime") is not None:
        shape, outputs = _inspect_with_onnxruntime(path)
    elif find_spec("openvino") is not None:
        shape, outputs = _inspect_with_openvino(path)
    else:
        raise MissingExtraError("onnxruntime", extra="onnx", needed_for=f"onnx/{path}")
    if len(shape) != 4 or shape[1] not in (0, 3) or not outputs:
        raise ModelError(
            f"onnx/{path}: takes an array of shape {tuple(shape)}, expected (batch, 3, height, width), and gives "
            f"{len(outputs)} outputs, expected 1 or 2. Export the network for images, channels first."
        )
    return OnnxFacts(height=shape[2], width=shape[3], outputs=tuple(outputs))


def _inspect_with_onnxruntime(path: Path) -> tuple[list[int], list[str]]:
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise _not_onnx(path, error) from error
    shape = [size if isinstance(size, int) else 0 for size in session.get_inputs()[0].shape]
    return shape, [output.name for output in session.get_outputs()]


def _inspect_with_openvino(path: Path) -> tuple[list[int], list[str]]:
    import openvino

    try:
        model = openvino.Core().read_model(path)
    except RuntimeError as error:
        raise _not_onnx(path, error) from error
    shape = [size.get_length() if size.is_static else 0 for size in model.inputs[0].get_partial_shape()]
    return shape, [output.get_any_name() for output in model.outputs]


def _not_onnx(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"onnx/{path}: not a readable ONNX file ({str(error).splitlines()[0][:200]}). Was it copied whole?"
    )


def _read_settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as YAML ({str(error).splitlines()[0]}).") from error
    settings: dict[str, Any] = found if isinstance(found, dict) else {}
    known = [*(field.name for field in fields(Transform)), *OTHER_SETTINGS]
    for key in settings:
        if key not in known:
            raise unknown_choice("setting", str(key), known, where=str(path))
    return settings


def _transform(facts: OnnxFacts, settings: dict[str, Any], *, where: str) -> Transform:
    for key in ("height", "width"):
        if key in settings and not isinstance(settings[key], int):
            raise ConfigError(f"{where}: {key} is {settings[key]!r}, expected a whole number of pixels.")
    height = settings.get("height", facts.height or USUAL_SIZE)
    width = settings.get("width", facts.width or USUAL_SIZE)
    usual: dict[str, Any] = {
        "height": height,
        "width": width,
        "resize_to": scaled((height, width), USUAL_CROP),
        "mean": IMAGENET_MEAN,
        "std": IMAGENET_STD,
        "interpolation": "bilinear",
    }
    given = {key: value for key, value in settings.items() if key not in OTHER_SETTINGS}
    for key, count in LENGTHS.items():
        if key in given and not _is_numbers(given[key], count):
            raise ConfigError(f"{where}: {key} is {given[key]!r}, expected {count} numbers in a list.")
    lists: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    try:
        return Transform(**{**usual, **lists})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _is_numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(item, int | float) for item in value)
