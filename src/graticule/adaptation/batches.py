"""Where batches come from: features in memory, picked by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from graticule.adaptation.algorithm import Batch
from graticule.adaptation.sampling import RowSampler, mix_seed
from graticule.errors import ConfigError


@runtime_checkable
class BatchSource(Protocol):
    """Gives the batch of any step."""

    def draw(self, step: int) -> Batch:
        """Return what a step sees: a function of the step alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureBatches:
    """Batches of features.

    Parameters
    ----------
    source, target
        Features, shapes ``(n, d)`` and ``(m, d)``.
    source_labels
        Indices of the source's labels, shape ``(n,)``.
    batch_size
        Rows of each a step.
    seed
        Decides the order.
    is_source_balanced
        Whether all labels are drawn equally often.

    Raises
    ------
    ConfigError
        A batch is larger than the source or the target.
    """

    source: Tensor
    source_labels: Tensor
    target: Tensor
    batch_size: int
    seed: int
    is_source_balanced: bool = False
    _source_rows: RowSampler = field(init=False)
    _target_rows: RowSampler = field(init=False)

    def __post_init__(self) -> None:
        check_batch_size(self.batch_size, n_source=len(self.source), n_target=len(self.target))
        labels = self.source_labels.cpu() if self.is_source_balanced else None
        source = RowSampler(n=len(self.source), batch_size=self.batch_size, seed=mix_seed(self.seed, 0), labels=labels)
        target = RowSampler(n=len(self.target), batch_size=self.batch_size, seed=mix_seed(self.seed, 1))
        object.__setattr__(self, "_source_rows", source)
        object.__setattr__(self, "_target_rows", target)

    def draw(self, step: int) -> Batch:
        """Return the batch of a step."""
        source = self._source_rows.draw(step).to(self.source.device)
        target = self._target_rows.draw(step).to(self.target.device)
        return Batch(
            source=torch.index_select(self.source, 0, source),
            source_labels=torch.index_select(self.source_labels, 0, source),
            target=torch.index_select(self.target, 0, target),
            target_rows=target,
        )


def check_batch_size(batch_size: int, *, n_source: int, n_target: int) -> None:
    """Check that a batch fits into both sets.

    Raises
    ------
    ConfigError
        It is larger than one of them.
    """
    for name, n in (("source", n_source), ("target", n_target)):
        if batch_size > n:
            raise ConfigError(
                f"batch_size is {batch_size}, and the {name} has {n} images; expected a batch no larger than either "
                f"set. Try --batch-size {max(n, 2)}, or pick more images."
            )
