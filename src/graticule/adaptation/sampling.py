"""Which images a step sees, as a function of the seed and the step alone, so that a resumed run sees the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

MIXING = 0x9E3779B97F4A7C15
"""An odd constant that spreads neighbouring seeds."""


def mix_seed(*numbers: int) -> int:
    """Return one seed for several numbers; neighbouring ones give unrelated seeds.

    Examples
    --------
    >>> mix_seed(0, 1) == mix_seed(1, 0)
    False
    """
    state = 0
    for number in numbers:
        state = (state ^ (number + 1)) * MIXING % 2**64
        state ^= state >> 29
    return state % 2**63


@dataclass(slots=True, kw_only=True, eq=False)
class RowSampler:
    """Rows in shuffled epochs; what is left of an epoch and is less than a batch is not drawn.

    Parameters
    ----------
    n
        How many rows there are, at least ``batch_size``.
    batch_size
        Rows a step.
    seed
        Decides the order.
    labels
        Labels of the rows, shape ``(n,)``, where all labels shall be drawn equally often (with replacement).
    """

    n: int
    batch_size: int
    seed: int
    labels: Tensor | None = None
    _epoch: int = field(default=-1, init=False)
    _order: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.int64), init=False)

    def draw(self, step: int) -> Tensor:
        """Return the rows of a step, shape ``(batch_size,)``."""
        per_epoch = self.n // self.batch_size
        epoch, position = divmod(step, per_epoch)
        if epoch != self._epoch:
            self._order, self._epoch = self._shuffle(epoch), epoch
        start = position * self.batch_size
        return self._order[start : start + self.batch_size]

    def _shuffle(self, epoch: int) -> Tensor:
        generator = torch.Generator().manual_seed(mix_seed(self.seed, epoch))
        if self.labels is None:
            return torch.randperm(self.n, generator=generator)
        counts = torch.bincount(self.labels)
        weights = 1.0 / counts.clamp_min(1).to(torch.float64)
        return torch.multinomial(weights[self.labels], self.n, replacement=True, generator=generator)
