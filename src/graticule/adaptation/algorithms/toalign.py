"""Task-oriented alignment: only the part of the source's features that the classifier uses is aligned."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, SEPARATE, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.domain_loss import tell_apart
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.modules.layers import make_bottleneck, make_discriminator, make_head
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment, ramp_up

FOCAL_SCALES = (0.0, 1.0, 2.0)
"""Initial scales of the three focal heads."""
TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ToAlignConfig:
    """Options of ToAlign."""

    trade_off: float = 1.0
    """Weight of the adversarial loss."""
    focal: float = 1.0
    """Weight of the focal heads' mean absolute output."""
    bottleneck: int = 256
    """Width of the bottleneck."""
    discriminator: int = 1024
    """Width of the discriminator's two hidden layers."""
    discriminator_dropout: float = 0.5
    """Dropout in the discriminator."""
    alpha: float = 10.0
    """Steepness of the reversal's ramp over the whole run."""
    batch_statistics: str = SEPARATE
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bottleneck", "discriminator", "alpha"), at_least_zero=("trade_off", "focal"))
        check_shares(self, ("discriminator_dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class ToAlign(Algorithm):
    """Cross-entropy on the source, and a discriminator on predictions from re-weighted source features.

    Notes
    -----
    Source features are multiplied by the weight vector of their label and brought back to their length; the weights
    are constants. The discriminator sees probabilities and images count by exp(-entropy), without CDAN's 1 +, divided
    so that the weights of a region have mean 1. The classifier is the main head minus three focal heads (as in HDA, on
    which the authors' code builds), started from zero, one and two times the main head's spread.

    References
    ----------
    Wei et al. 2021, "ToAlign: task-oriented alignment for unsupervised domain adaptation", equations 3 to 6.
    """

    config_type = ToAlignConfig
    recipe = Recipe(learning_rate=0.01, weight_decay=5e-4, gamma=10.0, gamma_by_progress=True)

    def __init__(self, config: ToAlignConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)
        self.focal_heads = nn.ModuleList()
        for scale in FOCAL_SCALES:
            head = make_head(config.bottleneck, shape.n_labels)
            with torch.no_grad():
                head.weight.mul_(scale)
            self.focal_heads.append(head)
        self.discriminator = make_discriminator(
            shape.n_labels, width=config.discriminator, dropout=config.discriminator_dropout
        )

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the logits of the main head minus the focal heads."""
        return self.head(features) - self.find_focal(features)

    def find_focal(self, features: Tensor) -> Tensor:
        """Return the sum of the focal heads."""
        return torch.stack([head(features) for head in self.focal_heads]).sum(dim=0)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification, adversarial and focal losses."""
        both = self.find_both_at_once(batch)
        n = len(batch.source)
        focal = self.find_focal(both)
        logits = self.head(both) - focal
        aligned = self.classify(self.keep_what_counts(both[:n], batch.source_labels))
        seen = torch.cat([aligned, logits[n:]])
        strength = ramp_up(moment, alpha=self.config.alpha, ramp_steps=0)
        domains = self.discriminator(reverse_gradient(seen.softmax(dim=1), strength=strength))
        with torch.no_grad():
            weights = torch.exp(-find_entropy(seen))
        halves = [part * (len(part) / part.sum().clamp_min(TINY)) for part in (weights[:n], weights[n:])]
        adversarial = tell_apart(domains[:n], domains[n:], source_weights=halves[0], target_weights=halves[1])
        return {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "adversarial": self.config.trade_off * adversarial,
            "focal": self.config.focal * focal.abs().mean(),
        }

    def keep_what_counts(self, features: Tensor, labels: Tensor) -> Tensor:
        """Return source features re-weighted by what the classifier uses for their label, at their old length."""
        weight = self.head.weight - torch.stack([head.weight for head in self.focal_heads]).sum(dim=0)  # pyright: ignore[reportArgumentType, reportOperatorIssue]
        with torch.no_grad():
            used = weight[labels]
            squared = (features * used).square().sum(dim=1, keepdim=True)
            scale = (features.square().sum(dim=1, keepdim=True) / squared.clamp_min(TINY)).sqrt()
        return features * used * scale
