"""Names to integers: each name once, in order, and its place for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int32

from graticule.errors import TableError, shown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameCodes:
    """The names of a column, and the place among them of each of its ``a`` rows."""

    names: pl.Series
    codes: Int32[np.ndarray, " a"]


def code_names(
    rows: pl.DataFrame, column: str, *, known: Sequence[str] | None, is_sorted: bool, where: str
) -> NameCodes:
    """Return the names in a column, coded.

    Parameters
    ----------
    rows
        A table with that column, and the number of each row in ``row``.
    column
        The column.
    known
        All names there are; None takes those in the column.
    is_sorted
        Whether to sort the known names; else they keep their order. Names from the column are always sorted.
    where
        The file that the table came from, for messages.

    Raises
    ------
    TableError
        A row has a name that is not known.
    """
    given = rows[column]
    starts = given.ne_missing(given.shift(1))
    is_run = int(starts.sum()) * 2 <= len(given)  # rows of one image stand together in most tables
    few = given.filter(starts) if is_run else given
    if known is None:
        names = few.unique().sort()
    else:
        names = pl.Series(column, list(known), dtype=pl.String).unique(maintain_order=True)
        names = names.sort() if is_sorted else names
    index = pl.DataFrame({column: names, "index": np.arange(len(names), dtype=np.int32)})
    found = few.to_frame().join(index, on=column, how="left", maintain_order="left")["index"]
    if found.null_count():
        _refuse(rows.filter(~given.is_in(names.to_list())), column, n_known=len(names), where=where)
    codes = found.to_numpy()
    return NameCodes(names=names, codes=codes[starts.to_numpy().cumsum() - 1] if is_run else codes)


def _refuse(unknown: pl.DataFrame, column: str, *, n_known: int, where: str) -> None:
    named = [f"row {row}: {name}" for row, name in unknown.select("row", column).iter_rows()]
    raise TableError(
        f"{where}: {unknown.height} answers whose {column} is not among the {n_known} that are known: {shown(named)}. "
        "Correct them, or give the list that holds them."
    )
