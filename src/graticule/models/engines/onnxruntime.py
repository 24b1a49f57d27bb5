"""``onnxruntime``: ONNX Runtime, for ONNX files and for torch networks that can be exported to one."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from graticule.errors import ConfigError, MissingExtraError, ModelError
from graticule.models.engine_settings import FLOAT32, EngineSettings
from graticule.models.model import Batch, Outputs, outputs_in_order
from graticule.models.network import Network
from graticule.models.transform import Transform

TRIAL_SIZE = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OnnxRuntimeEngine:
    """A session of ONNX Runtime."""

    session: Any
    input_name: str
    output_names: tuple[str, ...]
    gives: tuple[str, ...]
    transform: Transform
    device: str
    name: str = "onnxruntime"
    precision: str = FLOAT32
    n_streams: int = 1
    fixed_batch: int = 0
    """Images that the file insists on at once; 0 where any number will do."""

    def compute(self, batch: Batch) -> Outputs:
        """Return features and scores of a batch of images."""
        floats = self.transform.normalise(batch) if batch.dtype == np.uint8 else np.ascontiguousarray(batch)
        if not self.fixed_batch:
            return outputs_in_order(self.gives, self._run(floats))
        pieces = [self._run_fixed(floats[at : at + self.fixed_batch]) for at in range(0, len(floats), self.fixed_batch)]
        return outputs_in_order(self.gives, [np.concatenate(parts) for parts in zip(*pieces, strict=True)])

    def _run(self, floats: np.ndarray) -> list[np.ndarray]:
        return self.session.run(list(self.output_names), {self.input_name: floats})

    def _run_fixed(self, piece: np.ndarray) -> list[np.ndarray]:
        missing = self.fixed_batch - len(piece)
        padded = np.concatenate([piece, np.zeros((missing, *piece.shape[1:]), np.float32)]) if missing else piece
        return [array[: len(piece)] for array in self._run(padded)]


def load_onnxruntime(network: Network, settings: EngineSettings) -> OnnxRuntimeEngine:
    """Return the engine that runs the network in ONNX Runtime.

    Raises
    ------
    ConfigError
        A precision other than float32 was asked for.
    ModelError
        The network is a Python callable, or cannot be exported.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", extra="onnx", needed_for="--engine onnxruntime") from error
    if settings.precision != FLOAT32:
        raise ConfigError(f"--precision {settings.precision}: ONNX Runtime computes in float32 here. Leave it out.")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = settings.n_threads
    # A thread that waits must not spin: the decoders need the core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    wanted = "CPUExecutionProvider" if settings.is_cpu else "CUDAExecutionProvider"
    if wanted not in onnxruntime.get_available_providers():
        raise ConfigError(
            f"--device {settings.device}: this ONNX Runtime has no {wanted}. "
            "Install onnxruntime-gpu, or take --device cpu."
        )
    source = str(network.onnx_path) if network.onnx_path is not None else export_onnx(network)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=[wanted])
    except Exception as error:  # onnxruntime's errors share no base class
        raise ModelError(
            f"{network.name}: ONNX Runtime cannot load it ({str(error).splitlines()[0][:200]}). Take another --engine."
        ) from error
    taken = session.get_inputs()[0]
    size = taken.shape[0]
    return OnnxRuntimeEngine(
        session=session,
        input_name=taken.name,
        output_names=network.onnx_outputs or network.gives,
        gives=network.gives,
        transform=network.transform,
        device=settings.device,
        fixed_batch=size if isinstance(size, int) else 0,
    )


def export_onnx(network: Network) -> bytes:
    """Return a torch network as the bytes of an ONNX file with a free batch size.

    Raises
    ------
    ModelError
        It is a Python callable, or uses something that ONNX cannot say.
    """
    if network.module is None:
        raise ModelError(f"{network.name}: a Python callable cannot become ONNX. Take --engine eager.")
    import torch

    buffer = io.BytesIO()
    trial = torch.zeros(TRIAL_SIZE, 3, network.transform.height, network.transform.width)
    try:
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")  # tracing warns of every shape that becomes a constant
            torch.onnx.export(
                network.module.cpu(),
                (trial,),
                buffer,  # pyright: ignore[reportArgumentType]  # a buffer is accepted, if not declared
                input_names=["pixels"],
                output_names=list(network.gives),
                dynamic_axes={name: {0: "batch"} for name in ("pixels", *network.gives)},
                dynamo=False,  # the newer exporter needs one more package
            )
    except Exception as error:  # the exporter raises many kinds
        raise ModelError(
            f"{network.name}: cannot be exported to ONNX ({str(error).strip().splitlines()[0][:200]}). "
            "Take --engine eager."
        ) from error
    return buffer.getvalue()
