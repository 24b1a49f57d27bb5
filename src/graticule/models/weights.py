"""Weights from files and from installed packages, loaded without ever running what is in them.

A torch checkpoint is read with ``weights_only=True``, or it is safetensors. What does not fit the network is said key
by key.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from graticule.errors import FileError, MissingExtraError, ModelError, shown
from graticule.models.network import WeightsFacts

if TYPE_CHECKING:
    import torch

HUB = "hub"
PACKAGE = "package"
RANDOM = "random"
WORDS = (HUB, PACKAGE, RANDOM)
"""What ``--weights`` may say besides a file."""

WRAPPERS = ("state_dict", "model_state_dict", "model_state", "model", "net", "ema_state_dict")
"""Keys under which training programs put a network's values, in the order in which they are tried."""

PREFIXES = ("module.", "_orig_mod.", "model.")
"""What wrappers put before every key: data-parallel training, torch.compile, Lightning."""


def read_state(path: str | Path) -> dict[str, torch.Tensor]:
    """Return the named tensors that a file holds, unwrapped.

    Raises
    ------
    FileError
        There is no such file.
    ModelError
        It holds no tensors, or something that would have to be run to be read.
    """
    place = Path(path)
    if not place.is_file():
        raise FileError(
            f"{place}: no such file of weights. Expected safetensors, a torch checkpoint, or one of {', '.join(WORDS)}."
        )
    held = _read_safetensors(place) if place.suffix == ".safetensors" else _read_checkpoint(place)
    state = _unwrap(held)
    if not state:
        raise ModelError(f"{place}: holds no named tensors. Save the network's state_dict(), or safetensors.")
    return state


def load_state(module: torch.nn.Module, state: dict[str, torch.Tensor], *, where: str) -> None:
    """Copy named tensors into a network.

    Parameters
    ----------
    module
        Changed in place: it is the one thing here that is.
    state
        As `read_state` gives them; a prefix that all keys share is taken off where the network has none.
    where
        The file or package, for the message.

    Raises
    ------
    ModelError
        Keys are missing or unexpected, or shapes differ; the message names them.
    """
    expected = module.state_dict()
    given = _without_prefix(state, set(expected))
    missing = [key for key in expected if key not in given and not key.endswith("num_batches_tracked")]
    unexpected = [key for key in given if key not in expected]
    shapes = [
        f"{key} is {tuple(given[key].shape)}, expected {tuple(value.shape)}"
        for key, value in expected.items()
        if key in given and given[key].shape != value.shape
    ]
    if missing or unexpected or shapes:
        parts = [
            f"missing keys: {shown(missing)}" if missing else "",
            f"unexpected keys: {shown(unexpected)}" if unexpected else "",
            f"other shapes: {shown(shapes)}" if shapes else "",
        ]
        raise ModelError(
            f"{where}: does not fit {type(module).__name__}: {'; '.join(part for part in parts if part)}. "
            "Is it a checkpoint of another model, or of another number of classes?"
        )
    module.load_state_dict(given, strict=False)


@contextmanager
def drawing_alike() -> Generator[None]:
    """Have random weights be the same in every run, and the user's own random numbers stay as they were."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def describe_file(path: str | Path, module: torch.nn.Module) -> WeightsFacts:
    """Return the facts of weights that were loaded from a file."""
    return WeightsFacts(kind="file", source=str(path), sha256=hash_module(module))


def describe_hub(source: str, module: torch.nn.Module) -> WeightsFacts:
    """Return the facts of weights that were loaded from a hub."""
    return WeightsFacts(kind=HUB, source=source, sha256=hash_module(module))


def describe_random(module: torch.nn.Module) -> WeightsFacts:
    """Return the facts of weights that were never trained."""
    return WeightsFacts(kind=RANDOM, source="random values, never trained", sha256=hash_module(module))


def describe_package(package: str, path: Path, module: torch.nn.Module) -> WeightsFacts:
    """Return the facts of weights that were loaded from an installed package."""
    source = f"{package} {version(package)} ({path.name})"
    return WeightsFacts(kind=PACKAGE, source=source, sha256=hash_module(module))


def hash_module(module: torch.nn.Module) -> str:
    """Return the SHA-256 over a network's names and values, in hexadecimal: the same however they were stored."""
    import torch

    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _read_safetensors(place: Path) -> object:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise MissingExtraError("safetensors", extra="models", needed_for=f"{place}") from error
    try:
        return load_file(place)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{place}: not a whole safetensors file ({error}). Was it copied to its end?") from error


def _read_checkpoint(place: Path) -> object:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of old pickle protocols
            return torch.load(place, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"{place}: holds more than tensors, or is no torch checkpoint ({reason}). A pickle can run programs, so "
            "it is not loaded: save the network's state_dict(), or safetensors."
        ) from error
    except (RuntimeError, OSError, EOFError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"{place}: not a whole torch checkpoint ({reason}). Was it copied to its end?") from error


def _unwrap(held: object) -> dict[str, torch.Tensor]:
    """Return the tensors of a checkpoint, from under the key that training programs put them."""
    import torch

    if not isinstance(held, dict):
        return {}
    for key in WRAPPERS:
        inner = _unwrap(held.get(key))
        if inner:
            return inner
    return {str(key): value for key, value in held.items() if isinstance(value, torch.Tensor)}


def _without_prefix(state: dict[str, torch.Tensor], expected: set[str]) -> dict[str, torch.Tensor]:
    """Return the state without the prefixes that stand before every key and that the network does not have."""
    for prefix in PREFIXES * len(PREFIXES):
        if all(key.startswith(prefix) for key in state) and not any(key in expected for key in state):
            state = {key.removeprefix(prefix): value for key, value in state.items()}
    return state
