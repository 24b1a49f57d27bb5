"""Conditional adversarial training: the discriminator sees features together with what the head predicts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, JOINT, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.domain_loss import tell_apart
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.modules.layers import make_bottleneck, make_discriminator, make_head
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment, ramp_up

WEIGHTINGS = ("paper", "joint")
LARGEST_OUTER_PRODUCT = 4096
"""Above this many products the randomised map is taken, as in the paper's section 3.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CdanConfig:
    """Options of CDAN."""

    entropy: bool = True
    """Whether images count by how sure their prediction is (CDAN+E)."""
    weighting: str = "paper"
    """With ``entropy``: ``paper`` makes the weights of each region sum to its number of images and lets the reversed
    gradient through them, as the authors' code does; ``joint`` does it over both regions and keeps them constant."""
    trade_off: float = 1.0
    """Weight of the adversarial loss."""
    bottleneck: int = 256
    """Width of the bottleneck (paper, section 4.1)."""
    discriminator: int = 1024
    """Width of the discriminator's two hidden layers."""
    discriminator_dropout: float = 0.0
    """Dropout in the discriminator; 0 has batch normalisation there instead."""
    randomised: int = 1024
    """Width of the randomised map that replaces the outer product where that has more than 4,096 products."""
    alpha: float = 10.0
    """Steepness of the reversal's ramp."""
    ramp_steps: int = 10_000
    """Steps over which the ramp runs, as in the authors' code; 0 takes the whole run."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            positive=("bottleneck", "discriminator", "alpha", "randomised"),
            at_least_zero=("trade_off", "ramp_steps"),
        )
        check_shares(self, ("discriminator_dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS, "weighting": WEIGHTINGS})


class Cdan(Algorithm):
    """Cross-entropy on the source, and a discriminator on the outer product of probabilities and features.

    Notes
    -----
    Probabilities are detached in the outer product, so its gradient is taken with respect to the features only.

    References
    ----------
    Long et al. 2018, "Conditional adversarial domain adaptation", equations 5 to 9.
    """

    config_type = CdanConfig
    recipe = Recipe()
    source_map: Tensor
    label_map: Tensor

    def __init__(self, config: CdanConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        n_products = config.bottleneck * shape.n_labels
        self.is_randomised = n_products > LARGEST_OUTER_PRODUCT
        if self.is_randomised:
            n_products = config.randomised
            self.register_buffer("source_map", torch.randn(config.bottleneck, n_products))
            self.register_buffer("label_map", torch.randn(shape.n_labels, n_products))
        self.head = make_head(config.bottleneck, shape.n_labels)
        self.discriminator = make_discriminator(
            n_products, width=config.discriminator, dropout=config.discriminator_dropout
        )

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification and the conditional adversarial loss."""
        both = self.find_both_at_once(batch)
        logits = self.head(both)
        n = len(batch.source)
        return {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "adversarial": self.config.trade_off * self.confuse(both, logits, n_source=n, moment=moment),
        }

    def confuse(self, features: Tensor, logits: Tensor, *, n_source: int, moment: Moment) -> Tensor:
        """Return the conditional adversarial loss of features, the source's first."""
        strength = ramp_up(moment, alpha=self.config.alpha, ramp_steps=self.config.ramp_steps)
        joined = self.join(logits.detach().softmax(dim=1), features)
        domains = self.discriminator(reverse_gradient(joined, strength=strength))
        source, target = domains[:n_source], domains[n_source:]
        if not self.config.entropy:
            return tell_apart(source, target)
        is_paper = self.config.weighting == "paper"
        entropy = find_entropy(reverse_gradient(logits, strength=strength) if is_paper else logits.detach())
        weights = 1 + torch.exp(-entropy)
        if not is_paper:
            weights = weights * (len(weights) / weights.sum())
            return tell_apart(source, target, source_weights=weights[:n_source], target_weights=weights[n_source:])
        halves = [part * (len(part) / part.sum().detach()) for part in (weights[:n_source], weights[n_source:])]
        return tell_apart(source, target, source_weights=halves[0], target_weights=halves[1])

    def join(self, probabilities: Tensor, features: Tensor) -> Tensor:
        """Return the outer product, flattened, or its randomised map."""
        if self.is_randomised:
            mapped = (features @ self.source_map) * (probabilities @ self.label_map)
            return mapped / math.sqrt(mapped.shape[1])
        return (probabilities.unsqueeze(2) * features.unsqueeze(1)).flatten(1)
