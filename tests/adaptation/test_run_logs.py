from __future__ import annotations

import importlib.util
import sys
import types

import pytest

from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.checkpoint import CheckpointFolder
from graticule.adaptation.run_logs import RUN_LOGS, TensorBoardLog, open_mlflow, open_tensorboard
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.errors import ConfigError, MissingExtraError


class Kept:
    def __init__(self):
        self.rows, self.closed = [], 0

    def write(self, row):
        self.rows.append(row)

    def close(self):
        self.closed += 1


def test_a_log_gets_the_history_s_rows_as_they_come(small):
    log, seen = Kept(), []
    training = small.run(
        "mcc",
        config={"n_steps": 110, "checkpoint_every": 0},
        open_logs=lambda done: seen.append(done) or [log],
    )
    assert seen == [0]
    assert log.rows == list(training.history)
    assert [row["step"] for row in log.rows] == [50, 100, 110]
    assert log.closed == 1


def test_a_resumed_run_logs_only_what_is_new(small, tmp_path):
    folder = CheckpointFolder(folder=tmp_path, identity={})
    small.run("source_only", config={"n_steps": 60}, checkpoints=folder)
    log, seen = Kept(), []
    small.run(
        "source_only", config={"n_steps": 60}, checkpoints=folder, open_logs=lambda done: seen.append(done) or [log]
    )
    assert (seen, log.rows) == ([60], [])


def test_scalars_carry_name_value_and_step():
    written = []
    writer = types.SimpleNamespace(add_scalar=lambda *given: written.append(given), close=lambda: None)
    TensorBoardLog(writer=writer).write({"step": 50, "loss/confusion": 0.25})
    assert written == [("loss/confusion", 0.25, 50)]


@pytest.mark.parametrize("name", RUN_LOGS)
def test_a_log_that_is_not_installed_names_its_extra(name, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "graticule.adaptation.run_logs.find_spec", lambda wanted: None if wanted == name else found(wanted)
    )
    with pytest.raises(MissingExtraError, match=rf"graticule\[{name}\]"):
        AdaptConfig(logs=(name,))


def test_an_unknown_log_or_device_is_refused(small):
    with pytest.raises(ConfigError, match="Did you mean 'tensorboard'"):
        AdaptConfig(logs=("tensorbord",))
    with pytest.raises(ConfigError, match="--device"):
        small.run("mcc", config={"device": "gpu"})


def test_tensorboard_writes_files(tmp_path):
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    log = open_tensorboard(tmp_path, label="a", done=0)
    log.write({"step": 1, "loss": 0.5})
    log.close()
    assert list((tmp_path / "tensorboard").glob("events*"))


def test_mlflow_goes_on_in_its_own_run(tmp_path, monkeypatch):
    """The client is a stand-in that keeps what it is told."""
    told = []

    class Client:
        def __init__(self, uri):
            assert uri.startswith("sqlite:///")

        def get_experiment_by_name(self, name):
            return None

        def create_experiment(self, name):
            return name

        def create_run(self, experiment, run_name):
            told.append(("run", run_name))
            return types.SimpleNamespace(info=types.SimpleNamespace(run_id="r1"))

        def log_metric(self, run_id, name, value, step):
            told.append((run_id, name, value, step))

        def set_terminated(self, run_id):
            told.append(("end", run_id))

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Client))
    open_mlflow(tmp_path, label="mcc", done=0).write({"step": 5, "loss": 1})
    again = open_mlflow(tmp_path, label="mcc", done=5)
    again.write({"step": 6, "loss": 2})
    again.close()
    assert told == [("run", "mcc"), ("r1", "loss", 1.0, 5), ("r1", "loss", 2.0, 6), ("end", "r1")]


def test_a_checkpoint_moves_between_devices(small):
    """The device is no part of what a run is."""
    from graticule.adaptation.cross_fit import split_work
    from graticule.adaptation.problem import Queries, make_problem
    from graticule.adaptation.work import Work

    features, images = small.make_tables()
    queries = Queries(source='region == "Europe"', target='region == "Africa"')
    problem = make_problem(features, images, queries=queries, allow_unknown=False)
    found = []
    for device in ("cpu", "cuda"):
        settings = AdaptConfig(algorithm="mcc", trainer=TrainerConfig(device=device))
        work = Work(problem=problem, settings=settings, seed=0, checkpoints=None, shown=False)
        found.append(work.identify(split_work(problem, settings, seed=0)[0]))
    assert found[0] == found[1]
