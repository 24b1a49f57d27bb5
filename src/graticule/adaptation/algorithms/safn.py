"""Stepwise adaptive feature norm: features of both regions grow longer, step by step, to lengths that transfer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, SEPARATE, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.layers import make_bottleneck, make_head
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class SafnConfig:
    """Options of SAFN."""

    trade_off: float = 0.05
    """Weight of the norm's loss (paper, section 4.2)."""
    step: float = 1.0
    """By how much a norm should grow."""
    entropy: float = 0.1
    """Weight of the target's entropy; 0 leaves it out."""
    bottleneck: int = 1000
    """Width of the bottleneck."""
    dropout: float = 0.5
    """Dropout behind the bottleneck."""
    batch_statistics: str = SEPARATE
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bottleneck",), at_least_zero=("trade_off", "step", "entropy"))
        check_shares(self, ("dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class _KeepLength(nn.Module):
    """Dropout that keeps the expected length of a vector instead of its expected value."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        dropped = self.dropout(features)
        return dropped * math.sqrt(1 - self.dropout.p) if self.training else dropped


class Safn(Algorithm):
    """Cross-entropy on the source, and norms that are asked to grow by a constant.

    Notes
    -----
    The entropy of the target is the authors' option (SAFN+ENT), on by default; ``entropy=0`` is the plain method. All
    labels weigh the same.

    References
    ----------
    Xu et al. 2019, "Larger norm more transferable", equations 6 and 7.
    """

    config_type = SafnConfig
    recipe = Recipe(learning_rate=1e-3, gamma=0.0, weight_decay=5e-4, nesterov=False)

    def __init__(self, config: SafnConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation, ReLU and dropout that keeps lengths."""
        return nn.Sequential(
            make_bottleneck(self.shape.n_features, self.config.bottleneck), _KeepLength(self.config.dropout)
        )

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification loss, the norms' loss and, where asked for, the target's entropy."""
        source, target = self.find_both(batch)
        norms = find_norm_loss(source, step=self.config.step) + find_norm_loss(target, step=self.config.step)
        losses = {
            "classification": functional.cross_entropy(self.head(source), batch.source_labels),
            "norm": self.config.trade_off * norms,
        }
        if self.config.entropy:
            losses["entropy"] = self.config.entropy * find_entropy(self.head(target)).mean()
        return losses


def find_norm_loss(features: Tensor, *, step: float) -> Tensor:
    """Return the mean squared distance of norms from what they are now plus ``step``."""
    norms = features.norm(dim=1)
    return (norms - (norms.detach() + step)).square().mean()
