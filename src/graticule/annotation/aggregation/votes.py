"""Answers as most aggregators see them: items, workers, and the one of a few choices that a worker took for an item.

An item is an image (choose its label) or a pair of image and label (yes or no); so the same models serve both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int32

from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.answers import CLASSIFY, CONTAINS, Answers

NO, YES = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """``a`` votes on ``n`` items, in the order of items, workers and choices.

    Parameters
    ----------
    item, worker, choice
        Indices, shape ``(a,)``. In CONTAINS, choice 2 is "maybe": an answer that is never the truth.
    n_items, n_workers, n_choices
        How many there are; ``n_choices`` counts what can be true. Every item has a vote.
    n_answers
        How many different answers there are, at least ``n_choices``.
    known
        The right choice of each item, -1 where it is not known, shape ``(n,)``.
    image, label
        What each item is about, shape ``(n,)``; label is -1 where the choices are the labels.
    choice_label
        The label that each choice stands for, shape ``(k,)``; -1 in CONTAINS.
    """

    item: Int32[np.ndarray, " a"]
    worker: Int32[np.ndarray, " a"]
    choice: Int32[np.ndarray, " a"]
    n_items: int
    n_workers: int
    n_choices: int
    n_answers: int
    known: Int32[np.ndarray, " n"]
    image: Int32[np.ndarray, " n"]
    label: Int32[np.ndarray, " n"]
    choice_label: Int32[np.ndarray, " k"]

    def __len__(self) -> int:
        return len(self.item)

    @property
    def is_binary(self) -> bool:
        """Whether an item asks if a label holds."""
        return bool(self.choice_label[0] < 0) if len(self.choice_label) else False

    def drop_unsure(self) -> Votes:
        """Return the votes without those that name no choice that can be true."""
        if self.n_answers == self.n_choices:
            return self
        kept = self.choice < self.n_choices
        return replace(
            self,
            item=self.item[kept],
            worker=self.worker[kept],
            choice=self.choice[kept],
            n_answers=self.n_choices,
        )


def make_votes(answers: Answers, *, gold: Gold | None = None) -> Votes:
    """Return the votes in a set of answers.

    A worker's vote in CLASSIFY is the main label; where no main label is named, the only one selected; workers who
    selected several and named none cast no vote.
    """
    return _make_binary(answers, gold) if answers.question == CONTAINS else _make_choices(answers, gold)


def _make_binary(answers: Answers, gold: Gold | None) -> Votes:
    k = max(len(answers.labels), 1)
    pair = answers.image.astype(np.int64) * k + answers.label
    asked, item = _number(pair, size=len(answers.images) * k)
    choice = answers.selected.astype(np.int32)
    if answers.is_unsure is not None:
        choice[answers.is_unsure] = 2
    known = np.full(len(asked), -1, dtype=np.int32)
    if gold is not None:
        place, found = _find(asked, gold.image.astype(np.int64) * k + gold.label)
        known[place] = gold.holds[found]
    return sort_votes(
        Votes(
            item=item.astype(np.int32, copy=False),
            worker=answers.worker,
            choice=choice,
            n_items=len(asked),
            n_workers=len(answers.workers),
            n_choices=2,
            n_answers=2 if answers.is_unsure is None else 3,
            known=known,
            image=(asked // k).astype(np.int32),
            label=(asked % k).astype(np.int32),
            choice_label=np.full(2, -1, dtype=np.int32),
        )
    )


def _make_choices(answers: Answers, gold: Gold | None) -> Votes:
    rows = find_votes(answers)
    used = np.zeros(len(answers.labels), dtype=bool)
    used[answers.label[rows]] = True
    if gold is not None:
        used[gold.label] = True
    choice_of = np.cumsum(used, dtype=np.int32) - 1
    image, worker, label = answers.image, answers.worker, answers.label
    if not rows.all():
        image, worker, label = image[rows], worker[rows], label[rows]
    asked, item = _number(image, size=len(answers.images))
    known = np.full(len(asked), -1, dtype=np.int32)
    if gold is not None:
        place, found = _find(asked, gold.image.astype(np.int64))
        known[place] = choice_of[gold.label[found]]
    return sort_votes(
        Votes(
            item=item.astype(np.int32, copy=False),
            worker=worker,
            choice=choice_of[label],
            n_items=len(asked),
            n_workers=len(answers.workers),
            n_choices=int(used.sum()),
            n_answers=int(used.sum()),
            known=known,
            image=asked.astype(np.int32),
            label=np.full(len(asked), -1, dtype=np.int32),
            choice_label=np.flatnonzero(used).astype(np.int32),
        )
    )


def find_votes(answers: Answers) -> Bool[np.ndarray, " a"]:
    """Return which answers name the one label that their worker chose for the image, shape ``(a,)``."""
    if answers.question != CLASSIFY or answers.is_main is None:
        return answers.selected
    key = answers.image.astype(np.int64) * len(answers.workers) + answers.worker
    _, worker_image = np.unique(key, return_inverse=True)
    n_selected = np.bincount(worker_image, weights=answers.selected)
    has_main = np.bincount(worker_image, weights=answers.is_main) > 0
    return answers.is_main | (answers.selected & ~has_main[worker_image] & (n_selected[worker_image] == 1))


def _number(keys: np.ndarray, *, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different keys, sorted, and each key's place among them."""
    if size > 64 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)
    used = np.zeros(size, dtype=bool)
    used[keys] = True
    number = np.cumsum(used, dtype=np.int32)
    number -= 1
    return np.flatnonzero(used), number[keys]


def _find(known: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of those keys that are known, and which keys they are."""
    place = np.searchsorted(known, keys)
    found = np.flatnonzero(known[np.minimum(place, len(known) - 1)] == keys) if len(known) else np.empty(0, np.int64)
    return place[found], found


def sort_votes(votes: Votes) -> Votes:
    """Return the votes in one order, whatever order the rows of the table had."""
    n_answers = np.int64(max(votes.n_answers, 1))
    key = votes.item.astype(np.int64)
    key *= votes.n_workers
    key += votes.worker
    key *= n_answers
    key += votes.choice
    if not (key[1:] < key[:-1]).any():
        return votes
    key.sort()
    choice = (key % n_answers).astype(np.int32)
    key //= n_answers
    worker = (key % votes.n_workers).astype(np.int32)
    key //= votes.n_workers
    return replace(votes, item=key.astype(np.int32), worker=worker, choice=choice)
