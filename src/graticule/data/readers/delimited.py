"""CSV and TSV text → a table of text columns, exactly as written: ``007`` stays ``007``.

Accepts UTF-8 with or without a byte order mark, UTF-16 with one, commas, semicolons, tabs or pipes, any line ends,
quoted line breaks. What cannot be read without guessing is an error that says what to do.
"""

from __future__ import annotations

import codecs
import csv
import io

import polars as pl

from graticule.errors import TableError, shown

SEPARATORS = ",;\t|"
HEADER_BYTES = 1_000_000
"""Bytes within which the line of column names must end."""

UNNAMED = "__unnamed_"
"""Columns without a name at the end of the header: a spreadsheet's trailing separators."""


def read_delimited(data: bytes, *, where: str) -> pl.DataFrame:
    """Return the rows as text columns; an empty field is null.

    Parameters
    ----------
    data
        The file's bytes.
    where
        The file's name, for messages.

    Raises
    ------
    TableError
        The text is not UTF-8 or UTF-16, there is no header, a column's name is missing or repeated, or a row has
        more fields than the header.

    Examples
    --------
    >>> read_delimited(b"id;label\\n007;caf\\xc3\\xa9\\n", where="a.csv").rows()
    [('007', 'café')]
    """
    data = as_utf8(data, where=where).lstrip(b"\r\n")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of old Macs
    separator, names = _read_header(data[:HEADER_BYTES].decode("utf-8", "ignore"), where=where)
    try:
        frame = pl.read_csv(
            io.BytesIO(data),
            separator=separator,
            infer_schema=False,
            has_header=False,
            schema={name: pl.String() for name in names},
            truncate_ragged_lines=False,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError as error:
        raise _describe(data.decode(), separator=separator, n_columns=len(names), where=where, error=error) from error
    body = frame.slice(1).select(name for name in names if not name.startswith(UNNAMED))
    return body.filter(~pl.all_horizontal(pl.all().is_null()))


def as_utf8(data: bytes, *, where: str) -> bytes:
    """Return a text file's content in UTF-8 without a byte order mark, from UTF-8 or, by its mark, UTF-16.

    Raises
    ------
    TableError
        The bytes are not text in UTF-8 or UTF-16.
    """
    is_utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    data = data if is_utf_16 else data.removeprefix(codecs.BOM_UTF8)
    encoding = "utf-16" if is_utf_16 else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{where} line {row}: not {encoding.upper()} text (byte {data[error.start]:#04x}), expected UTF-8. Save it "
            "as UTF-8 (in a spreadsheet: 'CSV UTF-8'; in a shell: iconv -f latin1 -t utf-8)."
        ) from error
    if "\x00" in text:
        row = text.count("\n", 0, text.index("\x00")) + 1
        raise TableError(f"{where} line {row}: a zero byte, expected text. Is it a CSV file, whole and in UTF-8?")
    return text.encode("utf-8") if is_utf_16 else data


def _read_header(text: str, *, where: str) -> tuple[str, list[str]]:
    """Return the separator and the columns' names."""
    if not text.strip():
        raise TableError(f"{where}: the file is empty, expected a line of column names and a row an image.")
    line = text.splitlines()[0]
    separator = max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))
    try:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except (csv.Error, StopIteration) as error:
        raise TableError(f"{where} line 1: no readable line of column names ({error}).") from error
    names = [name.strip() for name in header]
    while len(names) > 1 and not names[-1]:
        names.pop()
    empty = [index + 1 for index, name in enumerate(names) if not name]
    if empty == [1]:  # pandas writes its index so
        names[0], empty = "index", []
    repeated = sorted({name for name in names if names.count(name) > 1})
    if empty or repeated:
        fault = f"the columns {shown(repeated)} stand there twice" if repeated else f"columns {empty} have no name"
        raise TableError(f"{where} line 1: {fault}; expected a name of its own for each column. Rename or drop them.")
    return separator, [*names, *(f"{UNNAMED}{index}" for index in range(len(names), len(header)))]


def _describe(text: str, *, separator: str, n_columns: int, where: str, error: Exception) -> TableError:
    """Return the error for text that the fast reader refuses, with the lines that are wrong."""
    wrong: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if len(row) > n_columns:
                wrong.append(f"line {reader.line_num} has {len(row)} fields")
    except csv.Error as fault:
        wrong.append(f"line {reader.line_num}: {fault}")
    if not wrong:
        return TableError(
            f"{where}: not readable as delimited text ({str(error).splitlines()[0]}). Is a quote missing?"
        )
    more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    return TableError(
        f"{where}: {', '.join(wrong[:5])}{more}; expected {n_columns} as in the header. Put fields that hold the "
        "separator in quotes."
    )
