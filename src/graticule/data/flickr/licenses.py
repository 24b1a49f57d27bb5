"""The names of the licences that Flickr numbers."""

from __future__ import annotations

from typing import Any

from graticule.data.flickr.answers import Answers
from graticule.data.flickr.client import FlickrClient

METHOD = "flickr.photos.licenses.getInfo"


def list_licenses(*, client: FlickrClient, answers: Answers) -> dict[str, str]:
    """Return number → name, as Flickr says today; a number that it does not name keeps its number.

    Raises
    ------
    ConfigError, FileError
        Flickr does not answer.
    """
    answer: dict[str, Any] = answers.get({"method": METHOD}, lambda: client.ask(METHOD, {}))
    listed = (answer.get("licenses") or {}).get("license") or []
    return {str(entry.get("id")): str(entry.get("name")) for entry in listed if isinstance(entry, dict)}
