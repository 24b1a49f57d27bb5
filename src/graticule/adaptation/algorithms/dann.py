"""Domain-adversarial training: features from which a discriminator cannot tell source from target."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import BATCH_STATISTICS, JOINT, Algorithm, Batch, Recipe, Shape
from graticule.adaptation.modules.domain_loss import tell_apart
from graticule.adaptation.modules.gradient_reversal import reverse_gradient
from graticule.adaptation.modules.layers import make_bottleneck, make_discriminator, make_head
from graticule.adaptation.option_checks import check_numbers, check_shares, check_words
from graticule.adaptation.schedule import Moment, ramp_up


@dataclass(frozen=True, slots=True, kw_only=True)
class DannConfig:
    """Options of DANN."""

    trade_off: float = 1.0
    """Weight of the adversarial loss."""
    bottleneck: int = 256
    """Width of the bottleneck, as in CDAN's paper."""
    discriminator: int = 1024
    """Width of the discriminator's two hidden layers, as in the paper."""
    discriminator_dropout: float = 0.0
    """Dropout in the discriminator; 0 has batch normalisation there instead."""
    alpha: float = 10.0
    """Steepness of the reversal's ramp (paper, section 5.2.2)."""
    ramp_steps: int = 10_000
    """Steps over which the ramp runs, as in CDAN's recipe; 0 takes the whole run, as this paper does."""
    batch_statistics: str = JOINT
    """Whether source and target are normalised as one batch (``joint``) or as two (``separate``)."""

    def __post_init__(self) -> None:
        check_numbers(
            self, positive=("bottleneck", "discriminator", "alpha"), at_least_zero=("trade_off", "ramp_steps")
        )
        check_shares(self, ("discriminator_dropout",))
        check_words(self, {"batch_statistics": BATCH_STATISTICS})


class Dann(Algorithm):
    """Cross-entropy on the source, and a discriminator behind a gradient reversal.

    Notes
    -----
    The reversal's strength rises over 10,000 steps whatever the run's length, as in CDAN's recipe and in public
    libraries (which write the same curve as ``alpha=1`` over 1,000 steps): a run of 1,000 steps ends at 0.46. The paper
    lets it rise over the run (``ramp_steps=0``), so that a short run meets a strong adversary before its head has
    learned.

    References
    ----------
    Ganin et al. 2016, "Domain-adversarial training of neural networks", equation 9 and section 5.2.
    """

    config_type = DannConfig
    recipe = Recipe()

    def __init__(self, config: DannConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.head = make_head(config.bottleneck, shape.n_labels)
        self.discriminator = make_discriminator(
            config.bottleneck, width=config.discriminator, dropout=config.discriminator_dropout
        )

    def make_bottleneck(self) -> nn.Module:
        """Return linear, batch normalisation and ReLU."""
        return make_bottleneck(self.shape.n_features, self.config.bottleneck)

    def classify(self, features: Tensor) -> Tensor:
        """Return the head's logits."""
        return self.head(features)

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return the classification and the adversarial loss."""
        both = self.find_both_at_once(batch)
        n = len(batch.source)
        strength = ramp_up(moment, alpha=self.config.alpha, ramp_steps=self.config.ramp_steps)
        domains = self.discriminator(reverse_gradient(both, strength=strength))
        return {
            "classification": functional.cross_entropy(self.head(both[:n]), batch.source_labels),
            "adversarial": self.config.trade_off * tell_apart(domains[:n], domains[n:]),
        }
