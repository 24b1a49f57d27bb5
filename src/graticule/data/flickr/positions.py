"""Positions of photos on Flickr, by the photos' ids: a question a photo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graticule.data.flickr.answers import Answers
from graticule.data.flickr.client import FlickrClient
from graticule.data.flickr.photo import read_position
from graticule.progress import track

METHOD = "flickr.photos.geo.getLocation"
NOT_THERE = {1: "Flickr: no such photo, or not for everyone", 2: "Flickr: the photo has no position"}
"""Flickr's codes for a photo without an answer (its page on the method)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a photo was taken, or why that is not known."""

    source_id: str
    latitude: float | None
    longitude: float | None
    accuracy: int | None
    reason: str | None


def find_positions(
    ids: Sequence[str], *, client: FlickrClient, answers: Answers, progress: bool = True
) -> Iterator[Position]:
    """Yield the position of each photo, in order.

    Raises
    ------
    ConfigError, FileError
        Flickr does not answer; what came so far is kept.
    """
    for source_id in track(ids, total=len(ids), label="Flickr", unit="photo", shown=progress):
        if not source_id.isascii() or not source_id.isdigit():
            yield _lost(source_id, "not an id of Flickr's: expected digits")
            continue
        question = {"photo_id": source_id}
        answer: dict[str, Any] = answers.get(
            {"method": METHOD, **question},
            lambda question=question: client.ask(METHOD, question, accept=tuple(NOT_THERE)),
        )
        if answer.get("stat") != "ok":
            yield _lost(source_id, NOT_THERE.get(int(answer.get("code", 0)), str(answer.get("message"))))
            continue
        photo = answer.get("photo")
        said = photo.get("location") if isinstance(photo, dict) else None
        latitude, longitude, accuracy = read_position(said if isinstance(said, dict) else {})
        if latitude is None:
            yield _lost(source_id, NOT_THERE[2])
        else:
            yield Position(source_id=source_id, latitude=latitude, longitude=longitude, accuracy=accuracy, reason=None)


def _lost(source_id: str, reason: str) -> Position:
    return Position(source_id=source_id, latitude=None, longitude=None, accuracy=None, reason=reason)
