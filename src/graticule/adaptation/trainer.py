"""The trainer: it alone calls ``backward`` and ``step``, and the same seed gives the same weights, to the bit.

A run can be killed at any time: it goes on from its latest checkpoint to the same final weights. Everything random is
drawn from generators of the run's own, whose states the checkpoints hold; the caller's are left as they were.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graticule.adaptation.algorithm import Algorithm, Batch
from graticule.adaptation.batches import BatchSource
from graticule.adaptation.checkpoint import Best, Checkpoint, CheckpointFolder, is_finite
from graticule.adaptation.optimizers import Mover, Optimizers, make_optimizers
from graticule.adaptation.run_logs import RunLog
from graticule.adaptation.sampling import mix_seed
from graticule.adaptation.schedule import Moment
from graticule.adaptation.selection import is_better
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.errors import TrainingError
from graticule.models.engine_settings import resolve_settings
from graticule.progress import track

CPU = "cpu"
LOG_EVERY = 50
"""Steps between two rows of the history."""

OpenLogs = Callable[[int], Sequence[RunLog]]
"""Opens a run's logs, given how many of its steps are done."""

Inspect = Callable[[Algorithm], Mapping[str, float]]
"""What looks at the algorithm, in evaluation mode, at each checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Training:
    """A finished run.

    Parameters
    ----------
    algorithm
        The trained algorithm, in evaluation mode.
    history
        Losses every 50 steps, and what was inspected at checkpoints; a dict a row, with ``step``.
    reported_step
        Step of the weights that ``algorithm`` has.
    """

    algorithm: Algorithm
    history: tuple[Mapping[str, Any], ...]
    reported_step: int


def train(
    make_algorithm: Callable[[], Algorithm],
    batches: BatchSource,
    *,
    config: TrainerConfig,
    seed: int,
    checkpoints: CheckpointFolder | None = None,
    inspect: Inspect | None = None,
    select: str | None = None,
    label: str = "adapt",
    shown: bool = False,
    open_logs: OpenLogs | None = None,
) -> Training:
    """Return an algorithm, trained.

    Parameters
    ----------
    make_algorithm
        Makes the algorithm with its initial weights; called once, under the run's seed.
    batches
        Gives the batch of any step.
    config
        Settings; what is left out comes from the algorithm's recipe.
    seed
        Decides initial weights and dropout.
    checkpoints
        Where checkpoints go, and where a killed run goes on from; None keeps none.
    inspect
        Looks at the algorithm at each checkpoint and after the last step; its numbers go into the history.
    select
        Which of the numbers of ``inspect`` picks the checkpoint that is returned, the highest; None takes the last.
    label, shown
        Of the progress bar.
    open_logs
        Opens what takes the history's rows as they come, given how many steps are done.

    Raises
    ------
    TrainingError
        A loss or a weight is no longer finite; the checkpoint before is kept.
    ConfigError
        The folder's checkpoint is of another run.
    """
    with _own_world(config, seed=seed):
        device = resolve_settings(device=config.device, precision="auto").device
        algorithm = make_algorithm().to(device)
        settings = config.fill(algorithm.recipe)
        run = _Run(
            algorithm=algorithm,
            optimizers=make_optimizers(algorithm, settings, algorithm.recipe),
            config=settings,
            checkpoints=checkpoints,
            inspect=inspect,
            select=select,
            history=[],
        )
        done = run.resume()
        run.logs = tuple(open_logs(done)) if open_logs else ()
        algorithm.train()
        steps = track(
            range(done, settings.n_steps), total=settings.n_steps, label=label, unit="step", done=done, shown=shown
        )
        for step in steps:
            batch = batches.draw(step)
            run.take(step, batch if device == CPU else batch.move(device))
        return run.finish()


@dataclass(slots=True, kw_only=True, eq=False)
class _Run:
    algorithm: Algorithm
    optimizers: Optimizers
    config: TrainerConfig
    checkpoints: CheckpointFolder | None
    inspect: Inspect | None
    select: str | None
    history: list[Mapping[str, Any]]
    best: Best | None = None
    logs: tuple[RunLog, ...] = ()

    def resume(self) -> int:
        """Go on from the latest checkpoint, if there is one; return the steps done."""
        found = self.checkpoints.read() if self.checkpoints else None
        if found is None:
            return 0
        self.algorithm.load_state_dict(dict(found.model))
        self.optimizers.load_state(dict(found.optimizer))
        self.history = list(found.history)
        self.best = found.best
        _set_generators(found.generators)
        return found.step

    def take(self, step: int, batch: Batch) -> None:
        """Take one step, and what is due after it."""
        self.optimizers.set_rates(step)
        moment = Moment(step=step, n_steps=self.config.n_steps)
        losses: dict[str, float] = {}
        for mover in self.optimizers.movers:
            for _ in range(mover.phase.repeats):
                losses |= self._move(mover, batch, moment)
        self.algorithm.finish_step(batch)
        done = step + 1
        is_last = done == self.config.n_steps
        if done % LOG_EVERY == 0 or is_last:
            self._note({"step": done, **{f"loss/{name}": value for name, value in losses.items()}})
        every = self.config.checkpoint_every
        if is_last or (every and done % every == 0):
            self._keep(done)

    def _note(self, row: Mapping[str, Any]) -> None:
        self.history.append(row)
        for log in self.logs:
            log.write(row)

    def _move(self, mover: Mover, batch: Batch, moment: Moment) -> dict[str, float]:
        for parameter in mover.parameters:
            parameter.grad = None
        with self._precision(batch.source.device.type):
            terms = self.algorithm.compute_losses(batch, phase=mover.phase.name, moment=moment)
        values = list(terms.values())
        total = values[0] if len(values) == 1 else torch.stack(values).sum()
        if not math.isfinite(total.item()):
            self._stop(terms, mover, moment.step)
        total.backward(inputs=list(mover.parameters) if mover.is_partial else None)
        if self.config.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(mover.parameters, self.config.clip_norm)
        for optimizer in mover.optimizers:
            optimizer.step()
        if (moment.step + 1) % LOG_EVERY and moment.step + 1 != self.config.n_steps:
            return {}
        return {name: value.item() for name, value in terms.items()}

    def _precision(self, device: str) -> contextlib.AbstractContextManager[object]:
        if self.config.precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(device, dtype=torch.bfloat16)

    def _keep(self, done: int) -> None:
        """Write a checkpoint, and look at the algorithm first where that is asked for."""
        model = dict(self.algorithm.state_dict())
        if not is_finite(model):
            raise TrainingError(
                f"after step {done}: a weight is NaN or infinite, expected finite numbers. {self._name_last()} "
                "Lower --learning-rate, or set --clip-norm 1."
            )
        if self.inspect is not None:
            self.algorithm.eval()
            with torch.inference_mode():
                seen = self.inspect(self.algorithm)
            self.algorithm.train()
            self._note({"step": done, **seen})
            self._remember(done, seen, model)
        if self.checkpoints is not None:
            self.checkpoints.write(
                Checkpoint(
                    step=done,
                    model=model,
                    optimizer=self.optimizers.read_state(),
                    generators=_read_generators(),
                    history=tuple(self.history),
                    best=self.best,
                )
            )

    def _remember(self, done: int, seen: Mapping[str, float], model: Mapping[str, Tensor]) -> None:
        """Keep a copy of the weights if they are the best so far."""
        if self.select is None or not is_better(seen[self.select], self.best.score if self.best else None):
            return
        copies = {name: value.detach().clone() for name, value in model.items()}
        self.best = Best(step=done, score=seen[self.select], model=copies)

    def finish(self) -> Training:
        """Return the run, with the weights that are reported."""
        step = self.config.n_steps
        for log in self.logs:
            log.close()
        if self.best is not None:
            self.algorithm.load_state_dict(dict(self.best.model))
            step = self.best.step
        return Training(algorithm=self.algorithm.eval(), history=tuple(self.history), reported_step=step)

    def _stop(self, terms: Mapping[str, Tensor], mover: Mover, step: int) -> None:
        broken = [name for name, value in terms.items() if not math.isfinite(value.item())] or ["sum"]
        raise TrainingError(
            f"step {step + 1}: the loss term '{broken[0]}' of phase '{mover.phase.name}' is "
            f"{terms[broken[0]].item() if broken[0] in terms else 'not finite'}, expected a finite number. "
            f"{self._name_last()} Lower --learning-rate, or set --clip-norm 1."
        )

    def _name_last(self) -> str:
        if self.checkpoints is None or not (last := sorted(self.checkpoints.folder.glob("step-*.safetensors"))):
            return "There is no checkpoint yet."
        return f"The last good checkpoint is kept: {last[-1]}."


@contextlib.contextmanager
def _own_world(config: TrainerConfig, *, seed: int) -> Generator[None]:
    """Have the run's own random state and number of threads inside, and the caller's again behind."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    n_threads = torch.get_num_threads()
    torch.set_num_threads(config.n_threads)
    try:
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(mix_seed(seed, 2))
            yield
    finally:
        torch.set_num_threads(n_threads)


def _read_generators() -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states |= {f"cuda:{index}": state for index, state in enumerate(torch.cuda.get_rng_state_all())}
    return states


def _set_generators(states: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    for name, state in states.items():
        if name != "cpu" and torch.cuda.is_available():
            torch.cuda.set_rng_state(state, name)
