"""The interface of all adaptation algorithms: a batch in, named losses out, phase by phase.

A batch has no field for target labels, so none can leak. An algorithm computes losses and never calls ``backward`` or
``step``: the trainer (`graticule.adaptation.trainer`) alone does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graticule.adaptation.modules.apart import pass_apart
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.schedule import Moment

JOINT = "joint"
SEPARATE = "separate"
BATCH_STATISTICS = (JOINT, SEPARATE)
"""Whether source and target images of a batch go through batch normalisation as one batch or as two."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """What a step sees.

    Parameters
    ----------
    source
        Source images or their features, shape ``(b, …)``.
    source_labels
        Indices of their labels, shape ``(b,)``.
    target
        Target images or their features, shape ``(b, …)``.
    target_rows
        Row numbers of the target images among all target images, shape ``(b,)``.
    """

    source: Tensor
    source_labels: Tensor
    target: Tensor
    target_rows: Tensor

    def move(self, device: str) -> Batch:
        """Return the batch on a device."""
        return Batch(
            source=self.source.to(device, non_blocking=True),
            source_labels=self.source_labels.to(device, non_blocking=True),
            target=self.target.to(device, non_blocking=True),
            target_rows=self.target_rows.to(device, non_blocking=True),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A part of a step: losses are computed, and some groups of parameters are moved.

    Parameters
    ----------
    name
        Handed to `Algorithm.compute_losses`.
    groups
        Names of the parameter groups that move; empty means all.
    repeats
        How often the phase is run in a step.
    """

    name: str
    groups: tuple[str, ...] = ()
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParameterGroup:
    """Parameters that share a learning rate.

    Parameters
    ----------
    name
        One of its own; phases name it.
    parameters
        The parameters.
    rate
        Their learning rate as a multiple of the run's.
    momentum
        Their momentum; None takes the run's.
    """

    name: str
    parameters: tuple[nn.Parameter, ...]
    rate: float = 1.0
    momentum: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an algorithm's authors train it; the trainer's options override it.

    Parameters
    ----------
    learning_rate
        Of new layers; a backbone learns at a tenth of it.
    weight_decay, nesterov
        Of SGD.
    gamma
        Of the inverse decay; 0 keeps the rate constant.
    gamma_by_progress
        Whether the decay counts the share of the run instead of steps.
    is_source_balanced
        Whether source images are drawn so that all labels are equally frequent.
    """

    learning_rate: float = 0.01
    weight_decay: float = 1e-3
    nesterov: bool = True
    gamma: float = 1e-3
    gamma_by_progress: bool = False
    is_source_balanced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes that an algorithm is made for."""

    n_features: int
    n_labels: int
    n_source: int
    n_target: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """What a trained algorithm says of images.

    Parameters
    ----------
    features
        Features after the bottleneck, shape ``(n, d)``.
    logits
        A score a source label, shape ``(n, k)``.
    unknown_scores
        The higher, the likelier the image has none of the source's labels, shape ``(n,)``.
    members
        Logits of single heads, where the prediction is an ensemble's.
    """

    features: Tensor
    logits: Tensor
    unknown_scores: Tensor
    members: Mapping[str, Tensor] = field(default_factory=dict[str, Tensor])


class Algorithm(nn.Module, ABC):
    """An adaptation algorithm with its layers.

    Parameters
    ----------
    config
        Its options, an instance of its ``config_type``.
    shape
        Sizes of the problem.
    backbone
        Images → features; None where features come in already.
    """

    config_type: ClassVar[type[Any]]
    recipe: ClassVar[Recipe] = Recipe()
    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="all"),)
    is_universal: ClassVar[bool] = False
    """Whether the algorithm is made for targets that hold labels the source has not."""

    def __init__(self, config: Any, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.shape = shape
        self.backbone = backbone or nn.Identity()
        self.bottleneck = self.make_bottleneck()

    @abstractmethod
    def make_bottleneck(self) -> nn.Module:
        """Return the trainable layers between the backbone's features and the head."""

    @abstractmethod
    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return named losses, weighted already; the trainer adds them up."""

    @abstractmethod
    def classify(self, features: Tensor) -> Tensor:
        """Return a score a label from the bottleneck's features."""

    def find_features(self, inputs: Tensor) -> Tensor:
        """Return the features after the bottleneck."""
        return self.bottleneck(self.backbone(inputs))

    def find_both(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the features of the source and of the target, normalised as the option ``batch_statistics`` says."""
        if getattr(self.config, "batch_statistics", JOINT) == SEPARATE:
            return pass_apart(self.bottleneck, self.backbone(batch.source), self.backbone(batch.target))
        both = self.find_both_at_once(batch)
        return both[: len(batch.source)], both[len(batch.source) :]

    def find_both_at_once(self, batch: Batch) -> Tensor:
        """Return the features of the source, then those of the target, in one tensor."""
        if getattr(self.config, "batch_statistics", JOINT) == SEPARATE:
            return torch.cat(self.find_both(batch))
        return self.find_features(torch.cat([batch.source, batch.target]))

    def list_groups(self) -> Sequence[ParameterGroup]:
        """Return all parameters in groups: the backbone at a tenth of the rate of everything else."""
        backbone = self.list_backbone()
        held = {id(parameter) for parameter in self.backbone.parameters()}
        new = tuple(parameter for parameter in self.parameters() if id(parameter) not in held)
        groups = [ParameterGroup(name="new", parameters=new)]
        if backbone:
            groups.append(ParameterGroup(name="backbone", parameters=backbone, rate=0.1))
        return groups

    def list_backbone(self) -> tuple[nn.Parameter, ...]:
        """Return the backbone's parameters that learn."""
        return tuple(parameter for parameter in self.backbone.parameters() if parameter.requires_grad)

    def finish_step(self, batch: Batch) -> None:
        """Do what follows the optimiser's step: memories, weights that are normalised again."""

    @property
    def unknown_threshold(self) -> float:
        """Above which an unknown score means an unknown label, where the algorithm fixes it: entropy of ln(k)/2."""
        return math.log(self.shape.n_labels) / 2

    def predict(self, inputs: Tensor) -> Outputs:
        """Return what the algorithm says of images; the module must be in evaluation mode."""
        features = self.find_features(inputs)
        logits = self.classify(features)
        return Outputs(features=features, logits=logits, unknown_scores=find_entropy(logits))
