"""JSON Lines, or one JSON array of objects → a table; a key is a column."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl

from graticule.data.readers.delimited import as_utf8
from graticule.errors import EXAMPLES_SHOWN, TableError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def read_json_rows(data: bytes, *, where: str) -> pl.DataFrame:
    """Return the rows as a table.

    Parameters
    ----------
    data
        The file's bytes: an object a line, or one array of objects.
    where
        The file's name, for messages.

    Raises
    ------
    TableError
        The text is not JSON, or a row is not an object.

    Examples
    --------
    >>> read_json_rows(b'{"id": "007", "n": 1}\\n{"id": "8"}\\n', where="a.jsonl").rows()
    [('007', 1), ('8', None)]
    """
    text = as_utf8(data, where=where).decode("utf-8")
    if not text.strip():
        raise TableError(f"{where}: the file is empty, expected an object for each image.")
    rows, faults = _parse_array(text) if text.lstrip().startswith("[") else _parse_lines(text)
    if faults:
        more = f" and {len(faults) - EXAMPLES_SHOWN} more" if len(faults) > EXAMPLES_SHOWN else ""
        raise TableError(
            f"{where}: {'; '.join(faults[:EXAMPLES_SHOWN])}{more}; expected an object (in braces) for each image."
        )
    if not any(rows):
        raise TableError(f"{where}: no row has any key, expected keys such as image_id and label.")
    return frame_from_rows(rows)


def frame_from_rows(rows: Sequence[Mapping[str, Json]]) -> pl.DataFrame:
    """Return a table with a column for every key; a column of mixed kinds becomes text."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame([_as_series(name, [row.get(name) for row in rows]) for name in names])


def _parse_lines(text: str) -> tuple[list[dict[str, Json]], list[str]]:
    rows: list[dict[str, Json]] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(f"line {number} is not JSON ({error})")
            continue
        if isinstance(row, dict):
            rows.append(row)
        else:
            faults.append(f"line {number} is no object")
    return rows, faults


def _parse_array(text: str) -> tuple[list[dict[str, Json]], list[str]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [], [f"not JSON ({error})"]
    faults = [f"item {number} is no object" for number, row in enumerate(found, start=1) if not isinstance(row, dict)]
    return [row for row in found if isinstance(row, dict)], faults


def _as_series(name: str, values: Sequence[Json]) -> pl.Series:
    """Return a column: numbers, flags, text or lists where all rows agree, and text where they do not."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if kinds <= {int, float} or len(kinds) == 1:
            series = (
                pl.Series(name, values, strict=True) if kinds != {int, float} else pl.Series(name, values, pl.Float64)
            )
            if not isinstance(series.dtype, pl.Struct | pl.Object):
                return series
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        pass
    return pl.Series(name, [_as_text(value) for value in values], pl.String)


def _as_text(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
