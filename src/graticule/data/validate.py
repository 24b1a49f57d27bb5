"""Checks of a table against its declaration: every bad row is found and reported once.

A check goes to the end of the table before it raises, so that one run shows everything that is wrong: the first
five bad rows, and how many there are.
"""

from __future__ import annotations

import polars as pl

from graticule.data.tables import VECTOR, Column, Table
from graticule.errors import EXAMPLES_SHOWN, TableError, shown

HINTS = {
    "latitude": "Were latitude and longitude swapped?",
    "longitude": "Longitudes run from -180 to 180; subtract 360 from those above.",
}


def validate_table(frame: pl.DataFrame, table: Table, *, where: str, first_row: int = 1) -> pl.DataFrame:
    """Return the table with its declared columns cast to their declared types, or raise with every fault found.

    Parameters
    ----------
    frame
        The table as read.
    table
        Its declaration.
    where
        The file or source that it came from, for the message.
    first_row
        Number of the first row in that file, for the message (2 for a CSV with a header line).

    Raises
    ------
    TableError
        A required column is missing, a value has the wrong type or lies outside its range, a value that must be there
        is null, or two rows have the same key.
    """
    faults = _missing_columns(frame, table)
    checked = frame
    for name, column in table.columns.items():
        if name not in frame.columns:
            continue
        checked, found = _check_column(checked, name, column, first_row=first_row)
        faults += found
    if not faults:
        faults = _repeated_keys(checked, table, first_row=first_row)
    if faults:
        raise TableError(f"{where}: " + "\n  ".join(faults))
    return checked


def _missing_columns(frame: pl.DataFrame, table: Table) -> list[str]:
    missing = [name for name, column in table.columns.items() if column.required and name not in frame.columns]
    faults = [
        f"no column '{name}' ({table.columns[name].meaning}); the columns are {shown(frame.columns, limit=12)}. "
        f"Rename the column that holds it to '{name}'."
        for name in missing
    ]
    for group in table.either:
        if not any(name in frame.columns for name in group):
            faults.append(f"none of the columns {shown(group)}; the columns are {shown(frame.columns, limit=12)}.")
    return faults


def _check_column(frame: pl.DataFrame, name: str, column: Column, *, first_row: int) -> tuple[pl.DataFrame, list[str]]:
    if column.dtype == VECTOR:
        return _check_vectors(frame, name, nullable=column.nullable, first_row=first_row)
    cast, faults = _cast(frame, name, column.dtype, first_row=first_row)
    if cast[name].dtype != column.dtype:
        return frame, faults
    if not column.nullable:
        empty = cast[name].is_null()
        if cast[name].dtype == pl.String:
            empty = empty | (cast[name].str.strip_chars() == "").fill_null(value=False)
        if empty.any():
            faults.append(_fault(cast, name, empty, "expected a value in every row", first_row=first_row))
    if column.low is not None or column.high is not None:
        low = column.low if column.low is not None else float("-inf")
        high = column.high if column.high is not None else float("inf")
        bad = cast.select(
            (~pl.col(name).is_between(low, high) | pl.col(name).cast(pl.Float64).is_nan()).fill_null(value=False)
        )[name]
        if bad.any():
            fault = _fault(cast, name, bad, f"expected {_range(column)}", first_row=first_row)
            faults.append(f"{fault} {HINTS[name]}" if name in HINTS else fault)
    return cast, faults


def _range(column: Column) -> str:
    if column.high is None:
        return f"at least {column.low:g}"
    if column.low is None:
        return f"at most {column.high:g}"
    return f"{column.low:g} to {column.high:g}"


def _cast(frame: pl.DataFrame, name: str, dtype: pl.DataType, *, first_row: int) -> tuple[pl.DataFrame, list[str]]:
    given = frame[name]
    if given.dtype == dtype:
        return frame, []
    try:
        cast = _cast_series(given, dtype)
    except pl.exceptions.PolarsError as error:
        return frame, [
            f"column '{name}' is {given.dtype}, expected {_name_type(dtype)} ({str(error).splitlines()[0]})."
        ]
    lost = cast.is_null() & given.is_not_null()
    if given.dtype == pl.String:
        lost = lost & (given.str.strip_chars() != "")
    faults = [_fault(frame, name, lost, f"expected {_name_type(dtype)}", first_row=first_row)] if lost.any() else []
    return frame.with_columns(cast.alias(name)), faults


def _name_type(dtype: pl.DataType) -> str:
    """Return a type in words."""
    if isinstance(dtype, pl.Datetime):
        return "a time such as 2024-05-31T12:00:00Z"
    words: dict[str, str] = {
        "Float64": "a number",
        "Int64": "a whole number",
        "Boolean": "true or false",
        "String": "text",
    }
    return words.get(str(dtype), str(dtype))


def _cast_series(given: pl.Series, dtype: pl.DataType) -> pl.Series:
    if isinstance(dtype, pl.Datetime):
        return _as_time(given, dtype)
    if dtype == pl.Boolean and given.dtype == pl.String:
        text = given.str.strip_chars().str.to_lowercase()
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        return text.replace_strict(known, default=None, return_dtype=pl.Boolean())
    if isinstance(given.dtype, pl.List | pl.Array) and dtype == pl.String:
        raise pl.exceptions.InvalidOperationError("a list is not text")
    if given.dtype.is_float() and dtype.is_integer():
        whole = given.is_null() | (given == given.round())
        return given.cast(dtype, strict=False).set(~whole, None)
    if given.dtype == pl.String and dtype.is_numeric():
        given = given.str.strip_chars()
    return given.cast(dtype, strict=False)


def _as_time(given: pl.Series, dtype: pl.Datetime) -> pl.Series:
    if given.dtype == pl.String:
        return _parse_times(given)
    if isinstance(given.dtype, pl.Datetime):
        zoned = given if given.dtype.time_zone else given.dt.replace_time_zone("UTC")
        return zoned.dt.convert_time_zone("UTC").cast(dtype)
    if given.dtype == pl.Date:
        return given.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    if given.null_count() == len(given):
        return given.cast(dtype)
    raise pl.exceptions.InvalidOperationError("a number is not a time; write times as ISO 8601 text")


def _parse_times(given: pl.Series) -> pl.Series:
    """Return times in ISO 8601, dates among them, as UTC; what has no offset counts as UTC."""
    text = given.str.strip_chars().str.replace(r"^(\d{4}-\d{2}-\d{2})[ tT]+", "${1}T")
    text = text.str.replace(r"^(\d{4}-\d{2}-\d{2})$", "${1}T00:00:00").str.replace(
        r"(T\d{2}:\d{2})($|[^:\d])", "${1}:00$2"
    )
    text = text.str.replace(r"\s*([zZ]|UTC|GMT)$", "+00:00").str.replace(r"(T[\d:.]+)$", "${1}+00:00")
    text = text.str.replace(r"\s*([+-]\d{2})$", "${1}:00").str.replace(r"\s*([+-]\d{2})(\d{2})$", "$1:$2")
    return text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", time_zone="UTC", strict=False)


def _check_vectors(frame: pl.DataFrame, name: str, *, nullable: bool, first_row: int) -> tuple[pl.DataFrame, list[str]]:
    given = frame[name]
    if not isinstance(given.dtype, pl.List | pl.Array):
        return frame, [f"column '{name}' is {given.dtype}, expected a list of numbers in every row."]
    if isinstance(given.dtype, pl.List):
        widths = given.list.len()
        usual = widths.drop_nulls().mode()
        odd = (widths != usual[0]).fill_null(value=not nullable) if len(usual) else widths.is_null()
        if odd.any():
            return frame, [_fault(frame, name, odd, f"expected {usual[0]} numbers in every row", first_row=first_row)]
        given = given.list.to_array(int(usual[0]) if len(usual) else 0)
    if not nullable and given.null_count():
        return frame, [_fault(frame, name, given.is_null(), "expected a value in every row", first_row=first_row)]
    kind = given.dtype.inner if isinstance(given.dtype, pl.Array) else None
    if kind is None or kind not in (pl.Float32(), pl.Float16()):
        given = given.cast(pl.Array(pl.Float32, given.dtype.shape[0] if isinstance(given.dtype, pl.Array) else 0))
    return frame.with_columns(given.alias(name)), []


def _repeated_keys(frame: pl.DataFrame, table: Table, *, first_row: int) -> list[str]:
    key = [name for name in table.key if name in frame.columns]
    if not key or len(key) < len(table.key):
        return []
    if frame.select(pl.struct(key).n_unique() if len(key) > 1 else pl.col(key[0]).n_unique()).item() == frame.height:
        return []
    repeated = frame.select(pl.struct(key).is_duplicated() & ~pl.struct(key).is_first_distinct()).to_series()
    if not repeated.any():
        return []
    return [
        _fault(frame, key[0], repeated, f"{' and '.join(key)} stand in an earlier row too", first_row=first_row)
        + " Give each row a name of its own, or drop the repeated rows."
    ]


def _fault(frame: pl.DataFrame, name: str, bad: pl.Series, expected: str, *, first_row: int) -> str:
    rows = bad.arg_true()
    examples = ", ".join(
        f"row {first_row + int(row)}: {name} is {_value(frame[name][int(row)])}" for row in rows[:EXAMPLES_SHOWN]
    )
    more = f" and {len(rows) - EXAMPLES_SHOWN} more" if len(rows) > EXAMPLES_SHOWN else ""
    return f"{examples}{more}; {expected}."


def _value(value: object) -> str:
    if isinstance(value, pl.Series):
        return f"a list of {len(value)}"
    text = "empty" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
