"""Ambiguity: labels for which people select another one as often as the given one, and the pairs that are mixed up."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.multi_label.pairs import count_labels, pair_rows
from graticule.evaluation.multi_label.people import People
from graticule.evaluation.multi_label.predicted_selection import describe_method
from graticule.evaluation.rows import make_cell_rows, no_rows
from graticule.evaluation.scored import add_margins

NAMES = ("label_ambiguity", "ambiguous_pair")


def measure_label_ambiguity(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return the share of a label's images on which people select another label at least as often as the given one.

    ``ambiguous_pair`` names the other label in ``group``: the share of the given label's images on which that one is
    selected at least as often. A label that nobody selected is no rival. Nothing where no selection is known.

    References
    ----------
    Tsipras et al. 2020, section 4.2 (figures 7 and 8).
    """
    if people.selected is None or people.frequency is None:
        return no_rows()
    among = people.is_asked & (people.given >= 0) & (people.region >= 0)
    image, other = np.divmod(people.selected, len(people.labels))
    given_frequency = people.find_frequency(np.arange(len(people.given)), people.given)
    is_rival = (
        (people.frequency > 0)
        & (other != people.given[image])
        & (people.frequency >= np.nan_to_num(given_frequency[image]))
        & among[image]
    )
    is_ambiguous = np.zeros(len(among), dtype=bool)
    is_ambiguous[image[is_rival]] = True
    n_labels = int(people.given.max(initial=-1)) + 1
    cells = wilson_interval(
        _count_cells(people, among & is_ambiguous, n_labels),
        _count_cells(people, among, n_labels),
        confidence=config.confidence,
    )
    ambiguity = make_cell_rows(
        "label_ambiguity",
        cells,
        model=None,
        regions=people.regions,
        labels=people.labels[:n_labels],
        method=describe_method(people).replace("normal", "wilson"),
    )
    pairs = pair_rows(
        "ambiguous_pair",
        image=image[is_rival],
        label=people.given[image[is_rival]],
        other=other[is_rival],
        base=count_labels(np.flatnonzero(among), people.given[among], people=people),
        people=people,
        config=config,
    )
    return pl.concat([ambiguity, pairs])


def _count_cells(people: People, among: np.ndarray, n_labels: int) -> Int[np.ndarray, " c"]:
    cells = people.region[among].astype(np.int64) * n_labels + people.given[among]
    counts = np.bincount(cells, minlength=len(people.regions) * n_labels)
    return add_margins(counts.reshape(len(people.regions), n_labels)).ravel()
