"""OVANet: beside the closed head, one yes-or-no question a label; an image that its best label disowns is unknown."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, SEPARATE, Algorithm, Batch, Outputs, Recipe, Shape
from graticule.adaptation.modules.layers import make_bottleneck
from graticule.adaptation.option_checks import check_numbers, check_words
from graticule.adaptation.schedule import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class OvaNetConfig:
    """Options of OVANet."""

    target_entropy: float = 0.1
    """Weight of the open heads' entropy on the target (paper, section 4.1)."""
    bottleneck: int = 256
    """Width of the bottleneck."""
    batch_statistics: str = SEPARATE
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bottleneck",), at_least_zero=("target_entropy",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class OvaNet(Algorithm):
    """Cross-entropy on the source, one-versus-all heads with hardest negatives, and their entropy on the target.

    Notes
    -----
    Both heads have no bias. Only the open head's weights are brought to length 1 after each step.

    References
    ----------
    Saito and Saenko 2021, "OVANet: one-vs-all network for universal domain adaptation", equations 1 to 4.
    """

    config_type = OvaNetConfig
    recipe = Recipe(weight_decay=5e-4, is_source_balanced=True)
    is_universal = True

    def __init__(self, config: OvaNetConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = nn.Linear(config.bottleneck, shape.n_labels, bias=False)
        self.open_head = nn.Linear(config.bottleneck, 2 * shape.n_labels, bias=False)
        for head in (self.head, self.open_head):
            nn.init.xavier_normal_(head.weight)
        self._normalise()

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the closed head's logits."""
        return self.head(features)

    def ask_each(self, features: Tensor) -> Tensor:
        """Return logits of (is not, is) for each label, shape ``(n, 2, k)``."""
        return self.open_head(features).view(len(features), 2, self.shape.n_labels)

    @property
    def unknown_threshold(self) -> float:
        """An image is unknown if its best label's own question says no."""
        return 0.5

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification, one-versus-all and entropy losses."""
        source, target = self.find_both(batch)
        return {
            "classification": functional.cross_entropy(self.head(source), batch.source_labels),
            "open": find_open_loss(self.ask_each(source), batch.source_labels),
            "entropy": self.config.target_entropy * find_open_entropy(self.ask_each(target)),
        }

    def finish_step(self, batch: Batch) -> None:
        """Bring the open head's weights back to length 1."""
        self._normalise()

    def predict(self, inputs: Tensor) -> Outputs:
        """Return the closed head's logits, and how sure the best label's question is of no."""
        features = self.find_features(inputs)
        logits = self.head(features)
        refused = self.ask_each(features).softmax(dim=1)[:, 0]
        best = logits.argmax(dim=1, keepdim=True)
        return Outputs(features=features, logits=logits, unknown_scores=refused.gather(1, best).squeeze(1))

    def _normalise(self) -> None:
        with torch.no_grad():
            self.open_head.weight.copy_(functional.normalize(self.open_head.weight, dim=1))


def find_open_loss(answers: Tensor, labels: Tensor) -> Tensor:
    """Return half of: the own label says yes, and the other label that would soonest say yes says no."""
    logs = answers.log_softmax(dim=1)
    own = labels.unsqueeze(1)
    positive = -logs[:, 1].gather(1, own).squeeze(1)
    others = logs[:, 0].scatter(1, own, torch.inf)
    return (positive.mean() - others.min(dim=1).values.mean()) / 2


def find_open_entropy(answers: Tensor) -> Tensor:
    """Return the mean entropy of the questions, over images and labels."""
    logs = answers.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1).mean()
