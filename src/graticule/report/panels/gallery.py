"""The gallery: photos that a model got wrong, one card a photo, a fair choice over regions and labels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
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
    picked: tuple[str, ...]
    """How it came here: random, worst or both."""


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
    of_models = failures.filter(pl.col("model").is_in(list(models)))
    rows = of_models.group_by("image_id", "model", maintain_order=True).agg(
        pl.exclude("picked").first(), pl.col("picked").unique(maintain_order=True).sort()
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
    """Yield images in turns: regions alternate, and so do the labels within each, a cell's second image last."""
    cells: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, rows in by_image.items():
        cells[str(rows[0]["region"] or "")][str(rows[0]["label"])].append(name)
    queues = [_queue(labels, start=place) for place, (_, labels) in enumerate(sorted(cells.items()))]
    for line in zip_longest(*queues):
        yield from (name for name in line if name is not None)


def _queue(labels: dict[str, list[str]], *, start: int) -> list[str]:
    """Return a region's images, one of each label before a second of any; regions start at different labels."""
    names = sorted(labels)
    turned = names[start % len(names) :] + names[: start % len(names)]
    return [image for line in zip_longest(*(labels[name] for name in turned)) for image in line if image is not None]


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
                picked=_list_texts(row["picked"]),
            )
            for row in rows
        ),
    )


def _list_texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _write(value: object) -> str:
    return percent(value) if isinstance(value, float) and math.isfinite(value) else ""
