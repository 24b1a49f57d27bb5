"""``openvino``: OpenVINO, the fastest engine on most CPUs.

One stream a core, each with one thread: a stream that is held up by a decoder holds up no other. The batch size is
free. The mean is subtracted in the same pass that turns bytes into floats.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graticule.errors import ConfigError, MissingExtraError, ModelError
from graticule.models.engine_settings import FLOAT32, EngineSettings
from graticule.models.model import Batch, Outputs, outputs_in_order
from graticule.models.network import Network
from graticule.models.transform import Transform

HINTS = {FLOAT32: "f32", "bfloat16": "bf16", "float16": "f16"}
TRIAL_SIZE = 2
PIECE = 4
"""Images that a stream computes at once, whatever the batch, so that their maps stay in the cache. On an idle machine
this saved 8 % of EfficientNet-Lite0's CPU time against whole batches; where others use the cache too, nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenVinoEngine:
    """A network compiled by OpenVINO: once for bytes, once for floats, each when it is first needed."""

    core: Any
    graph: Any
    config: dict[str, str]
    gives: tuple[str, ...]
    output_ports: tuple[int, ...]
    transform: Transform
    precision: str
    n_streams: int
    name: str = "openvino"
    device: str = "cpu"
    compiled: dict[str, Any] = field(default_factory=dict[str, Any])
    lock: threading.Lock = field(default_factory=threading.Lock)
    local: threading.local = field(default_factory=threading.local)

    def compute(self, batch: Batch) -> Outputs:
        """Return features and scores of a batch of images; threads may call this at once."""
        request = self._request(batch.dtype.name)
        whole = np.ascontiguousarray(batch)
        pieces: list[list[np.ndarray]] = []
        for start in range(0, len(whole), PIECE):
            results = request.infer([whole[start : start + PIECE]], share_inputs=True)
            pieces.append([np.asarray(results[port]) for port in self.output_ports])
        return outputs_in_order(self.gives, [np.concatenate(arrays) for arrays in zip(*pieces, strict=True)])

    def _request(self, kind: str) -> Any:
        """Return this thread's own request for ``kind`` of input."""
        requests: dict[str, Any] = self.local.__dict__
        if kind not in requests:
            with self.lock:
                if kind not in self.compiled:
                    graph = _with_bytes(self.graph, self.transform) if kind == "uint8" else self.graph
                    self.compiled[kind] = self.core.compile_model(graph, "CPU", self.config)
            requests[kind] = self.compiled[kind].create_infer_request()
        return requests[kind]


def load_openvino(network: Network, settings: EngineSettings) -> OpenVinoEngine:
    """Return the engine that computes the network with OpenVINO.

    Raises
    ------
    ConfigError
        The device is no CPU, or this CPU does not compute in that precision.
    ModelError
        The network is a Python callable, or OpenVINO cannot convert it.
    """
    try:
        import openvino
    except ImportError as error:
        raise MissingExtraError("openvino", extra="openvino", needed_for="--engine openvino") from error
    if not settings.is_cpu:
        raise ConfigError(f"--engine openvino computes on the CPU here, not on {settings.device}. Take --engine eager.")
    core = openvino.Core()
    _check_precision(core, settings.precision)
    graph = _convert(openvino, core, network)
    names = network.onnx_outputs
    ports = (
        tuple([output.get_any_name() for output in graph.outputs].index(name) for name in names)
        if names
        else tuple(range(len(network.gives)))
    )
    config = {
        "INFERENCE_PRECISION_HINT": HINTS[settings.precision],
        "INFERENCE_NUM_THREADS": str(settings.n_threads),
        "NUM_STREAMS": str(settings.n_threads),
        "ENABLE_CPU_PINNING": "NO",
    }
    return OpenVinoEngine(
        core=core,
        graph=graph,
        config=config,
        gives=network.gives,
        output_ports=ports,
        transform=network.transform,
        precision=settings.precision,
        n_streams=settings.n_threads,
    )


def _check_precision(core: Any, precision: str) -> None:
    able = [str(name) for name in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")]
    word = {FLOAT32: "FP32", "bfloat16": "BF16", "float16": "FP16"}[precision]
    if word not in able:
        raise ConfigError(
            f"--precision {precision}: this CPU does not compute in it (OpenVINO finds {', '.join(able)}). "
            "Take float32."
        )


def _convert(openvino: Any, core: Any, network: Network) -> Any:
    """Return the network as OpenVINO's graph, with a free batch size."""
    height, width = network.transform.height, network.transform.width
    try:
        if network.onnx_path is not None:
            graph = core.read_model(network.onnx_path)
        elif network.module is not None:
            graph = _convert_module(openvino, network.module, height=height, width=width)
        else:
            raise ModelError(f"{network.name}: a Python callable, which OpenVINO cannot convert. Take --engine eager.")
        graph.reshape([-1, 3, height, width])
    except ModelError:
        raise
    except Exception as error:  # the converter raises many kinds
        raise ModelError(
            f"{network.name}: OpenVINO cannot convert it ({str(error).strip().splitlines()[0][:200]}). "
            "Take --engine eager."
        ) from error
    return graph


def _convert_module(openvino: Any, module: Any, *, height: int, width: int) -> Any:
    import torch

    trial = torch.zeros(TRIAL_SIZE, 3, height, width)
    with warnings.catch_warnings(), torch.inference_mode(), _telemetry_off():
        warnings.simplefilter("ignore")  # tracing warns of every shape that becomes a constant
        traced = torch.jit.trace(module.cpu(), trial, check_trace=False)
        return openvino.convert_model(traced, example_input=trial)


@contextmanager
def _telemetry_off() -> Generator[None]:
    """Have OpenVINO's converter send nothing: it does not where it believes to run in a CI."""
    before = os.environ.get("CI")
    os.environ["CI"] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ["CI"]
        else:
            os.environ["CI"] = before


def _with_bytes(graph: Any, transform: Transform) -> Any:
    """Return the graph with bytes, height × width × channel, as its input."""
    from openvino import Layout, Type
    from openvino.preprocess import PrePostProcessor

    processor = PrePostProcessor(graph.clone())
    taken = processor.input(0)
    taken.tensor().set_element_type(Type.u8).set_layout(Layout("NHWC"))
    taken.model().set_layout(Layout("NCHW"))
    mean = [255 * value for value in transform.mean]
    std = [255 * value for value in transform.std]
    taken.preprocess().convert_element_type(Type.f32).mean(mean).scale(std)
    return processor.build()
