"""Which engine computes a network: the one asked for, or the fastest installed one that gives torch's results."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from jaxtyping import Float32, UInt8

from graticule.errors import GraticuleError, ModelError, unknown_choice
from graticule.models.engine_settings import AUTO, FLOAT32, EngineSettings
from graticule.models.engines import ENGINES
from graticule.models.model import Engine, Outputs
from graticule.models.network import Network

FASTEST_ON_CPU = ("openvino", "onnxruntime")
"""Tried in this order; measured in benchmarks/embed.py."""

MIN_COSINE = 0.9999
"""Between an engine's features (less their mean) and torch's, for every image of the trial."""

N_TRIAL = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenEngine:
    """An engine, and why it is that one."""

    engine: Engine
    why: str


def choose_engine(network: Network, settings: EngineSettings, *, engine: str) -> ChosenEngine:
    """Return the engine called ``engine``, or for ``auto`` the fastest safe one.

    Notes
    -----
    On a CPU in float32, OpenVINO and then ONNX Runtime are taken where they are installed, can convert the network, and
    give features and scores whose cosine with torch's is at least `MIN_COSINE` on a trial batch. Everywhere else it is
    torch.

    Raises
    ------
    ConfigError
        No such engine.
    """
    if engine != AUTO:
        if engine not in ENGINES:
            raise unknown_choice("engine", engine, (AUTO, *ENGINES), where="--engine")
        return ChosenEngine(engine=load_engine(engine, network, settings), why="asked for")
    if network.function is not None:
        return ChosenEngine(engine=load_engine("eager", network, settings), why="a Python callable computes itself")
    if network.onnx_path is not None:
        return _choose_for_onnx(network, settings)
    eager = load_engine("eager", network, settings)
    if not settings.is_cpu or settings.precision != FLOAT32:
        return ChosenEngine(engine=eager, why=f"torch on {settings.device}")
    trial = make_trial(network.transform.height, network.transform.width)
    expected = eager.compute(trial)
    reasons: list[str] = []
    for name in FASTEST_ON_CPU:
        try:
            candidate = load_engine(name, network, settings)
            cosine = least_cosine(candidate.compute(trial), expected)
        except (GraticuleError, RuntimeError) as error:
            reasons.append(f"not {name}: {str(error).splitlines()[0]}")
            continue
        if cosine >= MIN_COSINE:
            why = "; ".join([*reasons, f"fastest here, cosine with torch {cosine:.6f} on a trial batch"])
            return ChosenEngine(engine=candidate, why=why)
        reasons.append(f"not {name}: its results differ from torch's (cosine {cosine:.6f})")
        logger.warning("%s: %s; torch computes it instead", network.name, reasons[-1])
    return ChosenEngine(engine=eager, why="; ".join(reasons))


def load_engine(name: str, network: Network, settings: EngineSettings) -> Engine:
    """Return the engine called ``name``."""
    module, _, function = ENGINES[name].partition(":")
    return getattr(import_module(module), function)(network, settings)


def make_trial(height: int, width: int) -> UInt8[np.ndarray, "b h w 3"]:
    """Return images with structure at all scales, the same in every run."""
    rng = np.random.default_rng(0)
    total = np.zeros((N_TRIAL, height, width, 3))
    for cells in (2, 4, 8, 16, 32, 64):
        coarse = rng.standard_normal((N_TRIAL, cells, cells, 3)) / cells**0.5
        rows, columns = np.arange(height) * cells // height, np.arange(width) * cells // width
        total += coarse[:, rows][:, :, columns]
    return np.clip(127.5 + 60 * total, 0, 255).astype(np.uint8)


def least_cosine(found: Outputs, expected: Outputs) -> float:
    """Return the least cosine between the rows of two results, each less its own mean."""
    pairs = [(found.features, expected.features), (found.scores, expected.scores)]
    cosines = [_cosines(a, b).min() for a, b in pairs if a is not None and b is not None]
    return float(min(cosines, default=1.0))


def _cosines(a: Float32[np.ndarray, "b d"], b: Float32[np.ndarray, "b d"]) -> np.ndarray:
    one, other = (array - array.mean(axis=1, keepdims=True) for array in (a.astype(np.float64), b.astype(np.float64)))
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    same = np.all(a == b, axis=1)
    return np.where(same, 1.0, (one * other).sum(axis=1) / np.where(norms > 0, norms, np.inf))


def _choose_for_onnx(network: Network, settings: EngineSettings) -> ChosenEngine:
    """Return the engine for an ONNX file: OpenVINO on a CPU, ONNX Runtime elsewhere or without it."""
    names = FASTEST_ON_CPU if settings.is_cpu else ("onnxruntime",)
    problems: list[str] = []
    for name in names:
        try:
            return ChosenEngine(engine=load_engine(name, network, settings), why="fastest for an ONNX file here")
        except GraticuleError as error:
            problems.append(str(error))
    raise ModelError(f"{network.name}: no engine runs it. " + " ".join(problems))
