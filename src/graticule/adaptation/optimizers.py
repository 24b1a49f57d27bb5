"""One fused optimiser a group of parameters, so that each phase of a step moves its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from graticule.adaptation.algorithm import Algorithm, Phase, Recipe
from graticule.adaptation.schedule import decay_inversely
from graticule.adaptation.trainer_config import SGD, TrainerConfig


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mover:
    """What moves the parameters of a phase.

    Parameters
    ----------
    phase
        The phase.
    parameters
        Its parameters, in a fixed order.
    optimizers
        Optimisers of its groups.
    is_partial
        Whether other parameters stand still, so that their gradients need not be computed.
    """

    phase: Phase
    parameters: tuple[nn.Parameter, ...]
    optimizers: tuple[torch.optim.Optimizer, ...]
    is_partial: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimizers:
    """All optimisers of a run, their learning rates, and their state by parameter name."""

    by_group: dict[str, torch.optim.Optimizer]
    rates: dict[str, float]
    gamma: float
    gamma_scale: float
    """What a step counts for in the decay: 1, or 1 / the number of steps."""
    names: dict[Tensor, str]
    movers: tuple[Mover, ...]

    def set_rates(self, step: int) -> None:
        """Set the learning rates of a step."""
        factor = decay_inversely(step, gamma=self.gamma * self.gamma_scale) if self.gamma else 1.0
        for name, optimizer in self.by_group.items():
            for group in optimizer.param_groups:
                group["lr"] = self.rates[name] * factor

    def read_state(self) -> dict[str, Tensor]:
        """Return what the optimisers remember, by ``parameter/kind``."""
        found: dict[str, Tensor] = {}
        for optimizer in self.by_group.values():
            for parameter, state in optimizer.state.items():
                for kind, value in state.items():
                    if isinstance(value, Tensor):
                        found[f"{self.names[parameter]}/{kind}"] = value
        return found

    def load_state(self, saved: dict[str, Tensor]) -> None:
        """Have the optimisers remember what `read_state` returned."""
        for optimizer in self.by_group.values():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    prefix = f"{self.names[parameter]}/"
                    kinds = {key.removeprefix(prefix): saved[key] for key in saved if key.startswith(prefix)}
                    if kinds:
                        optimizer.state[parameter] = {
                            kind: _lay_out(value, like=parameter) for kind, value in kinds.items()
                        }


def make_optimizers(algorithm: Algorithm, config: TrainerConfig, recipe: Recipe) -> Optimizers:
    """Return the optimisers of an algorithm.

    Parameters
    ----------
    algorithm
        The algorithm; its groups say which parameters share a rate.
    config
        Settings, with nothing left out (`TrainerConfig.fill`).
    recipe
        The algorithm's recipe.
    """
    assert config.learning_rate is not None
    assert config.weight_decay is not None
    assert config.gamma is not None
    by_group: dict[str, torch.optim.Optimizer] = {}
    rates: dict[str, float] = {}
    groups = algorithm.list_groups()
    for group in groups:
        rates[group.name] = config.learning_rate * group.rate
        if config.optimizer == SGD:
            momentum = config.momentum if group.momentum is None else group.momentum
            by_group[group.name] = torch.optim.SGD(
                group.parameters,
                lr=rates[group.name],
                momentum=momentum,
                weight_decay=config.weight_decay,
                nesterov=recipe.nesterov and momentum > 0,
                fused=True,
            )
        else:
            by_group[group.name] = torch.optim.AdamW(
                group.parameters, lr=rates[group.name], weight_decay=config.weight_decay, fused=True
            )
    movers = tuple(_make_mover(phase, algorithm, by_group) for phase in algorithm.phases)
    return Optimizers(
        by_group=by_group,
        rates=rates,
        gamma=config.gamma,
        gamma_scale=1 / config.n_steps if recipe.gamma_by_progress else 1.0,
        names={parameter: name for name, parameter in algorithm.named_parameters()},
        movers=movers,
    )


def _lay_out(value: Tensor, *, like: Tensor) -> Tensor:
    """Return a copy with the memory layout of its parameter, which the fused optimiser takes for granted."""
    if value.shape != like.shape:
        return value.to(like.device, copy=True)
    return torch.empty_like(like, requires_grad=False).copy_(value)


def _make_mover(phase: Phase, algorithm: Algorithm, by_group: dict[str, torch.optim.Optimizer]) -> Mover:
    groups: Sequence[str] = [name for name in by_group if not phase.groups or name in phase.groups]
    parameters = {group.name: group.parameters for group in algorithm.list_groups()}
    return Mover(
        phase=phase,
        parameters=tuple(parameter for name in groups for parameter in parameters[name]),
        optimizers=tuple(by_group[name] for name in groups),
        is_partial=len(groups) < len(by_group),
    )
