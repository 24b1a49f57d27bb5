"""A pseudo-random number for each image that hangs on its name alone.

Samples drawn by it (the gallery's failures, a subset for a variance) stay the same when the rows of a table are
shuffled, and on every machine.
"""

from __future__ import annotations

import zlib

import numpy as np
import polars as pl
from jaxtyping import UInt64


def make_keys(image_ids: pl.Series, *, seed: int) -> UInt64[np.ndarray, " n"]:
    """Return a pseudo-random 64-bit number for each name.

    Parameters
    ----------
    image_ids
        Names of the images.
    seed
        Another seed gives other numbers.

    Notes
    -----
    A CRC-32 of the name, spread over 64 bits by the finaliser of SplitMix64. Names whose CRC-32 is equal (about 0.01 %
    of a million) get equal numbers.
    """
    checks = np.fromiter(map(zlib.crc32, map(str.encode, image_ids.to_list())), dtype=np.uint64, count=len(image_ids))
    with np.errstate(over="ignore"):
        mixed = checks + np.uint64(seed % 2**32) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def make_generator(seed: int, *names: str) -> np.random.Generator:
    """Return a generator of its own for each model, metric or label, so that adding one changes no other's numbers."""
    return np.random.default_rng([seed % 2**32, *(zlib.crc32(name.encode()) for name in names)])
