"""Failures for the gallery: a fair sample of each cell's errors and, apart from it, the most confident ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.data.tables import FAILURES
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.coded_images import CodedImages
from graticule.evaluation.rows import take_names
from graticule.evaluation.scored import Scored

RANDOM = "random"
WORST = "worst"


def pick_failures(scored: Sequence[Scored], images: CodedImages, *, config: AuditConfig) -> pl.DataFrame:
    """Return images that models got wrong, a few of each region and label, at most ``gallery_size`` in all.

    Parameters
    ----------
    scored
        The models.
    images
        The images.
    config
        ``gallery_size`` is used; the sample follows from the images' names and the seed.

    Notes
    -----
    Half of a model's places go to a random sample, half to the errors made with the highest probability; all go to the
    random sample where no probabilities are known. Each half takes the same number of every cell (region × label) as
    far as it has errors, and leaves out cells at random where there are more cells than places. An image may stand in
    both: leaving the worst out of the random sample would make that unfair.
    """
    columns = {name: column.dtype for name, column in FAILURES.columns.items()}
    frames = [pl.DataFrame(schema=columns)]
    for place, model in enumerate(scored):
        size = config.gallery_size // len(scored) + (place < config.gallery_size % len(scored))
        frames += _pick_of_model(model, images, size=size)
    return pl.concat(frames)


def _pick_of_model(scored: Scored, images: CodedImages, *, size: int) -> list[pl.DataFrame]:
    wrong = np.flatnonzero(~scored.is_right)
    by_key = wrong[np.lexsort((scored.rows[wrong], scored.keys[wrong]))]
    if scored.predicted_probability is None:
        return [_list(scored, images, _take_evenly(scored, by_key, size), picked=RANDOM)]
    sure = by_key[np.argsort(-scored.predicted_probability[by_key], kind="stable")]
    return [
        _list(scored, images, _take_evenly(scored, by_key, size - size // 2), picked=RANDOM),
        _list(scored, images, _take_evenly(scored, sure, size // 2), picked=WORST),
    ]


def _take_evenly(scored: Scored, preferred: Int[np.ndarray, " e"], size: int) -> Int[np.ndarray, " f"]:
    """Return at most ``size`` errors, the first of each cell before the second of any, in the order preferred."""
    cell = scored.region[preferred].astype(np.int64) * len(scored.labels) + scored.label[preferred]
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    # Within a rank the order is by key, which is random: so the cells that go without are random too.
    chosen = preferred[np.lexsort((scored.keys[preferred], rank))[:size]]
    position = np.empty(len(scored.region), dtype=np.int64)
    position[preferred] = np.arange(len(preferred))
    return chosen[np.lexsort((position[chosen], scored.label[chosen], scored.region[chosen]))]


def _list(scored: Scored, images: CodedImages, chosen: Int[np.ndarray, " f"], *, picked: str) -> pl.DataFrame:
    rows = images.table[scored.rows[chosen].tolist()]
    nothing = np.full(len(chosen), np.nan)
    own, given = scored.label_probability, scored.predicted_probability
    return pl.DataFrame(
        {
            "image_id": rows["image_id"],
            "path": rows["path"] if "path" in rows.columns else pl.Series([None] * len(chosen), dtype=pl.String),
            "model": pl.Series([scored.model] * len(chosen), dtype=pl.String),
            "region": take_names(scored.regions, scored.region[chosen]),
            "label": take_names(scored.labels, scored.label[chosen]),
            "predicted": take_names(scored.predicted_labels, scored.predicted[chosen]),
            "predicted_probability": pl.Series(nothing if given is None else given[chosen], dtype=pl.Float64),
            "label_probability": pl.Series(nothing if own is None else own[chosen], dtype=pl.Float64),
            "picked": pl.Series([picked] * len(chosen), dtype=pl.String),
        }
    )
