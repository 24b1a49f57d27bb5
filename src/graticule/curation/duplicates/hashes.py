"""A picture in 63 bits: the signs of its slowest cosine waves, and those of its turned, mirrored and cropped versions.

A hash is made from 32 × 32 greys. Bit 8u + v is set where the wave with u half-periods down and v across is positive;
bit 0 (the mean) is never set, so brightness says nothing. Turning or mirroring a picture only moves bits and flips
those of the odd waves, so all eight versions follow from one hash.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from jaxtyping import Float32, Int64, UInt8, UInt64

SIDE = 32
"""Greys a side that a hash is made from."""
WAVES = 8
"""Waves a side that are looked at."""
CROP = 0.05
"""Share of each side that the crops that are looked for have lost."""
CROPS = (
    ((CROP / 2, 1 - CROP / 2), (CROP / 2, 1 - CROP / 2)),
    *(((top, top + 1 - CROP), (left, left + 1 - CROP)) for top in (0.0, CROP) for left in (0.0, CROP)),
)
"""Rows and columns, as shares, that a cropped version keeps: the middle, and each of the corners."""
TURNS: dict[str, tuple[int, ...]] = {"none": (0,), "turned": (0, 3, 5, 6), "all": (0, 1, 2, 3, 4, 5, 6, 7)}
"""Name → versions that count as the same picture: upright only, quarter turns, or mirrored ones too. A version is
1 (mirrored left to right) + 2 (mirrored top to bottom) + 4 (rows and columns swapped first)."""
ACROSS = np.uint64(0xAAAAAAAAAAAAAAAA)
"""Bits of waves that are odd from left to right: mirroring flips them."""
DOWN = np.uint64(0xFF00FF00FF00FF00)
"""Bits of waves that are odd from top to bottom."""
MEAN = np.uint64(1)


def hash_greys(greys: UInt8[np.ndarray, "n 32 32"], *, crop: int | None = None) -> UInt64[np.ndarray, " n"]:
    """Return the hash of each picture, or that of its version with number ``crop`` of `CROPS`."""
    down, across = _waves(None if crop is None else CROPS[crop][0]), _waves(None if crop is None else CROPS[crop][1])
    is_positive = (down @ greys.astype(np.float32) @ across.T).reshape(len(greys), WAVES * WAVES) > 0
    packed = np.packbits(is_positive, axis=1, bitorder="little")
    hashes = np.ascontiguousarray(packed).view("<u8").reshape(len(greys)).astype(np.uint64)
    return hashes & ~MEAN


def turn_hashes(hashes: UInt64[np.ndarray, " *shape"], turn: int) -> UInt64[np.ndarray, " *shape"]:
    """Return the hashes of the turned pictures: what `hash_greys` gives for `turn_greys`."""
    turned = _transpose(hashes) if turn & 4 else hashes
    flips = (ACROSS if turn & 1 else np.uint64(0)) ^ (DOWN if turn & 2 else np.uint64(0))
    return (turned ^ flips) & ~MEAN


def turn_greys(greys: UInt8[np.ndarray, "n h w"], turn: int) -> UInt8[np.ndarray, "n h w"]:
    """Return the pictures turned."""
    turned = greys.transpose(0, 2, 1) if turn & 4 else greys
    turned = turned[:, ::-1] if turn & 2 else turned
    return turned[:, :, ::-1] if turn & 1 else turned


def crop_greys(greys: UInt8[np.ndarray, "n 32 32"], crop: int | None) -> Float32[np.ndarray, "n 32 32"]:
    """Return what is left after a crop of `CROPS`, stretched to 32 × 32; None crops nothing."""
    pictures = greys.astype(np.float32)
    if crop is None:
        return pictures
    rows, columns = CROPS[crop]
    return _stretch(rows) @ pictures @ _stretch(columns).T


def count_differences(first: UInt64[np.ndarray, " n"], second: UInt64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Return how many bits two hashes differ in."""
    return np.bitwise_count(first ^ second).astype(np.int64)


@cache
def _waves(kept: tuple[float, float] | None) -> Float32[np.ndarray, "8 32"]:
    """Return the matrix from 32 greys to their 8 slowest cosine waves, after a crop where one is given."""
    place = (np.arange(SIDE) + 0.5) / SIDE
    waves = np.cos(np.pi * np.arange(WAVES)[:, None] * place[None, :])
    return (waves if kept is None else waves @ _stretch(kept)).astype(np.float32)


@cache
def _stretch(kept: tuple[float, float]) -> Float32[np.ndarray, "32 32"]:
    """Return the matrix that stretches a part of 32 greys to 32: each new one is the mean over what it covers."""
    edges = SIDE * np.linspace(*kept, SIDE + 1)
    cells = np.arange(SIDE)
    covered = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    shares = np.clip(covered, 0, None)
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def _transpose(hashes: UInt64[np.ndarray, " *shape"]) -> UInt64[np.ndarray, " *shape"]:
    """Return the hashes with u and v swapped: an 8 × 8 matrix of bits is transposed in three exchanges of blocks."""
    turned = hashes
    for step, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
        shift = np.uint64(step)
        moved = (turned ^ (turned >> shift)) & np.uint64(mask)
        turned = turned ^ moved ^ (moved << shift)
    return turned
