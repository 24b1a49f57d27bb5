"""A small set of geotagged photos from Wikimedia Commons: the same object photographed in different countries.

Commons keeps categories such as *Post boxes in Japan*, so a label and a country come with each photo, and most photos
carry coordinates. `fetch_commons` asks the public API for a few thumbnails of each category, one request at a time, and
writes them as ``{country}/{label}/*.jpg`` with a table of author, licence and page beside them. It is what ``graticule
demo`` falls back to where no folder of photos is at hand.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.store import replace_atomically
from graticule.errors import FileError
from graticule.progress import track

ADDRESS = "https://commons.wikimedia.org/w/api.php"
TIMEOUT_S = 8.0
LARGEST_THUMBNAIL_BYTES = 4_000_000
PHOTO_SUFFIXES = (".jpg", ".jpeg", ".png")

CATEGORIES: dict[str, dict[str, str]] = {
    "Japan": {
        "post box": "Post boxes in Japan",
        "bus stop": "Bus stops in Japan",
        "vending machine": "Vending machines in Japan",
        "manhole cover": "Manhole covers in Japan",
        "telephone booth": "Telephone booths in Japan",
    },
    "Germany": {
        "post box": "Post boxes in Germany",
        "bus stop": "Bus stops in Germany",
        "vending machine": "Vending machines in Germany",
        "manhole cover": "Manhole covers in Germany",
        "telephone booth": "Telephone booths in Germany",
    },
}
"""Country → label → category on Commons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonsPhoto:
    """A photo on Commons: where it is, who made it, under which licence."""

    title: str
    url: str
    page: str
    author: str
    licence: str
    latitude: float | None
    longitude: float | None


def fetch_commons(output: Path, *, address: str = ADDRESS, per_category: int = 25, width: int = 320) -> pl.DataFrame:
    """Download the photos of `CATEGORIES` and return their table.

    Parameters
    ----------
    output
        Folder for ``{country}/{label}/*.jpg`` and ``photos.csv`` (author, licence, page, coordinates).
    address
        The API's address.
    per_category
        Photos a category, at most.
    width
        Width of the thumbnails in pixels.

    Returns
    -------
    pl.DataFrame
        One row a photo: path (relative to ``output``), country, label, latitude, longitude, author, licence, page.

    Raises
    ------
    FileError
        The address cannot be reached, or no photo came back.
    """
    rows: list[dict[str, Any]] = []
    cells = [(country, label, name) for country, labels in CATEGORIES.items() for label, name in labels.items()]
    for country, label, name in track(cells, total=len(cells), label="Wikimedia Commons", unit="category"):
        for photo in list_photos(name, address=address, limit=per_category, width=width):
            path = Path(country) / label / f"{_file_name(photo.title)}"
            if _download(photo.url, output / path):
                rows.append(
                    {
                        "path": path.as_posix(),
                        "country": country,
                        "label": label,
                        "latitude": photo.latitude,
                        "longitude": photo.longitude,
                        "author": photo.author,
                        "licence": photo.licence,
                        "page": photo.page,
                    }
                )
    if not rows:
        raise FileError(f"{address}: no photo came back. Name a folder of your own with --photos.")
    table = pl.DataFrame(rows)
    with replace_atomically(output / "photos.csv") as temporary:
        table.write_csv(temporary)
    return table


def list_photos(category: str, *, address: str = ADDRESS, limit: int, width: int) -> list[CommonsPhoto]:
    """Return the first photos of a category, in the API's order.

    Raises
    ------
    FileError
        The address cannot be reached, or does not answer as the API does.
    """
    query = {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "categorymembers",
        "gcmtitle": f"Category:{category}",
        "gcmtype": "file",
        "gcmlimit": str(limit),
        "prop": "imageinfo|coordinates",
        "iiprop": "url|extmetadata",
        "iiurlwidth": str(width),
        "colimit": "max",
    }
    body = _read(f"{address}?{urllib.parse.urlencode(query)}")
    try:
        pages: list[dict[str, Any]] = json.loads(body).get("query", {}).get("pages", [])
        return [photo for page in pages if (photo := _photo(page)) is not None]
    except (ValueError, AttributeError, TypeError) as error:
        raise FileError(f"{address}: its answer is not the API's JSON ({error}). Is a proxy in the way?") from error


def _photo(page: dict[str, Any]) -> CommonsPhoto | None:
    info: dict[str, Any] = (page.get("imageinfo") or [{}])[0]
    title = str(page.get("title", ""))
    if not info.get("thumburl") or not title.lower().endswith(PHOTO_SUFFIXES):
        return None
    facts: dict[str, Any] = info.get("extmetadata") or {}
    place: dict[str, Any] = (page.get("coordinates") or [{}])[0]
    return CommonsPhoto(
        title=title,
        url=str(info["thumburl"]),
        page=str(info.get("descriptionurl", "")),
        author=str((facts.get("Artist") or {}).get("value", "")),
        licence=str((facts.get("LicenseShortName") or {}).get("value", "")),
        latitude=place.get("lat"),
        longitude=place.get("lon"),
    )


def _file_name(title: str) -> str:
    name = title.removeprefix("File:")
    return "".join(letter if letter.isalnum() or letter in "._- " else "_" for letter in name)[-120:]


def _download(url: str, path: Path) -> bool:
    if path.is_file():
        return True
    try:
        body = _read(url)
    except FileError:
        return False
    with replace_atomically(path) as temporary:
        temporary.write_bytes(body)
    return True


def _read(url: str) -> bytes:
    from graticule import __version__

    request = urllib.request.Request(url, headers={"User-Agent": f"graticule/{__version__} (demo photos)"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
            return reply.read(LARGEST_THUMBNAIL_BYTES)
    except (urllib.error.URLError, TimeoutError, OSError, ValueError) as error:
        raise FileError(f"{url}: cannot be reached ({error}). Name a folder of your own with --photos.") from error
