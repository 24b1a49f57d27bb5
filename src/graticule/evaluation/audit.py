"""The audit: images and predictions → every number with its uncertainty, failures to look at, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import polars as pl

from graticule.data.audit_record import AuditedModel, AuditRecord
from graticule.data.predictions import Predictions
from graticule.evaluation import dropped as dropped_counts
from graticule.evaluation import paired
from graticule.evaluation.alignment import Alignment, align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.dropped import measure_dropped, sum_up_dropped
from graticule.evaluation.estimates import as_estimates
from graticule.evaluation.failures import pick_failures
from graticule.evaluation.headline import write_headline
from graticule.evaluation.label_scores import find_scale
from graticule.evaluation.metrics import METRICS, confusion
from graticule.evaluation.paired import compare_models
from graticule.evaluation.rows import make_cell_rows
from graticule.evaluation.scored import add_margins

COUNTS = ("n_images",)
METRIC_NAMES = (
    *COUNTS,
    *(name for metric in METRICS.values() for name in metric.names),
    *paired.NAMES,
    *dropped_counts.NAMES,
)
"""Every name that the metrics table may have in its column ``metric``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """What an audit found.

    Parameters
    ----------
    metrics
        Every number (table ``metrics``).
    failures
        Images that models got wrong, for the gallery (table ``failures``).
    dropped
        Images that were left out and why (table ``rejects``, with ``image_id`` and ``model``).
    record
        What the audit was made of, and its headline.
    """

    metrics: pl.DataFrame
    failures: pl.DataFrame
    dropped: pl.DataFrame
    record: AuditRecord


def audit_predictions(
    images: pl.DataFrame,
    predictions: Sequence[Predictions],
    *,
    by: str | None = None,
    config: AuditConfig | None = None,
) -> Audit:
    """Return how accurate models are by place, how sure that is, and what their failures are.

    Parameters
    ----------
    images
        The images table, with ``image_id`` (or ``path``), ``label`` and the column to compare by.
    predictions
        One entry a model, each with a name of its own.
    by
        Column to compare by, in place of the settings'.
    config
        The settings; the defaults of `AuditConfig` where None.

    Raises
    ------
    ConfigError
        No predictions, or two of the same name.
    TableError
        The tables cannot be joined, or hold nothing that can be scored.

    Notes
    -----
    Every metric of `graticule.evaluation.metrics.METRICS` is computed for every model; `docs/statistics.md` explains
    each. Random draws hang on the seed and on names only: the order of rows and the presence of other models change
    nothing.
    """
    settings = replace(config or AuditConfig(), **({} if by is None else {"by": by}))
    aligned = align_predictions(images, predictions, config=settings)
    frames = [_count_images(aligned)]
    for scored in aligned.scored:
        frames += [metric.measure(scored, settings) for metric in METRICS.values()]
    frames.append(compare_models(aligned.scored, n_images=aligned.images.table.height, config=settings))
    frames.append(measure_dropped(aligned))
    metrics = pl.concat(frames)
    record = _make_record(aligned, predictions, config=settings)
    return Audit(
        metrics=metrics,
        failures=pick_failures(aligned.scored, aligned.images, config=settings),
        dropped=aligned.dropped,
        record=replace(record, headline=write_headline(metrics, record=record)),
    )


def _count_images(aligned: Alignment) -> pl.DataFrame:
    """Return how many images any model was scored on, in each cell."""
    is_scored = _find_scored(aligned)
    coded = aligned.images
    n_labels = len(coded.labels)
    cells = coded.region[is_scored].astype(np.int64) * n_labels + coded.label[is_scored]
    n = np.bincount(cells, minlength=len(coded.regions) * n_labels).reshape(len(coded.regions), n_labels)
    n = add_margins(n).ravel()
    return make_cell_rows(
        COUNTS[0],
        as_estimates(n.astype(np.float64), n),
        model=None,
        regions=coded.regions,
        labels=coded.labels,
        method="count",
    )


def _find_scored(aligned: Alignment) -> np.ndarray:
    is_scored = np.zeros(aligned.images.table.height, dtype=bool)
    for scored in aligned.scored:
        is_scored[scored.rows] = True
    return is_scored


def _make_record(aligned: Alignment, predictions: Sequence[Predictions], *, config: AuditConfig) -> AuditRecord:
    from graticule import __version__

    return AuditRecord(
        by=config.by,
        models=tuple(
            AuditedModel(
                name=model.model,
                kind=model.kind,
                n_labels=len(model.labels),
                sha256=str(model.info.get("sha256", "")),
                info=dict(model.info),
            )
            for model in predictions
        ),
        n_images=aligned.images.table.height,
        n_scored=int(np.count_nonzero(_find_scored(aligned))),
        min_images=config.min_images,
        seed=config.seed,
        confidence=config.confidence,
        n_partitions=config.n_partitions,
        n_bootstraps=config.n_bootstraps,
        scheme=config.scheme,
        boundary_policy=config.boundary_policy,
        disputed_areas=config.disputed_areas,
        photos=config.photos,
        photos_are_rendered=config.photos_are_rendered,
        dropped=sum_up_dropped(aligned),
        inputs=config.inputs,
        region_countries=config.region_countries,
        notes=_write_notes(aligned, predictions),
        version=__version__,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _write_notes(aligned: Alignment, predictions: Sequence[Predictions]) -> tuple[str, ...]:
    notes: list[str] = []
    for model, n_unlisted in zip(predictions, aligned.n_unlisted, strict=True):
        if n_unlisted:
            notes.append(
                f"{model.model}: {n_unlisted:,} predictions are of images that the images table does not list; they "
                "were left aside."
            )
        if model.kind == "similarity" and find_scale(model) is None:
            notes.append(
                f"{model.model}: its scores are similarities without a temperature, so they are no probabilities; "
                "calibration and probabilities are not shown."
            )
        if len(model.labels) > confusion.WHOLE_UP_TO:
            notes.append(
                f"{model.model}: it knows {len(model.labels):,} labels; confusions list the {confusion.LISTED} most "
                "frequent of each region and label."
            )
    counts = {scored.model: len(scored.rows) for scored in aligned.scored}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} on {count:,}" for name, count in counts.items())
        notes.append(
            f"Models were scored on different numbers of images ({listed}); only paired differences compare like with "
            "like."
        )
    return tuple(notes)
