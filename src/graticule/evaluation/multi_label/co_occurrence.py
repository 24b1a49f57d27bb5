"""Labels that people see together: part and whole, or things that come in pairs."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.pairs import count_labels, pair_rows
from graticule.evaluation.multi_label.people import People

NAMES = ("co_occurring_pair",)


def measure_co_occurrence(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return, for each pair of labels, the share of images that show the first in which people accept the second too.

    A pair stands in two rows, once each way round: a space bar is nearly always on a keyboard, a keyboard is often
    labelled without its space bar.

    References
    ----------
    Tsipras et al. 2020, section 4.1 and appendix C.1.
    """
    image, label = np.divmod(people.accepted, len(people.labels))
    starts = np.flatnonzero(np.diff(image, prepend=-1))
    sizes = np.diff(np.append(starts, len(image)))
    own_size = np.repeat(sizes, sizes)
    first = np.repeat(np.arange(len(image)), own_size)
    place = np.arange(len(first)) - np.repeat(np.cumsum(own_size) - own_size, own_size)
    second = np.repeat(np.repeat(starts, sizes), own_size) + place
    is_pair = first != second
    first, second = first[is_pair], second[is_pair]
    return pair_rows(
        "co_occurring_pair",
        image=image[first],
        label=label[first],
        other=label[second],
        base=count_labels(image, label, people=people),
        people=people,
        config=config,
    )
