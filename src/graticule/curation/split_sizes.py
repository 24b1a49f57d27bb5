"""How large the splits of a data set are to be, as shares or as numbers of images, and how that is rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int64

from graticule.data.readers.columns import SPLITS
from graticule.errors import ConfigError

REST = "rest"
"""The size of the split that takes what the others leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSizes:
    """Names of the splits and their sizes: all of them shares that add up to 1, or all of them counts."""

    shares: Mapping[str, Fraction]
    """Split → its share; empty where counts were given."""
    counts: Mapping[str, int]
    """Split → images in each label of each region; empty where shares were given."""
    rest: str | None = None
    """With counts: the split that takes all other images. None leaves them out."""

    @property
    def names(self) -> tuple[str, ...]:
        """The splits in the order in which they were given; the one that takes the rest comes last."""
        return (*self.shares, *self.counts, *((self.rest,) if self.rest else ()))

    @classmethod
    def parse(cls, words: Sequence[str]) -> SplitSizes:
        """Return the sizes that words such as ``train=0.85`` or ``test=20`` and ``train=rest`` name.

        Other usual names of the splits are taken as tables are read: ``val`` is ``validation``.

        Raises
        ------
        ConfigError
            A word cannot be read, a split is named twice, shares do not add up to 1, or the two kinds are mixed.

        Examples
        --------
        >>> SplitSizes.parse(["train=0.6", "validation=0.2", "test=0.2"]).names
        ('train', 'validation', 'test')
        """
        given: dict[str, str] = {}
        for word in words:
            name, equals, size = word.partition("=")
            if not equals or not name.strip() or not size.strip():
                raise ConfigError(f"--sizes: {word!r}, expected NAME=SIZE, as in train=0.85 test=0.15 or test=20.")
            split = name.strip().lower()
            split = SPLITS.get(split, split)
            if split in given:
                raise ConfigError(f"--sizes: '{split}' is given twice, expected each split once.")
            given[split] = size.strip()
        return make_sizes(given)


def make_sizes(given: Mapping[str, str | float | int]) -> SplitSizes:
    """Return checked sizes.

    Parameters
    ----------
    given
        Split → its size: a share below 1, a whole number of images, or ``"rest"``.

    Raises
    ------
    ConfigError
        A size is neither, there is only one split, shares do not add up to 1, or the two kinds are mixed.
    """
    if len(given) < 2:
        raise ConfigError(
            f"--sizes: {len(given)} split given, expected at least two, as in train=0.85 test=0.15, or as in test=20 "
            "train=rest."
        )
    shares: dict[str, Fraction] = {}
    counts: dict[str, int] = {}
    rest: list[str] = []
    for name, size in given.items():
        if str(size) == REST:
            rest.append(name)
            continue
        value = _read_number(name, size)
        if 0 < value < 1:
            shares[name] = value
        elif value >= 1 and value.denominator == 1:
            counts[name] = int(value)
        else:
            raise ConfigError(f"--sizes: {name}={size}, expected a share between 0 and 1 or a whole number of images.")
    if len(rest) > 1:
        raise ConfigError(f"--sizes: {' and '.join(rest)} both take the rest, expected one split that does.")
    if shares and counts:
        raise ConfigError(
            f"--sizes: {', '.join(shares)} as shares and {', '.join(counts)} as counts, expected one kind for all."
        )
    if shares and rest:
        shares[rest.pop()] = 1 - sum(shares.values(), Fraction(0))
    total = sum(shares.values(), Fraction(0))
    if shares and (total != 1 or min(shares.values()) <= 0):
        raise ConfigError(f"--sizes: the shares add up to {float(total):g}, expected 1. Give one of them as 'rest'.")
    return SplitSizes(shares=shares, counts=counts, rest=rest[0] if rest else None)


def cut_total(total: int, sizes: SplitSizes) -> tuple[int, ...]:
    """Return how many of ``total`` images each split gets, by shares.

    Notes
    -----
    One cut after the other, in the order of the splits: what is held out for the later ones is rounded up, as
    scikit-learn's ``train_test_split`` does. 10,942 images at 0.6, 0.2 and 0.2 are first cut at 6,565 (4,377 are held
    out), then the 4,377 in halves.

    Examples
    --------
    >>> cut_total(10_942, SplitSizes.parse(["train=0.6", "validation=0.2", "test=0.2"]))
    (6565, 2188, 2189)
    """
    left, share_left = total, Fraction(1)
    parts: list[int] = []
    for share in list(sizes.shares.values())[:-1]:
        share_left -= share
        held_out = -((-left * share_left) // (share_left + share))
        parts.append(left - int(held_out))
        left = int(held_out)
    return (*parts, left)


def spread_evenly(
    total: int, over: Int64[np.ndarray, " k"], *, rank: Int64[np.ndarray, " k"] | None = None
) -> Int64[np.ndarray, " k"]:
    """Return ``total`` images dealt to cells in proportion to their sizes, by the largest remainders.

    Parameters
    ----------
    total
        How many to deal.
    over
        Sizes of the cells, shape ``(k,)``; at least one of them positive if ``total`` is.
    rank
        Which of the cells come first where remainders are equal, shape ``(k,)``; None takes them in order.

    Examples
    --------
    >>> spread_evenly(5, np.array([10, 10, 20]))
    array([1, 1, 3])
    """
    order = np.arange(len(over)) if rank is None else rank
    whole = max(int(over.sum()), 1)
    exact = over.astype(np.int64) * total
    dealt = exact // whole
    first = np.lexsort((order, -(exact - dealt * whole)))
    dealt[first[: total - int(dealt.sum())]] += 1
    return dealt


def _read_number(name: str, size: str | float | int) -> Fraction:
    try:
        return Fraction(str(size))
    except (ValueError, ZeroDivisionError) as error:
        raise ConfigError(
            f"--sizes: {name}={size}, expected a share (0.15), a whole number of images, or 'rest'."
        ) from error
