"""Selection frequency: the share of the workers who were asked that selected a label, as the papers report it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graticule.annotation.aggregation.aggregate import MIN_PROBABILITY, Aggregate, make_aggregate
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.majority import Majority
from graticule.annotation.aggregation.votes import make_votes
from graticule.annotation.aggregation.winners import TIE, find_winners
from graticule.annotation.answers import CLASSIFY, Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionFrequency:
    """The share of workers as the probability; accepted are labels that at least half of the workers selected.

    Where a worker chooses one label an image this is the majority vote. In CLASSIFY every selected label counts, and
    the winner is the label that most workers selected. A "maybe" is no selection.

    References
    ----------
    Recht, Roelofs, Schmidt and Shankar 2019, "Do ImageNet classifiers generalize to ImageNet?"; Tsipras et al. 2020,
    "From ImageNet to image classification", section 3.1.
    """

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; known labels are kept, but for CLASSIFY."""
        if answers.question == CLASSIFY:
            return _count_selected(answers)
        votes = make_votes(answers, gold=gold)
        voted = make_aggregate(answers, votes, Majority().fit(votes), method="selection_frequency")
        if answers.is_unsure is None:
            return voted
        probability = np.where(votes.known >= 0, voted.probability, voted.selection_frequency)
        is_main = find_winners(voted.image, probability) & (probability >= MIN_PROBABILITY - TIE)
        return replace(voted, probability=probability, is_main=is_main)


def _count_selected(answers: Answers) -> Aggregate:
    w, k = np.int64(len(answers.workers)), np.int64(len(answers.labels))
    asked = np.bincount(np.unique(answers.image * w + answers.worker) // w, minlength=len(answers.images))
    chosen = answers.selected
    pair, place = np.unique(answers.image[chosen] * k + answers.label[chosen], return_inverse=True)
    image, label = (pair // k).astype(np.int32), (pair % k).astype(np.int32)
    frequency = np.bincount(place, minlength=len(pair)) / asked[image]
    return Aggregate(
        method="selection_frequency",
        question=answers.question,
        images=answers.images,
        labels=answers.labels,
        workers=answers.workers,
        image=image,
        label=label,
        probability=frequency,
        selection_frequency=frequency,
        n_workers=asked[image].astype(np.int32),
        is_main=find_winners(image, frequency),
        is_accepted=frequency >= MIN_PROBABILITY - TIE,
        skill=np.full(len(answers.workers), np.nan),
        n_answers=np.bincount(answers.worker[chosen], minlength=len(answers.workers)).astype(np.int32),
    )
