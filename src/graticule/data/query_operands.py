"""The sides of a comparison in a query: columns and values, what kind of thing each is, and what is said of a bad one.

Only `graticule.data.query` needs this; its description explains the language.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NoReturn

import polars as pl

from graticule.errors import ConfigError

LARGEST_INTEGER = 2**63
"""Larger ones are read as floats; no column holds them."""
WORDS: dict[str, object] = {"null": None, "true": True, "false": False}
"""Words of SQL that are read as Python's, unless a column has that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One side of a comparison: a column or a value, and what kind of thing it is."""

    kind: str
    """``text``, ``number``, ``true/false``, ``time``, ``list``, ``null``, or the name of another type of column."""
    column: str = ""
    value: object = None

    @property
    def name(self) -> str:
        """How a message names it."""
        if self.kind == "null":
            return "None"
        return f"column '{self.column}' ({self.kind})" if self.column else f"{self.value!r} ({self.kind})"


@dataclass(slots=True, kw_only=True, eq=False)
class QueryReader:
    """What reading a query needs to know, and the values that it has come across."""

    text: str
    where: str
    schema: Mapping[str, pl.DataType]
    names: Mapping[str, str]
    """Plain word → the column that stands between backticks in its place."""
    asked: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    def operand(self, node: ast.expr) -> Operand:
        """Return the column or the value that a part of the query is."""
        if isinstance(node, ast.Name):
            return self._column(node)
        value: object = None
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            if not isinstance(number, int | float) or isinstance(number, bool):
                self.refuse(node, f"{self.written(node)} is not a number")
            value = -number
        else:
            self.refuse(node, f"{self.written(node)} is neither a column nor a value; there is no arithmetic")
        return self._value(node, value)

    def as_time(self, operand: Operand, other: Operand, node: ast.expr) -> Operand:
        """Return a text as a time where it is compared with a column of times, and the operand itself otherwise."""
        if operand.column or operand.kind != "text" or other.kind != "time":
            return operand
        try:
            time = datetime.fromisoformat(str(operand.value))
        except ValueError:
            self.refuse(
                node, f"{operand.value!r} is not a time; expected ISO 8601, as in 2020-06-01 or 2020-06-01T12:30"
            )
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
        return Operand(kind="time", value=time)

    def expression(self, operand: Operand) -> pl.Expr:
        """Return a column's values in a form that compares, or a value, as an expression."""
        if not operand.column:
            return pl.lit(operand.value)
        dtype = self.schema[operand.column]
        values = pl.col(operand.column)
        if dtype.is_float():
            return values.cast(pl.Float64).fill_nan(None)
        if isinstance(dtype, pl.Categorical | pl.Enum):
            return values.cast(pl.String)
        if isinstance(dtype, pl.Date):
            return values.cast(pl.Datetime("us"))
        if isinstance(dtype, pl.Datetime) and dtype.time_zone:
            return values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return values

    def written(self, node: ast.expr) -> str:
        """Return a part of the query as it was typed, between quotes and not too long."""
        text = self.text.encode()[node.col_offset : node.end_col_offset].decode(errors="ignore")
        return f"'{text if len(text) <= 40 else text[:37] + '…'}'"

    def refuse(self, node: ast.expr, reason: str) -> NoReturn:
        """Raise, pointing at a part of the query."""
        self.refuse_at(len(self.text.encode()[: node.col_offset].decode(errors="ignore")), reason)

    def refuse_at(self, position: int, reason: str) -> NoReturn:
        """Raise, pointing at a character of the query."""
        sentence = reason if reason.endswith((".", "?")) else f"{reason}."
        arrow = " " * position + "^"
        raise ConfigError(f"{self.where}: {sentence}\n  {self.text}\n  {arrow} position {position + 1}")

    def _column(self, node: ast.Name) -> Operand:
        name = self.names.get(node.id, node.id)
        if name in self.schema:
            return Operand(kind=_kind(self.schema[name]), column=name)
        if name in WORDS:
            return self._value(node, WORDS[name])
        near = difflib.get_close_matches(name, list(self.schema), n=1)
        hint = f"Did you mean '{near[0]}'?" if near else f'If it is a text, write "{name}".'
        self.refuse(node, f"unknown column '{name}'. Columns: {', '.join(self.schema)}. {hint}")

    def _value(self, node: ast.expr, value: object) -> Operand:
        if value is None:
            return Operand(kind="null")
        if isinstance(value, bool):
            return Operand(kind="true/false", value=value)
        if isinstance(value, int | float):
            return Operand(kind="number", value=value if abs(value) < LARGEST_INTEGER else float(value))
        if isinstance(value, str):
            return Operand(kind="text", value=value)
        self.refuse(node, f"{self.written(node)} is not a text, a number, True, False or None")


def quote_hint(one: Operand, other: Operand) -> str:
    """Return what is wrong with the quotes where a text meets a number; empty where nothing is."""
    column, value = (one, other) if one.column else (other, one)
    if value.column:
        return ""
    if column.kind == "text" and value.kind == "number":
        return f'; a text stands between quotes: "{value.value}"'
    if column.kind == "number" and value.kind == "text":
        return "; a number stands without quotes"
    return ""


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "time"
    if isinstance(dtype, pl.List):
        return "list"
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return "text"
    return "true/false" if isinstance(dtype, pl.Boolean) else str(dtype)
