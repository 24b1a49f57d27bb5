"""Average precision: how well the model's score of a label ranks the images that show it above the others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from jaxtyping import Bool, Float32, Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.average_precision import RankedLabel, estimate_average_precision, rank_label
from graticule.evaluation.estimates import Estimates, single_estimate
from graticule.evaluation.rows import make_rows, no_rows
from graticule.evaluation.scored import Scored

NAMES = ("average_precision",)
BLOCK_SCORES = 50_000_000
"""Scores (four bytes each) that are copied out together, a label's in a row."""
SAMPLE = 10_000
"""Images of a region from which the variance of the mean over labels is estimated, all if there are no more."""


def measure_average_precision(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the average precision of each label in each region and in all, and its mean over labels.

    No rows where only the best labels are known. ``n`` is the number of images of the label; of the mean, all images.

    Notes
    -----
    Images are ranked by the probability that the model gives the label; similarities without a temperature are ranked
    as they are. Labels without an image in a region have NaN with n = 0 there and take no part in its mean. The labels
    of a mean share their images, so its variance is that of the images' influences added up over labels, not a sum
    over labels.
    """
    if scored.scores is None:
        return no_rows()
    order = np.argsort(scored.region, kind="stable")
    ends = np.searchsorted(scored.region[order], np.arange(len(scored.regions) + 1))
    segments = [
        _Segment(
            name=region,
            first=int(ends[place]),
            last=int(ends[place + 1]),
            sample=_choose_sample(scored, order, int(ends[place]), int(ends[place + 1])),
        )
        for place, region in enumerate(scored.regions)
    ]
    everything = _Segment(name=None, first=0, last=len(order), sample=_choose_sample(scored, order, 0, len(order)))
    labels = scored.label[order]
    known = np.flatnonzero(scored.columns >= 0)
    step = max(1, BLOCK_SCORES // len(order))
    for start in range(0, len(known), step):
        block = known[start : start + step]
        for label, scores in zip(block, scored.scores.read_columns(scored.columns[block], order), strict=True):
            is_label = labels == label
            for segment in (everything, *segments):
                segment.rank(int(label), scores, is_label)
    return pl.concat(
        segment.make_rows(scored, labels, confidence=config.confidence) for segment in (everything, *segments)
    )


@dataclass(slots=True, kw_only=True)
class _Segment:
    """The images of one region, in the order of regions, and what is gathered of them label by label."""

    name: str | None
    first: int
    last: int
    sample: Int[np.ndarray, " m"]
    ranked: dict[int, RankedLabel] = field(default_factory=dict)
    influence: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.influence = np.zeros(len(self.sample))

    def rank(self, label: int, scores: Float32[np.ndarray, " n"], is_label: Bool[np.ndarray, " n"]) -> None:
        here, own = scores[self.first : self.last], is_label[self.first : self.last]
        if not own.any():
            return
        ranked = rank_label(np.sort(here), here[own])
        self.influence += ranked.find_influence(scores[self.sample], is_label[self.sample])
        self.ranked[label] = ranked

    def make_rows(self, scored: Scored, labels: Int[np.ndarray, " n"], *, confidence: float) -> pl.DataFrame:
        n_labels = len(scored.labels)
        value, variance, excess = (np.full(n_labels, np.nan) for _ in range(3))
        n = np.zeros(n_labels, dtype=np.int64)
        for label, ranked in self.ranked.items():
            value[label], variance[label], excess[label] = ranked.value, ranked.variance, ranked.excess
            n[label] = ranked.n_positives
        found = estimate_average_precision(value, variance, excess, n, confidence=confidence)
        method = "as ranked; infinitesimal jackknife on the logit scale"
        return pl.concat(
            [
                make_rows(
                    "average_precision",
                    found,
                    model=scored.model,
                    region=self.name,
                    label=list(scored.labels),
                    method=method,
                ),
                make_rows(
                    "average_precision",
                    self._find_mean(value, excess, labels, confidence=confidence),
                    model=scored.model,
                    region=self.name,
                    method=f"mean over labels; {method}",
                ),
            ]
        )

    def _find_mean(
        self, value: np.ndarray, excess: np.ndarray, labels: Int[np.ndarray, " n"], *, confidence: float
    ) -> Estimates:
        if not self.ranked:
            return single_estimate(np.nan, n=0)
        n_images = self.last - self.first
        per_label = np.bincount(labels[self.sample])[labels[self.sample]]
        sums = np.bincount(labels[self.sample], weights=self.influence)[labels[self.sample]]
        deviations = self.influence - np.where(per_label > 1, sums / per_label, 0)
        squares = (deviations**2 * np.where(per_label > 1, per_label / np.maximum(per_label - 1, 1), 1)).sum()
        variance = squares * n_images / len(self.sample) / len(self.ranked) ** 2
        return estimate_average_precision(
            np.array([np.nanmean(value)]),
            np.array([variance]),
            np.array([np.nanmean(excess)]),
            np.array([n_images]),
            confidence=confidence,
        )


def _choose_sample(scored: Scored, order: Int[np.ndarray, " n"], first: int, last: int) -> Int[np.ndarray, " m"]:
    """Return places, in the order of regions, of the images of a region whose influence is followed."""
    places = np.arange(first, last)
    if len(places) <= SAMPLE:
        return places
    keys = scored.keys[order[first:last]]
    return np.sort(places[np.argpartition(keys, SAMPLE)[:SAMPLE]])
