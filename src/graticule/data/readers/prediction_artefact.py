"""Predictions as Graticule writes them: a list of scores, or of the best labels, an image; labels in the metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.data.predictions import KINDS, Predictions
from graticule.data.readers.best_labels import find_best_labels
from graticule.data.readers.origin import Origin
from graticule.data.readers.top_labels import rank_lists
from graticule.data.store import read_info
from graticule.data.tables import PREDICTIONS
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown


def read_artefact(frame: pl.DataFrame, *, place: Path, origin: Origin) -> Predictions:
    """Return the predictions of a table with ``scores`` or ``top_labels``.

    Raises
    ------
    TableError
        The table breaks its declaration, its metadata do not name the labels, or a score is no finite number.
    """
    info: dict[str, Any] = read_info(place) if _is_parquet(place) else {}
    checked = validate_table(frame, PREDICTIONS, where=str(place))
    origin = replace(origin, model=str(info.get("model") or origin.model))
    if "scores" not in checked.columns:
        return rank_lists(checked, origin=origin, labels=_labels_in(info), info=info)
    labels = _labels_in(info)
    scores = np.ascontiguousarray(checked["scores"].to_numpy())
    scores = scores.reshape(checked.height, -1)
    if not labels or len(labels) != scores.shape[1]:
        raise TableError(
            f"{place}: scores of {scores.shape[1]} labels, and {len(labels)} labels in the metadata (graticule.info); "
            "expected as many names as scores. Write it with graticule.write_table(…, info={'labels': […]}), or as a "
            "CSV with a column for each label."
        )
    kind = str(info.get("kind") or guess_kind(scores))
    if kind not in KINDS:
        raise TableError(f"{place}: kind of scores is '{kind}' in the metadata, expected one of {', '.join(KINDS)}.")
    image_ids = checked["image_id"].to_numpy().astype(object)
    check_finite(scores, image_ids, origin=origin)
    return Predictions(
        model=origin.model,
        image_ids=image_ids,
        labels=labels,
        kind=kind,
        top=find_best_labels(scores),
        scores=scores,
        info=info,
    )


def guess_kind(scores: Float[np.ndarray, "n k"]) -> str:
    """Return what scores must be: probabilities if every row adds up to one, similarities within ±1, else logits."""
    if not scores.size:
        return "logits"
    low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
    if low >= 0 and high <= 1.001 and np.abs(scores.sum(axis=1, dtype=np.float64) - 1).max() < 0.01:
        return "probabilities"
    return "similarity" if low >= -1.001 and high <= 1.001 else "logits"


def check_finite(scores: Float[np.ndarray, "n k"], image_ids: np.ndarray, *, origin: Origin) -> None:
    """Raise if any score is NaN or infinite, naming the images."""
    if np.isfinite(scores.sum(dtype=np.float64)):
        return  # one NaN or infinity would have spoilt the sum
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=1)).tolist()
    raise TableError(
        f"{origin.where}: scores are missing, NaN or infinite in {origin.name_rows(bad, image_ids)}; expected finite "
        "numbers. Predict these images again, or drop their rows."
    )


def _labels_in(info: dict[str, Any]) -> tuple[str, ...]:
    found = info.get("labels") or ()
    labels = tuple(str(label) for label in found) if isinstance(found, Sequence) and not isinstance(found, str) else ()
    repeated = {label for label in labels if labels.count(label) > 1} if len(set(labels)) < len(labels) else set()
    if repeated:
        raise TableError(
            f"the labels {shown(sorted(repeated))} stand twice in the metadata; expected a name of its own for each."
        )
    return labels


def _is_parquet(place: Path) -> bool:
    return place.is_dir() or place.suffix.lower() in (".parquet", ".pq")
