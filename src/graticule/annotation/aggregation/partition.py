"""Labels of an image to objects: labels that a worker selected together name different objects.

The partition into k objects cuts as much weight as it can, where the weight between two labels is the number of workers
who selected both (a maximum k-cut).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from jaxtyping import Int

from graticule.errors import ConfigError

MAX_EXACT = 9
"""Labels up to which every partition is looked at; CLASSIFY offers about six."""


def partition_labels(together: Int[np.ndarray, "k k"], *, n_objects: int) -> Int[np.ndarray, " k"]:
    """Return the object of each label, numbered from 0 in the order of the objects' first labels, shape ``(k,)``.

    Parameters
    ----------
    together
        How many workers selected each two labels together, shape ``(k, k)``, symmetric.
    n_objects
        How many objects there are; none is left without a label while there are labels enough.

    Raises
    ------
    ConfigError
        There is no object to give labels to.

    Notes
    -----
    Of several best partitions, the one whose numbering comes first in lexical order is taken: labels that could as well
    name the same object do, the earlier the more so. The caller orders the labels. The published ImageNet annotations
    break ties by an accident of a set's order, so they can only be met where the best partition is unique.

    With more than `MAX_EXACT` labels, labels are placed one after the other, those with most in common with others
    first, and then moved one at a time while the cut grows; the partition is then good, not certainly best.

    Examples
    --------
    >>> partition_labels(np.array([[0, 3, 1], [3, 0, 0], [1, 0, 0]]), n_objects=2).tolist()
    [0, 1, 1]
    """
    n_labels = len(together)
    if n_objects < 1:
        raise ConfigError(f"n_objects is {n_objects}; expected at least 1.")
    n_objects = min(n_objects, n_labels)
    if n_labels > MAX_EXACT:
        return _place_greedily(together, n_objects)
    numberings = _list_numberings(n_labels, n_objects)
    first, second = np.triu_indices(n_labels, 1)
    same = numberings[:, first] == numberings[:, second]
    return numberings[np.argmin(same @ together[first, second])].astype(int)


@cache
def _list_numberings(n_labels: int, n_objects: int) -> Int[np.ndarray, "p k"]:
    """Return every partition of labels into exactly so many objects as a numbering, in lexical order."""
    numberings: list[tuple[int, ...]] = [()]
    for place in range(n_labels):
        left = n_labels - place - 1
        numberings = [
            (*numbering, number)
            for numbering in numberings
            for number in range(min(len(set(numbering)) + 1, n_objects))
            if n_objects - len({*numbering, number}) <= left
        ]
    return np.array(numberings, dtype=np.int8).reshape(-1, n_labels)


def _place_greedily(together: Int[np.ndarray, "k k"], n_objects: int) -> Int[np.ndarray, " k"]:
    n_labels = len(together)
    objects = np.full(n_labels, -1)
    order = np.argsort(-together.sum(axis=1), kind="stable")
    for place, label in enumerate(order):
        inside = [together[label, objects == number].sum() for number in range(n_objects)]
        objects[label] = place if place < n_objects else int(np.argmin(inside))
    moved = True
    while moved:
        moved = False
        for label in range(n_labels):
            inside = np.array([together[label, objects == number].sum() for number in range(n_objects)])
            alone = (objects == objects[label]).sum() == 1
            if not alone and inside.min() < inside[objects[label]]:
                objects[label] = int(inside.argmin())
                moved = True
    first_seen = {number: place for place, number in enumerate(dict.fromkeys(objects.tolist()))}
    return np.array([first_seen[number] for number in objects.tolist()])
