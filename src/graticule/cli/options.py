"""Kinds of options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence

import click

MANY = click.STRING
"""The type of an option that takes several values after one flag; see `many_values`."""


def many_values(*flags: str) -> type[click.Command]:
    """Return a command class in which each of ``flags`` takes every word up to the next flag.

    ``--predictions a.parquet b.parquet`` is read as ``--predictions a.parquet --predictions b.parquet``; repeating the
    flag works too. Positional arguments therefore stand before such a flag, or after ``--``.
    """

    class ManyValues(click.Command):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            return super().parse_args(ctx, repeat_flags(args, flags))

    return ManyValues


def repeat_flags(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Return the arguments with a flag in front of each of its values.

    Examples
    --------
    >>> repeat_flags(["images.csv", "--predictions", "a", "b", "--by", "region"], ["--predictions"])
    ['images.csv', '--predictions', 'a', '--predictions', 'b', '--by', 'region']
    """
    repeated: list[str] = []
    current = ""
    taken = 0
    for word in arguments:
        if word in flags:
            current, taken = word, 0
        elif word.startswith("-"):
            current = ""
        elif current:
            taken += 1
            if taken > 1:
                repeated.append(current)
        repeated.append(word)
    return repeated
