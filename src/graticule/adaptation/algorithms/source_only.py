"""No adaptation: the same bottleneck and head as the other algorithms, trained on the source alone."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.layers import make_bottleneck, make_head
from graticule.adaptation.option_checks import check_numbers
from graticule.adaptation.schedule import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOnlyConfig:
    """Options of source only."""

    bottleneck: int = 256
    """Width of the bottleneck, as of DANN and CDAN."""

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bottleneck",))


class SourceOnly(Algorithm):
    """Cross-entropy on the source.

    Notes
    -----
    Layers and learning rates are those of DANN and CDAN, so that a difference to them is the adaptation's.
    """

    config_type = SourceOnlyConfig
    recipe = Recipe()

    def __init__(self, config: SourceOnlyConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification loss."""
        logits = self.head(self.find_features(batch.source))
        return {"classification": functional.cross_entropy(logits, batch.source_labels)}
