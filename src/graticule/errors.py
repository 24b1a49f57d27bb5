"""Every error that Graticule raises on purpose.

The tree (each also inherits the closest built-in, so that ``except ValueError`` works as expected)::

    GraticuleError
    ├── ConfigError        (ValueError)    an option or a configuration value
    ├── TableError         (ValueError)    a table's columns, rows or values
    ├── FileError          (OSError)       a path that is missing, unreadable or in the way
    ├── ImageError         (ValueError)    an image that cannot be decoded safely
    ├── GeoError           (ValueError)    a place, a country or a region scheme
    ├── ModelError         (RuntimeError)  a model, its weights or its label space
    ├── TrainingError      (ArithmeticError) a training whose numbers are no longer finite
    └── MissingExtraError  (ImportError)   an optional package that is not installed

A message has four parts: what was given, what is expected, where, and what to do. The command line prints the message
alone and exits with code 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXAMPLES_SHOWN = 5


class GraticuleError(Exception):
    """An error with a message for the person who typed the command."""


class ConfigError(GraticuleError, ValueError):
    """An option or a configuration value that is not accepted."""


class TableError(GraticuleError, ValueError):
    """A table whose columns, rows or values break its declaration."""


class FileError(GraticuleError, OSError):
    """A path that is missing, unreadable or in the way."""


class ImageError(GraticuleError, ValueError):
    """An image that cannot be decoded safely."""


class GeoError(GraticuleError, ValueError):
    """A place, a country or a region scheme that is not known."""


class ModelError(GraticuleError, RuntimeError):
    """A model, its weights or its label space that cannot be used."""


class TrainingError(GraticuleError, ArithmeticError):
    """A training whose losses or weights are no longer finite."""


class MissingExtraError(GraticuleError, ImportError):
    """An optional package that is needed and not installed."""

    def __init__(self, package: str, *, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs the package '{package}', which is not installed. "
            f"Install it with: pip install 'graticule[{extra}]'"
        )


def unknown_choice(kind: str, given: str, known: Iterable[str], *, where: str = "") -> ConfigError:
    """Return the error for a name that is in no registry, with the nearest known name.

    Parameters
    ----------
    kind
        What was asked for, as in ``"metric"``.
    given
        The name as typed.
    known
        The names that exist.
    where
        The option or the file that holds the name; empty when it is plain.

    Examples
    --------
    >>> print(unknown_choice("scheme", "geod", ["geode", "geonet"]))
    unknown scheme 'geod'. Known: geode, geonet. Did you mean 'geode'?
    """
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    place = f"{where}: " if where else ""
    return ConfigError(f"{place}unknown {kind} '{given}'. Known: {', '.join(names)}.{hint}")


def shown(values: Iterable[object], *, limit: int = EXAMPLES_SHOWN) -> str:
    """Return the first few values as text, and how many more there are.

    Examples
    --------
    >>> shown(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    listed = list(values)
    text = ", ".join(repr(value) for value in listed[:limit])
    more = len(listed) - limit
    return f"{text} and {more} more" if more > 0 else text
