"""Images that are probably mislabelled: people were asked, and nobody saw what the data set says."""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Bool

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.coded_images import CodedImages
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.multi_label.pairs import count_labels
from graticule.evaluation.multi_label.people import UNKNOWN, People
from graticule.evaluation.rows import make_cell_rows, no_rows

NAMES = ("suspected_mislabelled",)


def measure_mislabelled(people: People, config: AuditConfig) -> pl.DataFrame:
    """Return the share of images whose given label nobody saw, by region, by label and in every cell.

    With all selections known, nobody saw it if nobody selected it. Where only accepted labels are known, it is not
    among them; that is a weaker reason.

    References
    ----------
    Tsipras et al. 2020, appendix C.2.
    """
    among, is_suspect = _find(people)
    if not among.any():
        return no_rows()
    n_labels = int(people.given.max(initial=UNKNOWN)) + 1
    rows = [np.flatnonzero(where & (people.region >= 0)) for where in (among, is_suspect)]
    n, hits = (_with_margin(count_labels(at, people.given[at], people=people)[:, :n_labels]) for at in rows)
    return make_cell_rows(
        "suspected_mislabelled",
        wilson_interval(hits, n, confidence=config.confidence),
        model=None,
        regions=people.regions,
        labels=people.labels[:n_labels],
        method="wilson" if people.has_all_selections else "wilson; the given label is not among the accepted ones",
    )


def list_suspects(people: People, images: CodedImages) -> pl.DataFrame:
    """Return the images whose given label nobody saw: image_id, label, region and the main label that people see."""
    _, is_suspect = _find(people)
    rows = np.flatnonzero(is_suspect)
    names = pl.Series([*people.labels, None], dtype=pl.String)
    regions = pl.Series([*people.regions, None], dtype=pl.String)
    return pl.DataFrame(
        {
            "image_id": images.table["image_id"].gather(rows),
            "label": names.gather(people.given[rows]),
            "region": regions.gather(np.where(people.region[rows] >= 0, people.region[rows], len(people.regions))),
            "main_label": names.gather(np.where(people.main[rows] >= 0, people.main[rows], len(people.labels))),
        }
    )


def _find(people: People) -> tuple[Bool[np.ndarray, " n"], Bool[np.ndarray, " n"]]:
    """Return which images can be judged, and which of them are suspected."""
    rows = np.arange(len(people.given))
    has_given = people.given >= 0
    if people.has_all_selections:
        among = has_given & people.is_asked
        return among, among & (np.nan_to_num(people.find_frequency(rows, people.given)) == 0)
    among = has_given & people.is_labelled
    return among, among & ~people.accept(rows, people.given)


def _with_margin(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1).ravel()
