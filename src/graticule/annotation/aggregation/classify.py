"""The paper's aggregation of CLASSIFY: how many objects an image shows, which labels name each, and which is main."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32, Int64

from graticule.annotation.aggregation.aggregate import Aggregate
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.partition import partition_labels
from graticule.annotation.aggregation.votes import find_votes
from graticule.annotation.aggregation.winners import find_winners
from graticule.annotation.answers import CONTAINS, Answers
from graticule.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Classify:
    """Objects from the labels that workers selected together.

    The number of objects is the most common number of labels in an answer, and the main label the most common one; of
    equally common ones the one that was answered first counts. Where there is one object, every selected label names
    it. Otherwise the labels that anyone selected together with another are parted into so many objects that as few
    workers as possible selected two labels of one object; what was only ever selected alone names none. An object's
    label is the one most workers selected, and those labels are accepted, with the main label.

    Notes
    -----
    The probability is the share of workers who selected the label, and 1 for a known main label. Answers count in the
    order of ``answered_at``, and without it in the order of the table's rows. Ties of the partition go by
    `partition_labels` with the most selected label first, ties of labels by the order of the labels. Gold only sets the
    main label.

    References
    ----------
    Tsipras et al. 2020, "From ImageNet to image classification", section 3.2 and appendix B.1.3.
    """

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the objects and labels that the answers come to.

        Raises
        ------
        ConfigError
            The answers say yes or no to one label each.
        """
        if answers.question == CONTAINS:
            raise ConfigError(
                "method 'classify' on answers to CONTAINS; expected answers to CLASSIFY, where a worker names all "
                "labels of an image. Take selection_frequency, or another method."
            )
        selected = answers.selected
        image, label, frequency, asked = _count_selected(answers, gold)
        main = _find_main(answers, gold)
        number = _number_objects(answers, image=image, label=label, frequency=frequency)
        is_main = main[image] == label
        is_known = np.isin(image, [] if gold is None else gold.image)
        object_key = image.astype(np.int64) * (number.max(initial=0) + 2) + number
        names_object = _find_most_selected(object_key, frequency) & (number >= 0)
        return Aggregate(
            method="classify",
            question=answers.question,
            images=answers.images,
            labels=answers.labels,
            workers=answers.workers,
            image=image,
            label=label,
            probability=np.where(is_known & is_main, 1.0, frequency / asked[image]),
            selection_frequency=frequency / asked[image],
            n_workers=asked[image].astype(np.int32),
            is_main=is_main,
            object=number,
            is_accepted=names_object | is_main,
            skill=np.full(len(answers.workers), np.nan),
            n_answers=np.bincount(answers.worker[selected], minlength=len(answers.workers)).astype(np.int32),
        )


def count_objects(answers: Answers) -> Int32[np.ndarray, " n"]:
    """Return how many objects each image shows, shape ``(n,)`` over all images; 0 where nobody selected a label.

    It is the most common number of labels that a worker selected; of equally common ones, the one seen first.
    """
    rows = np.flatnonzero(answers.selected)
    key = answers.image[rows].astype(np.int64) * len(answers.workers) + answers.worker[rows]
    answer, first, size = np.unique(key, return_index=True, return_counts=True)
    in_order = np.argsort(first, kind="stable")
    image = (answer // max(len(answers.workers), 1))[in_order]
    found, number = _find_modes(image, size[in_order])
    counts = np.zeros(len(answers.images), dtype=np.int32)
    counts[found] = number
    return counts


def _count_selected(answers: Answers, gold: Gold | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return image, label and number of workers of each selected or known pair, and the workers asked about images."""
    w, k = np.int64(len(answers.workers)), np.int64(len(answers.labels))
    asked = np.bincount(np.unique(answers.image * w + answers.worker) // max(w, 1), minlength=len(answers.images))
    rows = answers.selected
    pair, frequency = np.unique(answers.image[rows] * k + answers.label[rows], return_counts=True)
    if gold is not None:
        unseen = np.setdiff1d(gold.image[asked[gold.image] > 0] * k + gold.label[asked[gold.image] > 0], pair)
        pair, frequency = np.append(pair, unseen), np.append(frequency, np.zeros(len(unseen), dtype=np.int64))
        order = np.argsort(pair)
        pair, frequency = pair[order], frequency[order]
    return (pair // max(k, 1)).astype(np.int32), (pair % max(k, 1)).astype(np.int32), frequency, asked


def _find_main(answers: Answers, gold: Gold | None) -> Int32[np.ndarray, " n"]:
    """Return the main label of each image, -1 where nobody named one."""
    rows = find_votes(answers)
    image, label = _find_modes(answers.image[rows].astype(np.int64), answers.label[rows])
    main = np.full(len(answers.images), -1, dtype=np.int32)
    main[image] = label
    if gold is not None:
        main[gold.image] = gold.label
    return main


def _find_modes(group: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups, and the most common value of each; of equally common ones, the one that comes first."""
    width = np.int64(value.max(initial=0)) + 1
    keys, first, count = np.unique(group * width + value, return_index=True, return_counts=True)
    order = np.lexsort((first, -count, keys // width))
    ordered = keys[order] // width
    best = order[np.append(True, ordered[1:] != ordered[:-1])] if len(order) else order
    return keys[best] // width, keys[best] % width


def _number_objects(
    answers: Answers, *, image: np.ndarray, label: np.ndarray, frequency: np.ndarray
) -> Int32[np.ndarray, " p"]:
    """Return the object that each selected label names, -1 where it names none."""
    n_objects = count_objects(answers)
    number = np.zeros(len(image), dtype=np.int32)
    starts = np.searchsorted(image, np.arange(len(answers.images) + 1))
    bounds = np.searchsorted(answers.image, np.arange(len(answers.images) + 1))
    for several in np.flatnonzero(n_objects > 1):
        pairs = slice(starts[several], starts[several + 1])
        by_frequency = np.lexsort((label[pairs], -frequency[pairs]))
        labels = label[pairs][by_frequency]
        together = _count_together(answers, slice(bounds[several], bounds[several + 1]), labels)
        joined = np.flatnonzero(together.any(axis=1))
        objects = np.full(len(labels), -1, dtype=np.int32)
        objects[joined] = partition_labels(together[np.ix_(joined, joined)], n_objects=int(n_objects[several]))
        number[pairs][by_frequency] = objects
    return number


def _count_together(answers: Answers, rows: slice, labels: np.ndarray) -> Int64[np.ndarray, "k k"]:
    """Return how many workers selected each two labels of an image, in the order of ``labels``."""
    chosen = answers.selected[rows]
    place = {int(label): row for row, label in enumerate(labels)}
    workers = np.unique(answers.worker[rows][chosen], return_inverse=True)[1]
    selections = np.zeros((int(workers.max()) + 1, len(labels)), dtype=np.int64)
    selections[workers, [place[int(label)] for label in answers.label[rows][chosen]]] = 1
    together = selections.T @ selections
    np.fill_diagonal(together, 0)
    return together


def _find_most_selected(group: np.ndarray, frequency: np.ndarray) -> Bool[np.ndarray, " p"]:
    """Return the most selected row of each group, the first of several."""
    order = np.argsort(group, kind="stable")
    best = np.zeros(len(group), dtype=bool)
    best[order] = find_winners(group[order], frequency[order].astype(float))
    return best
