"""Maximum classifier discrepancy: two heads that disagree where the target lies outside, and features that mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import (
    BATCH_STATISTICS,
    JOINT,
    SEPARATE,
    Algorithm,
    Batch,
    Outputs,
    ParameterGroup,
    Phase,
    Recipe,
    Shape,
)
from graticule.adaptation.modules.entropy import find_entropy
from graticule.adaptation.modules.layers import make_bottleneck
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment

TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class McdConfig:
    """Options of MCD."""

    trade_off: float = 1.0
    """Weight of the discrepancy."""
    balance: float = 0.01
    """Weight of the term that spreads the target's predictions over all labels, in the first two phases."""
    bottleneck: int = 256
    """Width of the generator's trainable layer, as of the other algorithms."""
    width: int = 1024
    """Width of the heads' hidden layers."""
    dropout: float = 0.5
    """Dropout before the heads' layers."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bottleneck", "width"), at_least_zero=("trade_off", "balance"))
        check_shares(self, ("dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Mcd(Algorithm):
    """Three phases a step: all learn the source; the heads disagree on the target; the generator brings them together.

    Notes
    -----
    The third phase is repeated four times, the paper's best choice. The prediction is the mean of both heads'
    probabilities; each head's own is given too. The authors' code normalises source and target as two batches
    (``batch_statistics="separate"``); one batch is a fifth faster.

    References
    ----------
    Saito et al. 2018, "Maximum classifier discrepancy for unsupervised domain adaptation", section 3.3.
    """

    config_type = McdConfig
    recipe = Recipe(learning_rate=1e-3, weight_decay=5e-4, gamma=0.0, nesterov=False)
    phases = (
        Phase(name="source"),
        Phase(name="disagree", groups=("heads",)),
        Phase(name="agree", groups=("generator", "backbone"), repeats=4),
    )

    def __init__(self, config: McdConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.first = _make_head(config, shape)
        self.second = _make_head(config, shape)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU: with the backbone, the generator."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def list_groups(self) -> Sequence[ParameterGroup]:
        """Return the generator without momentum and the heads with it, as the authors' code has them."""
        heads = (*self.first.parameters(), *self.second.parameters())
        groups = [
            ParameterGroup(name="generator", parameters=tuple(self.bottleneck.parameters()), momentum=0.0),
            ParameterGroup(name="heads", parameters=heads),
        ]
        backbone = self.list_backbone()
        if backbone:
            groups.append(ParameterGroup(name="backbone", parameters=backbone, rate=0.1, momentum=0.0))
        return groups

    def classify(self, features: Tensor) -> Tensor:
        """Return the logarithm of both heads' mean probability."""
        pair = torch.stack([self.first(features), self.second(features)]).log_softmax(dim=2)
        return pair.logsumexp(dim=0) - torch.log(torch.tensor(2.0, dtype=pair.dtype, device=pair.device))

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the losses of one of the three phases."""
        weight = self.config.trade_off
        if phase == "agree":
            target = self.find_features(batch.target)
            return {"discrepancy": weight * find_discrepancy(self.first(target), self.second(target))}
        is_heads_only = phase == "disagree"
        with torch.set_grad_enabled(torch.is_grad_enabled() and not is_heads_only):
            both = self.find_both_at_once(batch)
        one, two = (self.find_logits(head, both, n_source=len(batch.source)) for head in (self.first, self.second))
        n = len(batch.source)
        losses = {
            "first": functional.cross_entropy(one[:n], batch.source_labels),
            "second": functional.cross_entropy(two[:n], batch.source_labels),
        }
        if self.config.balance:
            losses["balance"] = self.config.balance * (find_imbalance(one[n:]) + find_imbalance(two[n:]))
        if is_heads_only:
            losses["disagreement"] = -weight * find_discrepancy(one[n:], two[n:])
        return losses

    def find_logits(self, head: nn.Module, both: Tensor, *, n_source: int) -> Tensor:
        """Return a head's logits; its batch normalisation sees one batch or two, as the generator's does."""
        if self.config.batch_statistics == SEPARATE:
            return torch.cat([head(both[:n_source]), head(both[n_source:])])
        return head(both)

    def predict(self, inputs: Tensor) -> Outputs:
        """Return the ensemble's prediction and each head's."""
        features = self.find_features(inputs)
        logits = self.classify(features)
        members = {"first": self.first(features), "second": self.second(features)}
        return Outputs(features=features, logits=logits, unknown_scores=find_entropy(logits), members=members)


def find_discrepancy(first: Tensor, second: Tensor) -> Tensor:
    """Return the mean absolute difference of two heads' probabilities."""
    return (first.softmax(dim=1) - second.softmax(dim=1)).abs().mean()


def find_imbalance(logits: Tensor) -> Tensor:
    """Return -mean log of the batch's mean probabilities: least where all labels are predicted equally often."""
    return -torch.log(logits.softmax(dim=1).mean(dim=0) + TINY).mean()


def _make_head(config: McdConfig, shape: Shape) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n_in in (config.bottleneck, config.width):
        layers += [
            nn.Dropout(config.dropout),
            nn.Linear(n_in, config.width),
            nn.BatchNorm1d(config.width),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers, nn.Linear(config.width, shape.n_labels))
