"""Universal domain adaptation: images weigh in the alignment by how likely their label is shared by both regions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, JOINT, Algorithm, Batch, Outputs, Recipe, Shape
from graticule.adaptation.modules.domain_loss import tell_apart
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.modules.layers import make_bottleneck, make_discriminator, make_head
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment, ramp_up

TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class UnidaConfig:
    """Options of UniDA."""

    trade_off: float = 1.0
    """Weight of the adversarial loss."""
    source_temperature: float = 10.0
    """What logits are divided by before the source's entropy is taken."""
    threshold: float = -0.5
    """w0: target images whose transferability is below it are unknown. See the run's option to calibrate it instead."""
    bottleneck: int = 256
    """Width of the bottleneck."""
    discriminator: int = 1024
    """Width of both discriminators' hidden layers."""
    discriminator_dropout: float = 0.5
    """Dropout in them."""
    alpha: float = 10.0
    """Steepness of the reversal's ramp over the whole run."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            positive=("bottleneck", "discriminator", "alpha", "source_temperature"),
            at_least_zero=("trade_off",),
        )
        check_shares(self, ("discriminator_dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Unida(Algorithm):
    """Weighted adversarial training beside a second discriminator that is not adversarial.

    Notes
    -----
    The cross-entropy is taken of logits; the authors' code takes it of probabilities. Weights are scaled to [0, 1] in
    the batch and divided by their mean; where all are equal they are 1.

    References
    ----------
    You et al. 2019, "Universal domain adaptation", equations 2 to 9.
    """

    config_type = UnidaConfig
    recipe = Recipe(weight_decay=5e-4)
    is_universal = True

    def __init__(self, config: UnidaConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)
        width, dropout = config.discriminator, config.discriminator_dropout
        self.discriminator = make_discriminator(config.bottleneck, width=width, dropout=dropout)
        self.bystander = make_discriminator(config.bottleneck, width=width, dropout=dropout)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    @property
    def unknown_threshold(self) -> float:
        """Minus w0, since an unknown score is minus the transferability."""
        return -self.config.threshold

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification loss and those of both discriminators."""
        both = self.find_both_at_once(batch)
        n = len(batch.source)
        logits = self.head(both)
        plain = self.bystander(both.detach())
        strength = ramp_up(moment, alpha=self.config.alpha, ramp_steps=0)
        domains = self.discriminator(reverse_gradient(both, strength=strength))
        with torch.no_grad():
            seen = plain.sigmoid().flatten()
            most = math.log(self.shape.n_labels)
            source = find_entropy(logits[:n] / self.config.source_temperature) / most - seen[:n]
            target = seen[n:] - find_entropy(logits[n:]) / most
        adversarial = tell_apart(
            domains[:n],
            domains[n:],
            source_weights=scale_weights(source),
            target_weights=scale_weights(target),
        )
        return {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "adversarial": self.config.trade_off * adversarial,
            "bystander": tell_apart(plain[:n], plain[n:]),
        }

    def predict(self, inputs: Tensor) -> Outputs:
        """Return logits, and minus the transferability as the unknown score."""
        features = self.find_features(inputs)
        logits = self.head(features)
        transferability = self.bystander(features).sigmoid().flatten() - find_entropy(logits) / math.log(
            self.shape.n_labels
        )
        return Outputs(features=features, logits=logits, unknown_scores=-transferability)


def scale_weights(raw: Tensor) -> Tensor:
    """Return weights brought to [0, 1] and then to mean 1; ones where all are equal."""
    low, high = raw.min(), raw.max()
    if not high > low:
        return torch.ones_like(raw)
    scaled = (raw - low) / (high - low)
    return scaled / scaled.mean().clamp_min(TINY)
