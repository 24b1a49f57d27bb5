"""What an algorithm's options must be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graticule.errors import ConfigError, unknown_choice


def check_numbers(config: object, *, positive: Sequence[str] = (), at_least_zero: Sequence[str] = ()) -> None:
    """Check that numbers of a config are finite, and above 0 or at least 0.

    Raises
    ------
    ConfigError
        One is not.
    """
    for names, is_zero_fine in ((positive, False), (at_least_zero, True)):
        for name in names:
            value = getattr(config, name)
            if not math.isfinite(value) or value < 0 or (value == 0 and not is_zero_fine):
                expected = "at least 0" if is_zero_fine else "above 0"
                raise ConfigError(
                    f"{name} of {type(config).__name__} is {value!r}, expected a number {expected}. Leave it out for "
                    "the default."
                )


def check_words(config: object, choices: Mapping[str, Sequence[str]]) -> None:
    """Check that words of a config are among the known.

    Raises
    ------
    ConfigError
        One is not.
    """
    for name, known in choices.items():
        if getattr(config, name) not in known:
            raise unknown_choice(name, str(getattr(config, name)), known)


def check_shares(config: object, names: Sequence[str]) -> None:
    """Check that numbers of a config lie in [0, 1).

    Raises
    ------
    ConfigError
        One does not.
    """
    for name in names:
        value: Any = getattr(config, name)
        if not 0 <= value < 1:
            raise ConfigError(
                f"{name} of {type(config).__name__} is {value!r}, expected at least 0 and below 1. Try 0.5."
            )
