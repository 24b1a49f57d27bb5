"""Where a run's losses go besides its history: TensorBoard and MLflow, each an extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from graticule.errors import MissingExtraError, unknown_choice

MLFLOW_ID_FILE = "mlflow_run_id"


@runtime_checkable
class RunLog(Protocol):
    """Takes rows of a run's history as they come."""

    def write(self, row: Mapping[str, Any]) -> None:
        """Take a row: ``step``, and numbers by name."""
        ...

    def close(self) -> None:
        """Have everything written."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TensorBoardLog:
    """Scalars of a run in TensorBoard's files."""

    writer: Any

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row's numbers at its step."""
        for name, value in _list_numbers(row).items():
            self.writer.add_scalar(name, value, row["step"])

    def close(self) -> None:
        """Close the file."""
        self.writer.close()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MlflowLog:
    """Metrics of a run in MLflow."""

    client: Any
    run_id: str

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row's numbers at its step."""
        for name, value in _list_numbers(row).items():
            self.client.log_metric(self.run_id, name, value, step=row["step"])

    def close(self) -> None:
        """Say that the run is finished."""
        self.client.set_terminated(self.run_id)


def open_tensorboard(folder: Path, *, label: str, done: int) -> RunLog:
    """Return a log in ``folder/tensorboard``; what a killed run wrote beyond its last checkpoint is purged."""
    del label
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder / "tensorboard"), purge_step=done + 1 if done else None)  # pyright: ignore[reportUnknownVariableType]
    return TensorBoardLog(writer=writer)


def open_mlflow(folder: Path, *, label: str, done: int) -> RunLog:
    """Return a log of MLflow, at ``MLFLOW_TRACKING_URI`` or in ``folder/mlflow.db``; a resumed run goes on in it."""
    import os

    from mlflow import MlflowClient  # pyright: ignore

    folder.mkdir(parents=True, exist_ok=True)
    client: Any = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder.resolve()}/mlflow.db")
    place = folder / MLFLOW_ID_FILE
    if done and place.is_file():
        return MlflowLog(client=client, run_id=place.read_text("utf-8"))
    found = client.get_experiment_by_name("graticule")
    experiment = found.experiment_id if found else client.create_experiment("graticule")
    run_id = str(client.create_run(experiment, run_name=label).info.run_id)
    place.write_text(run_id, encoding="utf-8")
    return MlflowLog(client=client, run_id=run_id)


RUN_LOGS: dict[str, Callable[..., RunLog]] = {"tensorboard": open_tensorboard, "mlflow": open_mlflow}
"""Name of a log, which is also its extra → what opens it."""


def check_run_logs(names: tuple[str, ...]) -> None:
    """Check that logs have known names and are installed.

    Raises
    ------
    ConfigError
        A name is unknown.
    MissingExtraError
        A package is missing.
    """
    for name in names:
        if name not in RUN_LOGS:
            raise unknown_choice("log", name, RUN_LOGS, where="--log")
        if find_spec(name) is None:
            raise MissingExtraError(name, extra=name, needed_for=f"--log {name}")


def _list_numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name != "step"}
