"""What every aggregator's options must be."""

from __future__ import annotations

from collections.abc import Iterable

from graticule.errors import ConfigError, unknown_choice


def check_at_least(name: str, value: int | float, *, low: int | float) -> None:
    """Check a number.

    Raises
    ------
    ConfigError
        It is below ``low`` or not a number.
    """
    if not value >= low:
        raise ConfigError(f"{name} is {value!r}; expected at least {low:g}.")


def check_choice(name: str, value: str, *, known: Iterable[str]) -> None:
    """Check a word.

    Raises
    ------
    ConfigError
        It is not one of the known.
    """
    choices = list(known)
    if value not in choices:
        raise unknown_choice(name, value, choices)
