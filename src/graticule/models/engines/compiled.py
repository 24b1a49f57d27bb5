"""``compiled``: torch.compile. It takes a minute to start and, on a CPU, a C++ compiler; then it is twice as fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from graticule.errors import ModelError
from graticule.models.engine_settings import EngineSettings
from graticule.models.engines.eager import EagerEngine, load_eager
from graticule.models.model import Batch, Outputs
from graticule.models.network import Network


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompiledEngine:
    """A compiled network; every batch has the size of the first, so that it is compiled once."""

    inner: EagerEngine
    model_name: str
    name: str = "compiled"
    n_streams: int = 1
    sizes: list[int] = field(default_factory=list[int])
    lock: Lock = field(default_factory=Lock)

    @property
    def device(self) -> str:
        """Where it computes."""
        return self.inner.device

    @property
    def precision(self) -> str:
        """What it computes in."""
        return self.inner.precision

    def compute(self, batch: Batch) -> Outputs:
        """Return features and scores of a batch of images; a batch that is smaller than the first is padded."""
        with self.lock:
            if not self.sizes:
                self.sizes.append(len(batch))
        size = self.sizes[0]
        pieces = [self._compute_piece(batch[start : start + size], size) for start in range(0, len(batch), size)]
        return Outputs(
            features=_joined([piece.features for piece in pieces]), scores=_joined([piece.scores for piece in pieces])
        )

    def _compute_piece(self, piece: Batch, size: int) -> Outputs:
        n_given = len(piece)
        if n_given < size:
            piece = np.concatenate([piece, np.zeros((size - n_given, *piece.shape[1:]), dtype=piece.dtype)])
        try:
            found = self.inner.compute(piece)
        except Exception as error:  # torch.compile raises errors of its own, of the C++ compiler, of triton …
            raise ModelError(
                f"{self.model_name}: torch.compile failed ({str(error).strip().splitlines()[0]}). "
                "Is a C++ compiler installed? Take --engine eager."
            ) from error
        return Outputs(
            features=None if found.features is None else found.features[:n_given],
            scores=None if found.scores is None else found.scores[:n_given],
        )


def load_compiled(network: Network, settings: EngineSettings) -> CompiledEngine:
    """Return the engine that compiles the network when it sees the first batch.

    Raises
    ------
    ModelError
        The network is no torch module.
    """
    inner = load_eager(network, settings)
    if not isinstance(inner, EagerEngine):
        raise ModelError(
            f"{network.name}: a Python callable, which torch.compile does not compile. Take --engine eager."
        )
    import torch

    compiled: Any = torch.compile(network.module, dynamic=False)
    return CompiledEngine(
        inner=EagerEngine(
            call=compiled,
            gives=inner.gives,
            transform=inner.transform,
            device=inner.device,
            precision=inner.precision,
            name="compiled",
        ),
        model_name=network.name,
    )


def _joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if there else None
