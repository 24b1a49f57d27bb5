"""One model's predictions beside what people see: the form that every metric of the label kind is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from graticule.evaluation.coded_images import compose
from graticule.evaluation.multi_label.people import UNKNOWN, People
from graticule.evaluation.scored import Scored


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """One model on the ``m`` images that it was scored on.

    Parameters
    ----------
    scored
        The model's predictions against the given labels.
    people
        What people see in all images.
    predicted
        Code of each prediction among the people's labels, shape ``(m,)``; -1 where people know no such label.
    is_labelled
        Whether people accepted any label of the image, shape ``(m,)``.
    is_accepted
        Whether people accept the prediction, shape ``(m,)``.
    n_objects
        Number of objects that people see, shape ``(m,)``; 0 where unknown.
    main
        Code of the main label, shape ``(m,)``; -1 where unknown.
    given
        Code of the given label, shape ``(m,)``.
    """

    scored: Scored
    people: People
    predicted: Int[np.ndarray, " m"]
    is_labelled: Bool[np.ndarray, " m"]
    is_accepted: Bool[np.ndarray, " m"]
    n_objects: Int[np.ndarray, " m"]
    main: Int[np.ndarray, " m"]
    given: Int[np.ndarray, " m"]


def judge(scored: Scored, people: People) -> Judged:
    """Return a model's scored images beside what people see in them."""
    places = {name: place for place, name in enumerate(people.labels)}
    codes = np.array([places.get(compose(name), UNKNOWN) for name in scored.predicted_labels], dtype=np.int64)
    predicted = codes[scored.predicted]
    rows = scored.rows
    return Judged(
        scored=scored,
        people=people,
        predicted=predicted,
        is_labelled=people.is_labelled[rows],
        is_accepted=people.accept(rows, predicted),
        n_objects=people.n_objects[rows],
        main=people.main[rows],
        given=people.given[rows],
    )
