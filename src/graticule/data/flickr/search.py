"""Photos on Flickr by tags and area, however many there are.

Flickr lists the first 4,000 photos of a search and no more. A search with more is asked again for the halves of its
area, down to about a kilometre, and then for the halves of the time in which photos were uploaded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graticule.data.flickr.answers import Answers
from graticule.data.flickr.box import Box
from graticule.data.flickr.client import FlickrClient
from graticule.data.flickr.photo import EXTRAS, read_photo
from graticule.errors import ConfigError, FileError
from graticule.progress import track

METHOD = "flickr.photos.search"
MOST_RESULTS = 4000
"""Photos that Flickr lists of one search (its page on flickr.photos.search)."""
PER_PAGE = 250
"""Photos a page, at most, where an area is given (the same page)."""
MOST_WORDS = 20
"""Tags in one search, at most (the same page)."""
LEAST_SIDE = 0.01
"""Degrees of the smallest area: about a kilometre."""
LEAST_TIME_S = 3600
FLICKR_BEGAN_AT = 1_072_915_200
"""The first second of 2004, before the first photo on Flickr (Unix time)."""
ACCURACIES = range(1, 17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search: photos with any of the words as a tag, in an area."""

    label: str
    words: tuple[str, ...]
    box: Box = field(default_factory=Box)
    licenses: tuple[int, ...] = ()
    """Flickr's numbers of licences; empty takes all."""
    accuracy: int = 1
    """Least accuracy of the position: 1 the world, 3 a country, 6 a region, 11 a city, 16 a street."""
    since: int | None = None
    until: int | None = None
    """Unix times between which photos were uploaded."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.words) <= MOST_WORDS:
            raise ConfigError(f"{self.label}: {len(self.words)} words in a search, expected 1 to {MOST_WORDS}.")
        if self.accuracy not in ACCURACIES:
            raise ConfigError(f"--accuracy {self.accuracy}: expected 1 (the world) to 16 (a street).")

    def halve(self) -> tuple[Query, ...]:
        """Return two searches that find the same photos together; none where it cannot be divided further."""
        if self.box.side > LEAST_SIDE:
            return tuple(replace(self, box=half) for half in self.box.halve())
        since = FLICKR_BEGAN_AT if self.since is None else self.since
        if self.until is None or self.until - since <= LEAST_TIME_S:
            return ()
        middle = (since + self.until) // 2
        return (replace(self, since=since, until=middle), replace(self, since=middle, until=self.until))

    def describe(self, page: int) -> dict[str, str]:
        """Return what Flickr is asked."""
        asked = {
            "tags": ",".join(self.words),
            "tag_mode": "any",
            "bbox": str(self.box),
            "has_geo": "1",
            "accuracy": str(self.accuracy),
            "media": "photos",
            "content_types": "0",
            "safe_search": "1",
            "sort": "date-posted-asc",
            "extras": EXTRAS,
            "per_page": str(PER_PAGE),
            "page": str(page),
        }
        if self.licenses:
            asked["license"] = ",".join(map(str, self.licenses))
        if self.since is not None:
            asked["min_upload_date"] = str(self.since)
        if self.until is not None:
            asked["max_upload_date"] = str(self.until)
        return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page of a search."""

    query: Query
    photos: list[dict[str, Any]]
    n_nameless: int
    """Entries without a photo's id."""
    n_beyond: int = 0
    """Photos that Flickr says there are and does not list; the search cannot be divided further."""


def divide_words(label: str, words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of a label as tags, in groups that one search can take.

    Notes
    -----
    Flickr compares tags in small letters and without spaces; a comma would end a tag.

    Raises
    ------
    ConfigError
        The label has no word.
    """
    tags = dict.fromkeys("".join(word.replace(",", " ").split()).lower() for word in words)
    tags.pop("", None)
    if not tags:
        raise ConfigError(f"label {label!r}: no word to search for, expected at least one.")
    listed = list(tags)
    return [tuple(listed[start : start + MOST_WORDS]) for start in range(0, len(listed), MOST_WORDS)]


def search_photos(
    queries: Sequence[Query], *, client: FlickrClient, answers: Answers, progress: bool = True
) -> Iterator[Found]:
    """Yield the pages of every search, in order; a photo on the edge of two halves comes twice.

    Parameters
    ----------
    queries
        What to look for. Those without an end of time get the start of the run, so that pages do not shift.
    client, answers
        Whom to ask, and what was asked before.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError, FileError
        Flickr does not answer; what came so far is kept.
    """
    for query in track(queries, total=len(queries), label="Flickr", unit="search", shown=progress):
        waiting = deque([query if query.until is not None else replace(query, until=answers.started_at)])
        while waiting:
            part = waiting.popleft()
            first, total = _ask(part, 1, client, answers)
            halves = part.halve() if total > MOST_RESULTS else ()
            if halves:
                waiting.extendleft(reversed(halves))
                continue
            yield replace(first, n_beyond=max(0, total - MOST_RESULTS))
            for page in range(2, -(-min(total, MOST_RESULTS) // PER_PAGE) + 1):
                found, _ = _ask(part, page, client, answers)
                yield found
                if not found.photos:  # the total that Flickr gives is an estimate
                    break


def _ask(query: Query, page: int, client: FlickrClient, answers: Answers) -> tuple[Found, int]:
    question = query.describe(page)
    answer = answers.get({"method": METHOD, **question}, lambda: _read_page(client.ask(METHOD, question), client))
    return Found(query=query, photos=answer["photos"], n_nameless=answer["n_nameless"]), answer["total"]


def _read_page(answer: dict[str, Any], client: FlickrClient) -> dict[str, Any]:
    """Return what is kept of an answer."""
    try:
        photos, total = answer["photos"]["photo"], int(answer["photos"]["total"])
        rows = [read_photo(photo) for photo in photos]
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(
            f"{client.config.address}: an answer to {METHOD} without photos or their total ({error!r}); expected the "
            "API's. Is --address right?"
        ) from error
    named = [row for row in rows if row is not None]
    return {"photos": named, "n_nameless": len(rows) - len(named), "total": total}
