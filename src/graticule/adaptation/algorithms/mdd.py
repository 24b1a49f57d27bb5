"""Margin disparity discrepancy: an adversarial head that agrees with the head on the source and not on the target."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, JOINT, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.modules.layers import make_bottleneck
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment, ramp_up


@dataclass(frozen=True, slots=True, kw_only=True)
class MddConfig:
    """Options of MDD."""

    margin: float = 4.0
    """The factor gamma = exp(margin) of the source's disparity (paper, section 5.1)."""
    trade_off: float = 1.0
    """Weight of the disparity."""
    reversal: float = 0.1
    """What the strength of the reversal rises to."""
    ramp_alpha: float = 1.0
    """Steepness of its ramp."""
    ramp_steps: int = 1000
    """Steps of its ramp, as in the authors' code; a shorter run is ramped over its own length."""
    bottleneck: int = 1024
    """Width of the bottleneck."""
    width: int = 1024
    """Width of the heads' hidden layer."""
    dropout: float = 0.5
    """Dropout behind the bottleneck and in the heads."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(
            self,
            positive=("margin", "ramp_alpha", "ramp_steps", "bottleneck", "width"),
            at_least_zero=("trade_off", "reversal"),
        )
        check_shares(self, ("dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Mdd(Algorithm):
    """Cross-entropy on the source, and the disparity between head and adversarial head.

    References
    ----------
    Zhang et al. 2019, "Bridging theory and algorithm for domain adaptation", equations 27 to 30.
    """

    config_type = MddConfig
    recipe = Recipe(learning_rate=0.004, weight_decay=5e-4, gamma=2e-4)

    def __init__(self, config: MddConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = _make_head(config, shape)
        self.adversary = _make_head(config, shape)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation, ReLU and dropout."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck, dropout=self.config.dropout)

    def classify(self, features: Tensor) -> Tensor:
        """Return the main head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification loss and the disparity."""
        both = self.find_both_at_once(batch)
        n = len(batch.source)
        steps = min(self.config.ramp_steps, moment.n_steps)
        ramp = ramp_up(moment, alpha=self.config.ramp_alpha, ramp_steps=steps)
        logits = self.head(both)
        adverse = self.adversary(reverse_gradient(both, strength=self.config.reversal * ramp))
        disparity = find_disparity(logits, adverse, n_source=n, margin=self.config.margin)
        return {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "disparity": self.config.trade_off * disparity,
        }


def find_disparity(logits: Tensor, adverse: Tensor, *, n_source: int, margin: float) -> Tensor:
    """Return what the adversarial head minimises: agreement at home, disagreement abroad."""
    predicted = logits.detach().argmax(dim=1)
    home = functional.cross_entropy(adverse[:n_source], predicted[:n_source])
    return margin * home - find_log_of_rest(adverse[n_source:], predicted[n_source:]).mean()


def find_log_of_rest(logits: Tensor, labels: Tensor) -> Tensor:
    """Return log(1 - p) of the named labels, from logits: stable, with a bounded gradient, however sure p is."""
    others = logits.scatter(1, labels.unsqueeze(1), -torch.inf)
    return others.logsumexp(dim=1) - logits.logsumexp(dim=1)


def _make_head(config: MddConfig, shape: Shape) -> nn.Sequential:
    head = nn.Sequential(
        nn.Linear(config.bottleneck, config.width),
        nn.ReLU(),
        nn.Dropout(config.dropout),
        nn.Linear(config.width, shape.n_labels),
    )
    for layer in (head[0], head[3]):
        assert isinstance(layer, nn.Linear)
        nn.init.normal_(layer.weight, std=0.01)
        nn.init.zeros_(layer.bias)
    return head
