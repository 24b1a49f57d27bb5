"""Where, how exactly and with how many threads a network is computed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from graticule.errors import ConfigError, unknown_choice

FLOAT32 = "float32"
PRECISIONS = (FLOAT32, "bfloat16", "float16")
"""``auto`` means float32: half the bits change features (cosine above .99) and, near a tie, predictions."""

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How to compute.

    Parameters
    ----------
    device
        As torch names it: ``cpu``, ``cuda:0``, ``mps``.
    precision
        One of `PRECISIONS`.
    n_threads
        Threads on a CPU; 0 leaves it to the library.
    """

    device: str = "cpu"
    precision: str = FLOAT32
    n_threads: int = 0

    @property
    def is_cpu(self) -> bool:
        """Whether the device is the processor."""
        return self.device == "cpu"


def resolve_settings(*, device: str, precision: str) -> EngineSettings:
    """Return the settings that the user's words mean on this machine.

    Raises
    ------
    ConfigError
        The device is not there, or a word is not known.
    """
    if precision not in (AUTO, *PRECISIONS):
        raise unknown_choice("precision", precision, (AUTO, *PRECISIONS), where="--precision")
    found = FLOAT32 if precision == AUTO else precision
    return EngineSettings(device=_resolve_device(device), precision=found, n_threads=count_threads())


def count_threads() -> int:
    """Return how many threads to compute with: ``OMP_NUM_THREADS`` where it is set, else the cores that are ours."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _resolve_device(device: str) -> str:
    if device == "cpu":
        return device
    kind, _, index = device.partition(":")
    if kind not in (AUTO, "cuda", "mps") or (index and not index.isdigit()):
        raise unknown_choice("device", device, (AUTO, "cpu", "cuda", "cuda:1", "mps"), where="--device")
    n_cuda, has_mps = _find_accelerators()
    if device == AUTO:
        return "cuda:0" if n_cuda else "mps" if has_mps else "cpu"
    if kind == "cuda" and int(index or 0) >= n_cuda:
        raise ConfigError(
            f"--device {device}: torch sees {n_cuda} CUDA devices here. "
            "Take --device cpu, or install a build of torch for your graphics card."
        )
    if kind == "mps" and not has_mps:
        raise ConfigError("--device mps: torch sees no Metal device here. Take --device cpu.")
    return f"cuda:{index or 0}" if kind == "cuda" else kind


def _find_accelerators() -> tuple[int, bool]:
    try:
        import torch
    except ImportError:  # an ONNX file needs no torch
        return 0, False
    return torch.cuda.device_count(), sys.platform == "darwin" and torch.backends.mps.is_available()
