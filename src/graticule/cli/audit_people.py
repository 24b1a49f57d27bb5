"""What people accept, for an audit: the file behind ``--labels``, and the sentences that it adds to the headline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from graticule.data.predictions import Predictions
    from graticule.evaluation.audit import Audit
    from graticule.evaluation.audit_config import AuditConfig

LABEL_SPACE_SUFFIXES = {".yaml", ".yml", ".txt"}


def holds_people(labels: str | None) -> bool:
    """Return whether ``--labels`` names a table of what people accept, rather than a model's classes or prompts.

    A table of accepted labels has a column ``image_id``; a CSV that lists labels and their synsets has none.
    """
    if labels is None or Path(labels).suffix.lower() in LABEL_SPACE_SUFFIXES:
        return False
    from graticule.data.readers.rows import read_rows

    return "image_id" in read_rows(Path(labels)).columns


def add_people(
    audit: Audit,
    labels: str,
    *,
    superclasses: str | None,
    images: pl.DataFrame,
    predictions: list[Predictions],
    config: AuditConfig,
) -> tuple[Audit, pl.DataFrame]:
    """Return the audit with every number of the label kind and what it says of the gap, and the suspected images.

    How often each label was selected, accepted or not, is read from ``….selections.parquet`` beside the table, where
    ``graticule annotate aggregate`` writes it; without it, labels that are not accepted count as never selected.
    """
    from graticule.annotation.exchange.files import read_checked
    from graticule.data.tables import LABELS
    from graticule.evaluation.multi_label.measure import score_labels
    from graticule.evaluation.multi_label.people import PeopleTables

    source = Path(labels)
    beside = source.with_name(f"{source.stem}.selections.parquet")
    selections = pl.read_parquet(beside) if beside.is_file() else None
    tables = PeopleTables(
        labels=read_checked(source, LABELS),
        selections=selections,
        superclasses=read_superclasses(superclasses) if superclasses else None,
    )
    found = score_labels(images, predictions, tables, config=config)
    metrics = pl.concat([audit.metrics, found.metrics], how="vertical_relaxed")
    sentences = [f"People accepted a label of {found.n_labelled:,} images."]
    sentences += _describe_gaps(found.metrics)
    if found.suspects.height:
        sentences.append(f"Nobody saw the given label in {found.suspects.height:,} images: look at them first.")
    record = replace(audit.record, headline=(*audit.record.headline, *sentences))
    return replace(audit, metrics=metrics, record=record), found.suspects


def read_superclasses(path: str) -> dict[str, str]:
    """Return label → superclass from a table with those two columns, or a JSON object of superclass → its labels.

    Raises
    ------
    TableError, FileError
        The file holds neither, or a label has two superclasses.
    """
    import json

    from graticule.data.readers.rows import read_rows
    from graticule.errors import TableError, shown

    source = Path(path)
    if source.suffix.lower() == ".json":
        try:
            found = json.loads(source.read_text("utf-8"))
            pairs = [(str(label), str(name)) for name, labels in found.items() for label in labels]
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise TableError(
                f"{path}: not readable as superclasses ({error}); expected a JSON object, superclass → list of labels."
            ) from error
    else:
        rows = read_rows(source)
        missing = [name for name in ("label", "superclass") if name not in rows.columns]
        if missing:
            raise TableError(
                f"{path}: no column {shown(missing, limit=2)}; expected the columns label and superclass. It has "
                f"{shown(rows.columns, limit=5)}."
            )
        pairs = list(rows.select("label", "superclass").cast(pl.String).drop_nulls().iter_rows())
    superclass_of = dict(pairs)
    twice = sorted({label for label, name in pairs if superclass_of[label] != name})
    if twice:
        raise TableError(f"{path}: {shown(twice, limit=5)} stand under two superclasses; expected one each. Keep one.")
    return superclass_of


def _describe_gaps(metrics: pl.DataFrame) -> list[str]:
    from graticule.evaluation.multi_label.remaining_gap import EXTREMES

    overall = metrics.filter(pl.col("region").is_null() & (pl.col("group") == EXTREMES))
    sentences: list[str] = []
    for (model,), rows in overall.group_by(["model"], maintain_order=True):
        gaps = {row["metric"]: row["value"] for row in rows.iter_rows(named=True)}
        if gaps.get("given_gap") is None or gaps.get("accepted_gap") is None:
            continue
        sentences.append(
            f"{model}: its gap between worst and best place is {abs(gaps['given_gap']) * 100:.1f} points by the given "
            f"labels, and {abs(gaps['accepted_gap']) * 100:.1f} when any label that people accept counts as right."
        )
    return sentences
