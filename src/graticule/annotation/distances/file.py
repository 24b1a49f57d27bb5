"""Distances read from a table of label pairs, for label spaces that are not in WordNet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.annotation.glossary import Glossary
from graticule.data.readers.rows import read_rows
from graticule.data.tables import FLOAT, TEXT, Column, Table
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown

PAIRS = Table(
    name="label distances",
    row="a pair of labels, in either order",
    key=("label", "other"),
    columns={
        "label": Column(dtype=TEXT, required=True, nullable=False, meaning="one label"),
        "other": Column(dtype=TEXT, required=True, nullable=False, meaning="the other label"),
        "distance": Column(dtype=FLOAT, required=True, nullable=False, low=0, meaning="how far apart they are"),
    },
)


class FileDistance:
    """The distances in a table with the columns ``label``, ``other`` and ``distance``; a pair holds in both orders."""

    def __init__(self, argument: str, glossary: Glossary | None = None) -> None:
        del glossary
        if not argument:
            raise ConfigError("distance 'file' needs a table of pairs; write it as 'file:pairs.csv'.")
        self._where = argument
        table = validate_table(read_rows(Path(argument)), PAIRS, where=argument)
        self._distances = _both_orders(table, where=argument)

    def measure(self, first: Sequence[str], second: Sequence[str]) -> Float[np.ndarray, " n"]:
        """Return the distance of each pair, shape ``(n,)``; a label is at 0 from itself.

        Raises
        ------
        TableError
            The file has no distance for a pair.
        """
        pairs = [(one, other) for one, other in zip(first, second, strict=True)]
        missing = dict.fromkeys(pair for pair in pairs if pair[0] != pair[1] and pair not in self._distances)
        if missing:
            raise TableError(
                f"{self._where}: no distance for {len(missing)} pairs of labels: {shown(missing)}. "
                "Add a row for each, in either order."
            )
        return np.array([0.0 if one == other else self._distances[one, other] for one, other in pairs], dtype=float)


def _both_orders(table: pl.DataFrame, *, where: str) -> dict[tuple[str, str], float]:
    distances: dict[tuple[str, str], float] = {}
    contradictory: list[tuple[str, str]] = []
    for one, other, distance in table.select("label", "other", "distance").iter_rows():
        if distances.setdefault((other, one), distance) != distance:
            contradictory.append((one, other))
        distances[one, other] = distance
    if contradictory:
        raise TableError(
            f"{where}: {len(contradictory)} pairs have different distances in their two orders: "
            f"{shown(contradictory)}. A distance is the same both ways; keep one row a pair."
        )
    return distances
