"""Images, predictions and what people see → every number of the label kind, by region and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from graticule.data.predictions import Predictions
from graticule.evaluation.alignment import Alignment, align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.coded_images import compose
from graticule.evaluation.multi_label import MODEL_METRICS, PEOPLE_METRICS
from graticule.evaluation.multi_label.judged import judge
from graticule.evaluation.multi_label.mislabelled import list_suspects
from graticule.evaluation.multi_label.people import PeopleTables, read_people


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelFidelity:
    """What people's answers say of the data set's labels and of models.

    Parameters
    ----------
    metrics
        Every number (table ``metrics``); those without a model are of the data set's own labels.
    suspects
        Images whose given label nobody saw: image_id, label, region, main_label.
    n_labelled
        Images of which people accepted a label.
    """

    metrics: pl.DataFrame
    suspects: pl.DataFrame
    n_labelled: int


def measure_labels(aligned: Alignment, tables: PeopleTables, *, config: AuditConfig) -> LabelFidelity:
    """Return every number of the label kind, from predictions that are joined to the images already.

    Parameters
    ----------
    aligned
        The images and the models' predictions.
    tables
        What people said.
    config
        ``confidence``, ``min_images``, ``n_bootstraps`` and ``seed`` are used.

    Raises
    ------
    TableError
        The people's tables cannot be used; see `read_people`.
    """
    known = {compose(name) for scored in aligned.scored for name in scored.predicted_labels}
    people = read_people(aligned.images, tables, known_labels=known)
    frames = [measure(people, config) for measure in PEOPLE_METRICS.values()]
    for scored in aligned.scored:
        judged = judge(scored, people)
        frames += [measure(judged, config) for measure in MODEL_METRICS.values()]
    return LabelFidelity(
        metrics=pl.concat(frames),
        suspects=list_suspects(people, aligned.images),
        n_labelled=int(people.is_labelled.sum()),
    )


def score_labels(
    images: pl.DataFrame,
    predictions: Sequence[Predictions],
    tables: PeopleTables,
    *,
    config: AuditConfig | None = None,
) -> LabelFidelity:
    """Return every number of the label kind.

    Parameters
    ----------
    images
        The images table, with ``label`` and the column to compare by.
    predictions
        One entry a model, each with a name of its own.
    tables
        What people said.
    config
        The settings; the defaults of `AuditConfig` where None.

    Raises
    ------
    ConfigError
        No predictions, or two of the same name.
    TableError
        The tables cannot be joined, or hold nothing that can be scored.
    """
    settings = config or AuditConfig()
    return measure_labels(align_predictions(images, predictions, config=settings), tables, config=settings)
