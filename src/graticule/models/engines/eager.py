"""``eager``: torch as it stands, on any device; and Python callables, which compute themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graticule.errors import ConfigError, ModelError
from graticule.models.engine_settings import FLOAT32, EngineSettings
from graticule.models.model import Batch, Outputs, outputs_in_order
from graticule.models.network import Network
from graticule.models.transform import Transform

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EagerEngine:
    """A torch module, called.

    Parameters
    ----------
    call
        The module, or what torch.compile made of it.
    """

    call: Callable[[Any], Sequence[Any]]
    gives: tuple[str, ...]
    transform: Transform
    device: str
    precision: str
    name: str = "eager"
    n_streams: int = 1

    def compute(self, batch: Batch) -> Outputs:
        """Return features and scores of a batch of images."""
        import torch

        with torch.inference_mode(), self._casting():
            arrays = self.call(self._place(batch))
        return outputs_in_order(self.gives, [array.float().cpu().numpy() for array in arrays])

    def _place(self, batch: Batch) -> torch.Tensor:
        """Return the images on the device, as floats, channels last in memory (which convolutions are fastest on)."""
        import torch

        usable = batch.flags.c_contiguous and batch.flags.writeable and min(batch.strides) > 0
        given = torch.from_numpy(batch if usable else batch.copy()).to(self.device)
        if given.dtype != torch.uint8:
            return given.contiguous(memory_format=torch.channels_last)
        scale, offset = (torch.from_numpy(array).to(self.device) for array in self.transform.scale_and_offset())
        return (given.float() * scale).add_(offset).permute(0, 3, 1, 2)

    def _casting(self) -> contextlib.AbstractContextManager[Any]:
        import torch

        if self.precision == FLOAT32:
            return contextlib.nullcontext()
        return torch.autocast(self.device.partition(":")[0], dtype=getattr(torch, self.precision))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallableEngine:
    """A Python callable on numpy arrays."""

    function: Callable[[np.ndarray], tuple[np.ndarray, ...]]
    gives: tuple[str, ...]
    transform: Transform
    name: str = "eager"
    device: str = "cpu"
    precision: str = FLOAT32
    n_streams: int = 1

    def compute(self, batch: Batch) -> Outputs:
        """Return features and scores of a batch of images."""
        floats = self.transform.normalise(batch) if batch.dtype == np.uint8 else batch
        return outputs_in_order(self.gives, self.function(floats))


def load_eager(network: Network, settings: EngineSettings) -> EagerEngine | CallableEngine:
    """Return the engine that calls the network itself.

    Raises
    ------
    ConfigError
        The device cannot compute in that precision.
    ModelError
        The network is an ONNX file.
    """
    if network.function is not None:
        if settings.precision != FLOAT32:
            raise ConfigError(f"--precision {settings.precision}: {network.name} is a Python callable, leave it out.")
        return CallableEngine(function=network.function, gives=network.gives, transform=network.transform)
    if network.module is None:
        raise ModelError(
            f"{network.name}: an ONNX file, which torch does not run. Take --engine onnxruntime or openvino."
        )
    import torch

    module = network.module.to(device=settings.device, memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    return EagerEngine(
        call=module,
        gives=network.gives,
        transform=network.transform,
        device=settings.device,
        precision=settings.precision,
    )
