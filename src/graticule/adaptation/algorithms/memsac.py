"""MemSAC: target images are drawn to the source images of their label, over a memory of many source features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from graticule.adaptation.algorithm import Batch, Recipe, Shape
from graticule.adaptation.algorithms.cdan import Cdan, CdanConfig
from graticule.adaptation.modules.feature_queue import FeatureQueue
from graticule.adaptation.option_checks import check_numbers
from graticule.adaptation.schedule import Moment

TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MemSacConfig(CdanConfig):
    """Options of MemSAC: those of CDAN, and of the consistency with the memory."""

    consistency: float = 0.1
    """Weight of the consistency (paper, section 4.1)."""
    temperature: float = 0.07
    """What cosines are divided by."""
    queue: int = 24_000
    """Source features in the memory at most; no more than there are source images, since more would be old copies."""
    n_neighbours: int = 5
    """Nearest source images whose commonest label is a target image's pseudo-label."""
    n_confident: int = 4
    """Nearest of the same and of other labels that are compared for the confidence."""
    kept_share: float = 2 / 3
    """Share of the target images, the most confident, that count."""
    warm_up: float = 0.04
    """Share of the run without the consistency: GeoNet's 4,000 of 100,000 steps."""

    def __post_init__(self) -> None:
        CdanConfig.__post_init__(self)
        check_numbers(
            self,
            positive=("temperature", "queue", "n_neighbours", "n_confident", "kept_share"),
            at_least_zero=("consistency", "warm_up"),
        )


class MemSac(Cdan):
    """CDAN, and a contrastive loss between target images and the memory's source images of their pseudo-label.

    Notes
    -----
    Slots of the memory that nothing was put in yet do not count. All layers learn, the bottleneck's normalisation too.

    References
    ----------
    Kalluri et al. 2022, "MemSAC: memory augmented sample consistency for large scale domain adaptation", equations 2
    to 5.
    """

    config_type = MemSacConfig
    recipe = Recipe()

    def __init__(self, config: MemSacConfig, shape: Shape, *, backbone: nn.Module | None = None) -> None:
        super().__init__(config, shape, backbone=backbone)
        self.queue = FeatureQueue(min(config.queue, shape.n_source), config.bottleneck)
        self.latest: Tensor | None = None

    def compute_losses(self, batch: Batch, *, phase: str, moment: Moment) -> dict[str, Tensor]:
        """Return CDAN's losses and, after the warm-up, the consistency."""
        both = self.find_both_at_once(batch)
        logits = self.head(both)
        n = len(batch.source)
        losses = {
            "classification": functional.cross_entropy(logits[:n], batch.source_labels),
            "adversarial": self.config.trade_off * self.confuse(both, logits, n_source=n, moment=moment),
        }
        units = functional.normalize(both, dim=1)
        self.latest = units[:n].detach()
        memory, labels = self.queue.read()
        if moment.progress >= self.config.warm_up and len(labels):
            losses["consistency"] = self.config.consistency * find_consistency(
                units[n:], memory.to(units.dtype), labels, config=self.config
            )
        return losses

    def finish_step(self, batch: Batch) -> None:
        """Put the batch's source features into the memory."""
        if self.latest is not None:
            self.queue.push(self.latest, batch.source_labels)
            self.latest = None


def find_consistency(target: Tensor, memory: Tensor, labels: Tensor, *, config: MemSacConfig) -> Tensor:
    """Return how little the confident target images lie with the memory's images of their pseudo-label.

    Parameters
    ----------
    target, memory
        Features of length 1, shapes ``(b, d)`` and ``(q, d)``.
    labels
        Labels of the memory, shape ``(q,)``.
    config
        Sizes and the temperature.
    """
    similarity = target @ memory.T
    with torch.no_grad():
        pseudo = vote_label(similarity, labels, n_neighbours=config.n_neighbours)
        is_same = labels.unsqueeze(0) == pseudo.unsqueeze(1)
        confidence = _sum_nearest(similarity, is_same, config.n_confident) / _sum_nearest(
            similarity, ~is_same, config.n_confident
        ).clamp_min(TINY)
        n_kept = max(int(len(target) * config.kept_share), 1)
        kept = confidence.topk(n_kept).indices
    logs = (similarity[kept] / config.temperature).log_softmax(dim=1)
    same = logs.masked_fill(~is_same[kept], -torch.inf).logsumexp(dim=1)
    return -same.mean()


def vote_label(similarity: Tensor, labels: Tensor, *, n_neighbours: int) -> Tensor:
    """Return the commonest label among the nearest; of equally common ones the one that comes nearest."""
    nearest = labels[similarity.topk(min(n_neighbours, len(labels)), dim=1).indices]
    counts = (nearest.unsqueeze(2) == nearest.unsqueeze(1)).sum(dim=2)
    ranks = torch.arange(nearest.shape[1], 0, -1, device=nearest.device)
    best = (counts * (nearest.shape[1] + 1) + ranks).argmax(dim=1)
    return nearest.gather(1, best.unsqueeze(1)).squeeze(1)


def _sum_nearest(similarity: Tensor, is_counted: Tensor, n: int) -> Tensor:
    found = similarity.masked_fill(~is_counted, 0.0)
    return found.topk(min(n, found.shape[1]), dim=1).values.sum(dim=1)
