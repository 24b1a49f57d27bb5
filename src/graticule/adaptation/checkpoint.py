"""Checkpoints: weights, memories, the optimiser's state and the random generator's, as safetensors and a JSON file.

A checkpoint is written when its tensors are finite, under a name with its step; the JSON file that names it is replaced
last. A killed run therefore finds the checkpoint before, whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graticule.data.store import replace_atomically, write_text
from graticule.errors import ConfigError, FileError

STATE_FILE = "state.json"
N_KEPT = 2
MODEL, OPTIMIZER, GENERATOR, BEST = "model.", "optimizer.", "generator.", "best."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Best:
    """The weights with the best score so far."""

    step: int
    score: float
    model: Mapping[str, Tensor]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checkpoint:
    """A run after some steps.

    Parameters
    ----------
    step
        Steps done.
    model
        Weights and buffers by name.
    optimizer
        What the optimisers remember.
    generators
        States of the random generators, by device.
    history
        Losses and scores so far, a dict a row.
    best
        The weights that a selection likes best so far; None where nothing is selected.
    """

    step: int
    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    generators: Mapping[str, Tensor]
    history: tuple[Mapping[str, Any], ...]
    best: Best | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFolder:
    """The checkpoints of one run.

    Parameters
    ----------
    folder
        Where they lie.
    identity
        What the run is: algorithm, settings, seed, data, each as text. A checkpoint of another run is refused.
    """

    folder: Path
    identity: Mapping[str, str]

    def write(self, checkpoint: Checkpoint) -> Path:
        """Write a checkpoint, drop those older than the one before, and return its file."""
        from safetensors.torch import save

        tensors = {MODEL + name: value for name, value in checkpoint.model.items()}
        tensors |= {OPTIMIZER + name: value for name, value in checkpoint.optimizer.items()}
        tensors |= {GENERATOR + name: value for name, value in checkpoint.generators.items()}
        best = checkpoint.best
        if best is not None:
            tensors |= {BEST + name: value for name, value in best.model.items()}
        plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        place = self.folder / f"step-{checkpoint.step:08d}.safetensors"
        with replace_atomically(place) as temporary:
            temporary.write_bytes(save(plain))
        state = {
            "step": checkpoint.step,
            "tensors": place.name,
            "identity": dict(self.identity),
            "best": {"step": best.step, "score": best.score} if best else None,
            "history": [dict(row) for row in checkpoint.history],
        }
        write_text(json.dumps(state, indent=1), self.folder / STATE_FILE)
        for old in sorted(self.folder.glob("step-*.safetensors"))[:-N_KEPT]:
            old.unlink(missing_ok=True)
        return place

    def read(self) -> Checkpoint | None:
        """Return the latest checkpoint; None where there is none.

        Raises
        ------
        ConfigError
            It is of another algorithm, of other settings, or of other data.
        FileError
            It cannot be read.
        """
        place = self.folder / STATE_FILE
        if not place.is_file():
            return None
        try:
            state = json.loads(place.read_text(encoding="utf-8"))
            identity = dict(state["identity"])
            self._check(identity)
            tensors = _read_tensors(self.folder / state["tensors"])
            best = state["best"]
            return Checkpoint(
                step=int(state["step"]),
                model=_pick(tensors, MODEL),
                optimizer=_pick(tensors, OPTIMIZER),
                generators=_pick(tensors, GENERATOR),
                history=tuple(state["history"]),
                best=Best(**best, model=_pick(tensors, BEST)) if best else None,
            )
        except (ValueError, KeyError, TypeError, OSError) as error:
            if isinstance(error, ConfigError | FileError):
                raise
            raise FileError(
                f"{place}: not a readable checkpoint ({type(error).__name__}: {error}). Remove {self.folder}, or "
                "choose another folder."
            ) from error

    def _check(self, found: Mapping[str, str]) -> None:
        for name, expected in self.identity.items():
            given = found.get(name)
            if given == expected:
                continue
            shown = f"{name} {given!r}, expected {expected!r}" if len(str(given)) < 60 else f"another {name}"
            raise ConfigError(
                f"{self.folder}: its checkpoint is of {shown}; this run cannot go on from it. Choose another folder "
                "with -o, remove this one, or give the options it was started with (config.toml beside it has them)."
            )


def is_finite(tensors: Mapping[str, Tensor]) -> bool:
    """Return whether all values are finite."""
    return all(bool(torch.isfinite(value).all()) for value in tensors.values() if value.is_floating_point())


def _read_tensors(place: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(place.read_bytes())
    except SafetensorError as error:
        raise FileError(
            f"{place}: not a readable checkpoint ({error}). Was it copied whole? Remove its folder, or choose another."
        ) from error


def _pick(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
