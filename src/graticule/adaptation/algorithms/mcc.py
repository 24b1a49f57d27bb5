"""Minimum class confusion: target images should not be torn between pairs of labels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, JOINT, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.layers import make_bottleneck, make_head
from graticule.adaptation.option_checks import check_numbers, check_words
from graticule.adaptation.schedule import Moment

TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MccConfig:
    """Options of MCC."""

    temperature: float = 2.5
    """What logits are divided by (paper, section 4.1)."""
    trade_off: float = 1.0
    """Weight of the confusion."""
    bottleneck: int = 256
    """Width of the bottleneck."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("temperature", "bottleneck"), at_least_zero=("trade_off",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Mcc(Algorithm):
    """Cross-entropy on the source, and the class confusion of the target's predictions.

    Notes
    -----
    New layers learn at 0.005, the rate of the public recipes for MCC, and half that of source only.

    References
    ----------
    Jin et al. 2020, "Minimum class confusion for versatile domain adaptation", equations 2 to 6.
    """

    config_type = MccConfig
    recipe = Recipe(learning_rate=0.005)

    def __init__(self, config: MccConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification loss and the target's confusion."""
        logits = self.head(self.find_both_at_once(batch))
        n = len(batch.source)
        return {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "confusion": self.config.trade_off * find_confusion(logits[n:], temperature=self.config.temperature),
        }


def find_confusion(logits: Tensor, *, temperature: float) -> Tensor:
    """Return the mean share of a label's predictions that lies on other labels.

    Images count by how sure their prediction is; those weights are constants.
    """
    scaled = logits / temperature
    probabilities = scaled.softmax(dim=1)
    with torch.no_grad():
        sure = 1 + torch.exp(-find_entropy(scaled))
        weights = sure * (len(sure) / sure.sum())
    confusion = probabilities.T @ (probabilities * weights.unsqueeze(1))
    confusion = confusion / confusion.sum(dim=1, keepdim=True).clamp_min(TINY)
    return (confusion.sum() - confusion.trace()) / logits.shape[1]
