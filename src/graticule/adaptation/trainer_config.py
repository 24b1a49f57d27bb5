"""How an algorithm is trained; what is left out comes from the algorithm's own recipe."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from graticule.adaptation.algorithm import Recipe
from graticule.errors import ConfigError, unknown_choice

SGD = "sgd"
ADAMW = "adamw"
OPTIMIZERS = (SGD, ADAMW)
PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerConfig:
    """Settings of a run."""

    n_steps: int = 1000
    """Steps of the optimiser."""
    batch_size: int = 32
    """Source images a step, and as many target images (GeoNet, section 4.2)."""
    optimizer: str = SGD
    """``sgd`` or ``adamw``."""
    learning_rate: float | None = None
    """Of new layers; a backbone learns at a tenth of it."""
    weight_decay: float | None = None
    """None takes the algorithm's."""
    momentum: float = 0.9
    """Of SGD, where the algorithm does not fix it."""
    gamma: float | None = None
    """Of the rate's inverse decay; 0 keeps the rate constant."""
    clip_norm: float | None = None
    """Longest gradient, over all parameters of a phase; longer ones are scaled down. None clips nothing."""
    precision: str = "float32"
    """``bfloat16`` computes forward passes in mixed precision."""
    n_threads: int = 1
    """Threads of torch; small heads are fastest on one."""
    device: str = "cpu"
    """``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the fastest; a run may go on on another."""
    checkpoint_every: int = 500
    """Steps between checkpoints; 0 writes the last only."""

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range or a word unknown.
        """
        for name in ("n_steps", "n_threads"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} is {getattr(self, name)}, expected at least 1. Leave it out for the default."
                )
        if self.batch_size < 2:
            raise ConfigError(
                f"batch_size is {self.batch_size}, expected at least 2, since batches are normalised. Try 32."
            )
        if self.checkpoint_every < 0:
            raise ConfigError(f"checkpoint_every is {self.checkpoint_every}, expected at least 0. Try 500.")
        for name in ("learning_rate", "weight_decay", "momentum", "gamma", "clip_norm"):
            value = getattr(self, name)
            is_fine = value is None or (math.isfinite(value) and value >= 0)
            if (
                not is_fine
                or (name in ("learning_rate", "clip_norm") and value == 0)
                or (name == "momentum" and self.momentum >= 1)
            ):
                raise ConfigError(f"{name} is {value}, expected a number in its range. Leave it out for the default.")
        if self.optimizer not in OPTIMIZERS:
            raise unknown_choice("optimizer", self.optimizer, OPTIMIZERS)
        if self.precision not in PRECISIONS:
            raise unknown_choice("precision", self.precision, PRECISIONS)

    def fill(self, recipe: Recipe) -> TrainerConfig:
        """Return these settings with what is left out taken from a recipe."""
        return replace(
            self,
            learning_rate=recipe.learning_rate if self.learning_rate is None else self.learning_rate,
            weight_decay=recipe.weight_decay if self.weight_decay is None else self.weight_decay,
            gamma=recipe.gamma if self.gamma is None else self.gamma,
        )
