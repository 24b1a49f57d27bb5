"""The same pixels: a photo whose EXIF was rewritten, or that was packed again without loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from graticule.curation.duplicates.hashes import SIDE
from graticule.curation.duplicates.rule import DuplicateConfig, Evidence, Links, link_equal, require_signatures
from graticule.curation.duplicates.signatures import hash_picture
from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.errors import GraticuleError

SCALE_ERROR = 6.0
"""Levels of 255 by which greys may differ, on average, between a JPEG at a reduced scale and the same one in full; on
photos of 86 cameras 3.7 was the most (see `graticule.data.decode.open_image`)."""


def link_equal_pixels(evidence: Evidence, config: DuplicateConfig) -> Links:
    """Return links between images whose decoded pictures are equal, upright and in RGB.

    Notes
    -----
    Decoding everything in full would cost ten times the reading. So pictures are first compared as they were decoded
    for the signature: two JPEGs of the same pixels are equal at a reduced scale too, and a JPEG and its copy as PNG are
    of one size and nearly equal. Only those that have such a partner are decoded in full, to be sure.
    """
    del config
    signatures = require_signatures(evidence)
    must_decode = _share_picture(signatures) | _resemble_across_formats(signatures)
    paths = evidence.images["path"].to_list()
    # Equal files need no decoding: what they were decoded to for the signature is equal too.
    whole = [
        _hash_whole(path, evidence.base) if must else key
        for path, key, must in zip(paths, signatures["picture_key"], must_decode, strict=True)
    ]
    return link_equal(pl.Series(whole, dtype=pl.Binary), evidence.rank)


def measure(
    evidence: Evidence, config: DuplicateConfig, first: Int64[np.ndarray, " m"], second: Int64[np.ndarray, " m"]
) -> Float64[np.ndarray, " m"]:
    """Return 0 for each pair: pictures are equal or they are not."""
    del evidence, config, second
    return np.zeros(len(first))


def _share_picture(signatures: pl.DataFrame) -> Bool[np.ndarray, " n"]:
    """Return which pictures equal another file's, as they were decoded for the signature."""
    n_files = pl.col("seen_sha256").n_unique().over("picture_key")
    return signatures.select(pl.col("picture_key").is_not_null() & (n_files > 1)).to_series().to_numpy()


def _resemble_across_formats(signatures: pl.DataFrame) -> Bool[np.ndarray, " n"]:
    """Return which JPEGs have the size and nearly the greys of a picture in another format, and those pictures."""
    found = np.zeros(signatures.height, dtype=bool)
    mixed = (
        signatures.with_row_index("row")
        .filter(pl.col("greys").is_not_null())
        .filter(pl.col("is_reduced").any().over("seen_width", "seen_height"))
        .filter(~pl.col("is_reduced").all().over("seen_width", "seen_height"))
    )
    for _, group in mixed.group_by("seen_width", "seen_height"):
        greys = np.frombuffer(b"".join(group["greys"]), dtype=np.uint8).reshape(-1, SIDE * SIDE)
        rows, is_jpeg = group["row"].to_numpy(), group["is_reduced"].to_numpy()
        jpegs = np.flatnonzero(is_jpeg)
        means = greys.mean(axis=1)
        jpegs = jpegs[np.argsort(means[jpegs], kind="stable")]
        for other in np.flatnonzero(~is_jpeg):
            low, high = np.searchsorted(means[jpegs], [means[other] - SCALE_ERROR, means[other] + SCALE_ERROR])
            near = jpegs[low:high]
            apart = np.abs(greys[near].astype(np.int16) - greys[other]).mean(axis=1)
            matches = near[apart <= SCALE_ERROR]
            found[rows[matches]] = True
            found[rows[other]] |= len(matches) > 0
    return found


def _hash_whole(path: str, base: str | Path) -> bytes | None:
    try:
        return hash_picture(open_image(read_bytes(path, base)))
    except GraticuleError:
        return None
