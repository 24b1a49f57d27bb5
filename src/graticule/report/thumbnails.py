"""Small pictures of failed images, as WebP inside the page, within a budget of bytes."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from graticule.errors import GraticuleError
from graticule.progress import track

SIDE = 176
"""Longest side in pixels."""
QUALITY = 62
BUDGET_BYTES = 3_600_000
"""Bytes of all thumbnails together, as they stand in the page (base64)."""
WORKERS = 2
NETWORK = ("http://", "https://", "ftp://", "s3://", "gs://", "gcs://", "az://", "hf://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A small picture, or the reason why there is none."""

    uri: str = ""
    width: int = 0
    height: int = 0
    reason: str = ""


def make_thumbnails(
    paths: Sequence[str], *, base: Path | None, budget_bytes: int = BUDGET_BYTES
) -> dict[str, Thumbnail]:
    """Return a thumbnail a path, in order, until the budget is spent.

    A photo that is missing, broken or on the network gets a thumbnail without a picture and with the reason. Paths
    after the one that spends the budget are left out.

    Parameters
    ----------
    paths
        Paths as the images table writes them.
    base
        Folder that relative paths start from; None if the photos are not at hand.
    budget_bytes
        Bytes of all thumbnails together.
    """
    found: dict[str, Thumbnail] = {}
    distinct = list(dict.fromkeys(paths))
    spent = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        made = pool.map(lambda path: make_thumbnail(path, base=base), distinct)
        shown = base is not None and len(distinct) > 0
        for path, thumbnail in zip(
            distinct, track(made, total=len(distinct), label="thumbnails", shown=shown), strict=False
        ):
            spent += len(thumbnail.uri)
            if spent > budget_bytes:
                pool.shutdown(wait=True, cancel_futures=True)
                break
            found[path] = thumbnail
    return found


def make_thumbnail(path: str, *, base: Path | None) -> Thumbnail:
    """Return the thumbnail of one photo."""
    from PIL import Image

    from graticule.data.decode import open_image
    from graticule.data.sources import read_bytes

    if not path or base is None:
        return Thumbnail(reason="no photo at hand")
    if path.startswith(NETWORK):
        return Thumbnail(reason="on the network, not fetched")
    try:
        image = open_image(read_bytes(path, base), min_side=SIDE)
    except GraticuleError as error:
        return Thumbnail(reason=_shorten(str(error), path=path))
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    held = io.BytesIO()
    image.save(held, "WEBP", quality=QUALITY, method=4)
    text = base64.b64encode(held.getvalue()).decode("ascii")
    return Thumbnail(uri=f"data:image/webp;base64,{text}", width=image.width, height=image.height)


def _shorten(message: str, *, path: str) -> str:
    """Return a reason without the path that it begins with: the page need not print where somebody's photos lie."""
    text = message.rsplit(path, 1)[-1].lstrip(": ") or "cannot be shown"
    return text if len(text) <= 80 else text[:79] + "…"
