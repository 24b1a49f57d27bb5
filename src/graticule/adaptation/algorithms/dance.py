"""DANCE: target images find neighbours, among each other or among labels, and part with what is unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, SEPARATE, Algorithm, Batch, ParameterGroup, Recipe, Shape
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.layers import CosineHead
from graticule.adaptation.option_checks import check_numbers, check_words
from graticule.adaptation.schedule import Moment

NEVER = -1e4
"""A logit whose probability is 0, and whose entropy is not NaN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DanceConfig:
    """Options of DANCE."""

    temperature: float = 0.05
    """What cosines are divided by."""
    clustering: float = 0.05
    """Weight of the neighbourhood clustering (paper, section 4.1)."""
    separation: float = 0.05
    """Weight of the entropy separation."""
    margin: float = 0.5
    """Images whose entropy is nearer to ln(k)/2 than this are left alone."""
    bottleneck: int = 256
    """Width of the bottleneck; on frozen features the clustering does nothing without one."""
    batch_statistics: str = SEPARATE
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(
            self, positive=("temperature", "bottleneck"), at_least_zero=("clustering", "separation", "margin")
        )
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Dance(Algorithm):
    """Cross-entropy on the source, neighbourhood clustering and entropy separation on the target.

    Notes
    -----
    The memory holds the latest feature of each target image. Images of the batch stand in the neighbourhood with their
    new features, so their old ones are left out, and an image is not its own neighbour.

    The authors put the head on the backbone itself. Here a linear layer lies between, so that frozen features have
    something that learns; it stands for the backbone's last layer and learns at the backbone's rate.

    References
    ----------
    Saito et al. 2020, "Universal domain adaptation through self supervision", equations 2 to 8.
    """

    config_type = DanceConfig
    recipe = Recipe(weight_decay=5e-4, is_source_balanced=True)
    is_universal = True
    memory: Tensor

    def __init__(self, config: DanceConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = CosineHead(config.bottleneck, shape.n_labels, temperature=config.temperature)
        self.register_buffer("memory", functional.normalize(torch.rand(shape.n_target, config.bottleneck), dim=1))
        self.latest: Tensor | None = None

    def make_bottleneck(self) -> nn.Module:
        """Return a linear layer."""
        return nn.Linear(self.shape.n_features, self.config.bottleneck)

    def list_groups(self) -> Sequence[ParameterGroup]:
        """Return the head, and bottleneck and backbone at a tenth of its rate."""
        rest = (*self.bottleneck.parameters(), *self.list_backbone())
        return [
            ParameterGroup(name="new", parameters=tuple(self.head.parameters())),
            ParameterGroup(name="backbone", parameters=rest, rate=0.1),
        ]

    def classify(self, features: Tensor) -> Tensor:
        """Return cosines over the temperature."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification, clustering and separation losses."""
        source, target = self.find_both(batch)
        logits = self.head(target)
        units = functional.normalize(target, dim=1)
        self.latest = units.detach()
        clustering = find_neighbourhood_entropy(
            units, logits, self.memory.to(units.dtype), batch.target_rows, temperature=self.config.temperature
        )
        separation = find_separation(logits, middle=math.log(self.shape.n_labels) / 2, margin=self.config.margin)
        return {
            "classification": functional.cross_entropy(self.head(source), batch.source_labels),
            "clustering": self.config.clustering * clustering,
            "separation": self.config.separation * separation,
        }

    def finish_step(self, batch: Batch) -> None:
        """Put the target's features into the memory, and the head's weights back to length 1."""
        self.head.normalise()
        if self.latest is not None:
            self.memory[batch.target_rows] = self.latest.to(self.memory.dtype)
            self.latest = None


def find_neighbourhood_entropy(
    units: Tensor, logits: Tensor, memory: Tensor, rows: Tensor, *, temperature: float
) -> Tensor:
    """Return the mean entropy of each image's neighbourhood: labels, the memory, and the rest of the batch.

    Parameters
    ----------
    units
        Features of length 1, shape ``(b, d)``.
    logits
        Scores of the labels, shape ``(b, k)``.
    memory
        Features of all target images, shape ``(m, d)``.
    rows
        Rows of the batch's images in the memory, shape ``(b,)``.
    """
    to_memory = (units @ memory.T / temperature).index_fill(1, rows, NEVER)
    to_batch = (units @ units.T / temperature).masked_fill(
        torch.eye(len(units), dtype=torch.bool, device=units.device), NEVER
    )
    return find_entropy(torch.cat([logits, to_memory, to_batch], dim=1)).mean()


def find_separation(logits: Tensor, *, middle: float, margin: float) -> Tensor:
    """Return minus the mean distance of entropies from the middle, over images farther from it than the margin."""
    distances = (find_entropy(logits) - middle).abs()
    is_far = (distances > margin).to(distances.dtype)
    return -(distances * is_far).sum() / is_far.sum().clamp_min(1)
