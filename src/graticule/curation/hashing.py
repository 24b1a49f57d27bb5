"""A number that depends on a name and a seed only: what makes random choices that stay when other images are added."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from jaxtyping import UInt64

DIGEST_BYTES = 8


def hash_names(names: Iterable[str], *, purpose: str, seed: int) -> UInt64[np.ndarray, " n"]:
    """Return a number from 0 to 2⁶⁴ - 1 for each name, evenly spread.

    Parameters
    ----------
    names
        What is drawn.
    purpose
        What it is drawn for. The numbers for two purposes have nothing to do with each other: a test set drawn from a
        balanced subset would otherwise be empty, for both would want the smallest numbers.
    seed
        Another seed gives other numbers.

    Notes
    -----
    BLAKE2b, keyed with the seed: the same on every machine and in every version, which Python's and Polars' own hashes
    are not.

    Examples
    --------
    >>> hash_names(["a"], purpose="split", seed=0) == hash_names(["b", "a"], purpose="split", seed=0)[1:]
    array([ True])
    """
    key = f"{purpose} {seed}".encode()
    digests = b"".join(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=key).digest() for name in names
    )
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)
