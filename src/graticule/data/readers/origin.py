"""Where rows came from, for messages: the file, the number of its first row, and the model that made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from graticule.data.readers.rows import PARQUET
from graticule.errors import EXAMPLES_SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A file of rows."""

    where: str
    first_row: int
    """Number of the first row: 2 in a text file whose first line is the header."""
    model: str

    def name_rows(self, rows: Sequence[int], image_ids: pl.Series | np.ndarray) -> str:
        """Return the first few rows by number and image, and how many more there are."""
        named = [f"row {self.first_row + row} ({image_ids[row]!r})" for row in rows[:EXAMPLES_SHOWN]]
        more = len(rows) - EXAMPLES_SHOWN
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def find_first_row(place: Path) -> int:
    """Return the number of the first row of a table: 2 for text with a line of column names, else 1."""
    name = place.name.lower().removesuffix(".gz")
    return 1 if place.is_dir() or name.endswith((*PARQUET, ".json", ".jsonl", ".ndjson")) else 2
