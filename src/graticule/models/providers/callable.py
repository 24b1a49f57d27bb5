"""``module:function``: a Python function that makes a model, for whatever the other providers cannot load.

The function is called without arguments and returns one of

- a ``torch.nn.Module`` that maps float32 images ``(b, 3, h, w)`` to scores ``(b, k)``; features are what goes into its
  last linear layer;
- any callable that maps such a batch (a numpy array) to scores ``(b, k)``, or to `graticule.models.model.Outputs`.

What it returns may carry attributes: ``transform`` (a `graticule.models.transform.Transform`; ImageNet's usual one
without), ``labels``, ``label_ids`` and ``score_kind``. The module is looked for in the current folder too.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from graticule.errors import ConfigError, ModelError
from graticule.models import weights as weight_files
from graticule.models.model import FEATURES, SCORES, Outputs
from graticule.models.network import Network, WeightsFacts
from graticule.models.split_head import split_head
from graticule.models.transform import IMAGENET_MEAN, IMAGENET_STD, Transform

USUAL = Transform(height=224, width=224, resize_to=(256, 256), mean=IMAGENET_MEAN, std=IMAGENET_STD)
"""ImageNet's usual preprocessing, with bicubic resizing."""


def load_callable(name: str, *, weights: str | None) -> Network:
    """Return the model that a Python function makes.

    Raises
    ------
    ConfigError
        There is no such module or function.
    ModelError
        The function fails, or what it returns is no model.
    """
    made = _call(name, _find(name))
    transform = getattr(made, "transform", USUAL)
    if not isinstance(transform, Transform):
        raise ModelError(
            f"{name}: its transform is a {type(transform).__name__}, expected a graticule.models.transform.Transform."
        )
    labels, ids = getattr(made, "labels", None), getattr(made, "label_ids", None)
    module, function, gives = None, None, (SCORES,)
    if "torch" in sys.modules and isinstance(made, sys.modules["torch"].nn.Module):
        facts = _load_weights(made, weights)
        try:
            module, gives = split_head(made, height=transform.height, width=transform.width)
        except (RuntimeError, TypeError, ValueError) as error:
            raise ModelError(
                f"{name}: the module fails on images of {transform.height}×{transform.width} "
                f"({str(error).splitlines()[0]}). Give it a 'transform' attribute with the size that it takes."
            ) from error
    elif callable(made):
        if weights is not None:
            raise ConfigError(
                f"{name}: --weights goes with a torch module, and this is a plain callable. Leave it out."
            )
        facts = WeightsFacts(kind="own", source=name)
        function, gives = _as_function(name, made, transform)
    else:
        raise ModelError(f"{name}: returned a {type(made).__name__}, expected a torch.nn.Module or a callable.")
    return Network(
        name=name,
        gives=gives,
        transform=transform,
        weights=facts,
        module=module,
        function=function,
        score_kind=str(getattr(made, "score_kind", "logits")),
        labels=tuple(str(label) for label in labels) if labels is not None else None,
        label_ids=tuple(str(label) for label in ids) if ids is not None else None,
    )


def _find(name: str) -> Callable[[], Any]:
    module_name, _, function_name = name.partition(":")
    with _current_folder():
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise ConfigError(
                f"{name}: the module '{module_name}' cannot be imported ({error}). "
                f"Expected module:function, with the module installed or in {Path.cwd()}."
            ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ConfigError(
            f"{name}: '{module_name}' has no function '{function_name}'. It has: {', '.join(public) or 'none'}."
        )
    return function


def _call(name: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:  # the user's own code may raise anything
        raise ModelError(
            f"{name}: the function failed ({type(error).__name__}: {error}). It is called without arguments "
            "and returns a torch.nn.Module or a callable; see the whole trace with --debug."
        ) from error


def _load_weights(module: Any, weights: str | None) -> WeightsFacts:
    if weights is None:
        return WeightsFacts(kind="own", source="the Python function", sha256=weight_files.hash_module(module))
    if weights in weight_files.WORDS:
        raise ConfigError(f"--weights {weights} makes no sense with module:function; give a file, or leave it out.")
    weight_files.load_state(module, weight_files.read_state(weights), where=weights)
    return weight_files.describe_file(weights, module)


def _as_function(
    name: str, made: Callable[[Any], Any], transform: Transform
) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[str, ...]]:
    """Return the callable in the form that engines take, and what it gives: found out with a trial batch."""

    def compute(batch: np.ndarray) -> tuple[np.ndarray, ...]:
        output = made(batch)
        if not isinstance(output, Outputs):
            return (np.asarray(output, dtype=np.float32),)
        return tuple(array for array in (output.features, output.scores) if array is not None)

    trial = np.zeros((2, 3, transform.height, transform.width), dtype=np.float32)
    output = _call(name, lambda: made(trial))
    gives = (SCORES,)
    if isinstance(output, Outputs):
        found = {FEATURES: output.features, SCORES: output.scores}
        gives = tuple(key for key, array in found.items() if array is not None)
    for array in compute(trial):
        if array.ndim != 2 or len(array) != 2:
            raise ModelError(f"{name}: gave shape {array.shape} for 2 images, expected (2, k).")
    return compute, gives


@contextmanager
def _current_folder() -> Generator[None]:
    """Have modules in the current folder be found, as ``python -m`` does."""
    folder = str(Path.cwd())
    added = folder not in sys.path
    if added:
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        if added:
            sys.path.remove(folder)
