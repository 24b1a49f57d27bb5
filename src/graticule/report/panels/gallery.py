"""The gallery: photos that a model got wrong, one card a photo, a fair choice over regions and labels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.report.groups import Groups
from graticule.report.thumbnails import Thumbnail, make_thumbnails
from graticule.report.wording import percent

PHOTOS_LIMIT = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """What one model made of a photo."""

    model: str
    predicted: str
    predicted_probability: str
    label_probability: str
    picked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A photo of the gallery."""

    image_id: str
    region: str
    label: str
    thumbnail: Thumbnail
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The photos, and what can be chosen among."""

    photos: tuple[Photo, ...]
    regions: tuple[str, ...]
    labels: tuple[str, ...]
    models: tuple[str, ...]
    n_all: int
    """Photos that were picked for it, those without room included."""


def hang_gallery(failures: pl.DataFrame, *, groups: Groups, models: tuple[str, ...], base: Path | None) -> Gallery:
    """Return the gallery of failures.

    Photos come in turns, one of each region and label before a second of any, so that the limit (photos, and bytes of
    their thumbnails) cuts all cells alike.
    """
    rows = failures.filter(pl.col("model").is_in(list(models))).unique(
        subset=["image_id", "model"], keep="first", maintain_order=True
    )
    by_image: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        by_image[row["image_id"]].append(row)
    ordered = list(_take_turns(by_image))
    limited = ordered[:PHOTOS_LIMIT]
    thumbnails = make_thumbnails([_path(by_image[name]) for name in limited], base=base)
    photos = tuple(
        _make_photo(by_image[name], thumbnail=thumbnails[path])
        for name in limited
        for path in [_path(by_image[name])]
        if path in thumbnails
    )
    used = {photo.region for photo in photos}
    return Gallery(
        photos=photos,
        regions=tuple(key for key in groups.keys if key in used),
        labels=tuple(sorted({photo.label for photo in photos})),
        models=tuple(model for model in models if any(model == m.model for photo in photos for m in photo.mistakes)),
        n_all=len(ordered),
    )


def _take_turns(by_image: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """Yield images in turns over their cells, each cell in the order of the table."""
    cells: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, rows in by_image.items():
        cells[(str(rows[0]["region"] or ""), str(rows[0]["label"]))].append(name)
    turn = 0
    while True:
        found = [names[turn] for _, names in sorted(cells.items()) if turn < len(names)]
        if not found:
            return
        yield from found
        turn += 1


def _path(rows: list[dict[str, object]]) -> str:
    return str(rows[0]["path"] or "")


def _make_photo(rows: list[dict[str, object]], *, thumbnail: Thumbnail) -> Photo:
    first = rows[0]
    return Photo(
        image_id=str(first["image_id"]),
        region=str(first["region"] or ""),
        label=str(first["label"]),
        thumbnail=thumbnail,
        mistakes=tuple(
            Mistake(
                model=str(row["model"]),
                predicted=str(row["predicted"]),
                predicted_probability=_write(row["predicted_probability"]),
                label_probability=_write(row["label_probability"]),
                picked=str(row["picked"]),
            )
            for row in rows
        ),
    )


def _write(value: object) -> str:
    return percent(value) if isinstance(value, float) and math.isfinite(value) else ""
