"""A number that depends on a name and a seed only: what makes random choices that stay when other images are added."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from jaxtyping import UInt64

DIGEST_BYTES = 8


def hash_names(names: Iterable[str], *, seed: int) -> UInt64[np.ndarray, " n"]:
    """Return a number from 0 to 2⁶⁴ - 1 for each name, evenly spread.

    Notes
    -----
    BLAKE2b, keyed with the seed: the same on every machine and in every version, which Python's and Polars' own hashes
    are not.

    Examples
    --------
    >>> hash_names(["a.jpg"], seed=0) == hash_names(["b.jpg", "a.jpg"], seed=0)[1:]
    array([ True])
    """
    key = str(seed).encode("ascii")
    digests = b"".join(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=key).digest() for name in names
    )
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)
