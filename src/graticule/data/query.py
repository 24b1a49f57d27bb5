"""Rows of a table that a query picks, such as ``region == "Europe" and split == "train"``.

The language is small and safe (nothing is ever evaluated as Python):

====================================  ================================================================================
written                               picks the rows in which
====================================  ================================================================================
``region == "Europe"``                the column has this value; also ``!=  <  <=  >  >=``
``0 <= latitude < 30``                both hold
``region in ["Europe", "Africa"]``    the column has one of the values; also ``not in``
``"beach" in tags``                   a column of lists has the value in its list, a column of texts has it in its text
``split is None``                     there is no value; also ``is not None`` (``null`` may be written for ``None``)
``is_train``                          a column of true and false is true
``not A``, ``A and B``, ``A or B``    as usual; brackets group
```my column` == 1``                  a column whose name is not a plain word stands between backticks
``captured_at >= "2020-06-01"``       times are written as ISO 8601 text, in UTC where they do not say
====================================  ================================================================================

**Missing values** follow SQL: a comparison with a missing value (null, or NaN in a column of numbers) is neither true
nor false but unknown, ``not`` leaves it unknown, and only rows for which the whole query is true are picked. So neither
``region == "Europe"`` nor ``region != "Europe"`` picks an image without a region; ``region is None`` does.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import polars as pl

from graticule.data.query_operands import Operand, QueryReader, quote_hint
from graticule.errors import ConfigError, shown

LONGEST_QUERY = 10_000
"""Characters."""

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""Comparison → polars' method."""

EXAMPLE = """as in: region == "Europe" and split == "train\""""
QUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]+)`""")
"""A text, which is passed over, or a column's name between backticks."""

LANGUAGE_WORDS = frozenset({"and", "or", "not", "in", "is", "None", "True", "False"})
COMMON_FAULTS: Sequence[tuple[str, str]] = (
    (r"(?<![=!<>])=(?!=)", "two values are compared with ==, not ="),
    (r"\b(AND|OR|NOT|IN|IS|NULL)\b", "and, or, not, in, is are written in small letters"),
    (r"&&|\|\||!(?!=)", "conditions are joined with and, or, not"),
    (r"<>", "unequal is written !="),
    (
        rf"\b(?:{'|'.join(sorted(set(keyword.kwlist) - LANGUAGE_WORDS))})\b",
        "a column whose name is a word of Python's stands between backticks, as in `class`",
    ),
)
"""What a query that is not Python may look like, and what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """A query that has been read: an expression, and which values it asks columns for."""

    text: str
    expression: pl.Expr
    asked: tuple[tuple[str, object], ...]
    """Pairs of column and value that the query compares with ``==`` or ``in``."""


def select_rows(table: pl.DataFrame, query: str, *, where: str = "query") -> pl.DataFrame:
    """Return the rows that a query picks, in their order.

    Parameters
    ----------
    table
        Any table, such as images.
    query
        What to pick; see the module's description for the language and for what happens to missing values.
    where
        The option that holds the query, for messages.

    Raises
    ------
    ConfigError
        The query cannot be read, names a column that is not there, or compares things of different kinds.

    Examples
    --------
    >>> images = pl.DataFrame({"image_id": ["a", "b", "c"], "region": ["Europe", "Africa", None]})
    >>> select_rows(images, 'region != "Europe"')["image_id"].to_list()
    ['b']
    """
    return table.filter(read_query(query, table.schema, where=where).expression)


def read_query(query: str, schema: Mapping[str, pl.DataType], *, where: str = "query") -> Query:
    """Return a query as an expression over the columns of ``schema``.

    Raises
    ------
    ConfigError
        The query cannot be read, names a column that is not there, or compares things of different kinds.
    """
    text = " ".join(query.splitlines()).strip()
    if not text or len(text) > LONGEST_QUERY:
        fault = "is empty" if not text else f"has {len(text)} characters, expected at most {LONGEST_QUERY}"
        raise ConfigError(f"{where}: the query {fault}. Write a condition on columns, {EXAMPLE}.")
    plain, names = _hide_backticks(text)
    reader = QueryReader(text=text, where=where, schema=schema, names=names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice on its own code
            tree = ast.parse(plain, mode="eval")
        expression = _condition(reader, tree.body)
    except SyntaxError as error:
        _refuse_syntax(reader, plain, error)
    except ConfigError:
        raise
    except (ValueError, MemoryError, RecursionError) as error:
        raise ConfigError(f"{where}: the query cannot be read ({error}). Write it shorter, {EXAMPLE}.") from error
    return Query(text=text, expression=expression, asked=tuple(reader.asked))


def describe_no_match(table: pl.DataFrame, query: str, *, where: str = "query") -> str:
    """Return why a query may have picked no row: the values that it asks for and that no row has.

    Examples
    --------
    >>> describe_no_match(pl.DataFrame({"region": ["Europe", "Africa"]}), 'region == "Europa"')
    "Column 'region' has no 'Europa'; it has 'Africa', 'Europe'. Did you mean 'Europe'?"
    """
    hints: list[str] = []
    for column, value in read_query(query, table.schema, where=where).asked:
        known = table[column].drop_nulls().unique().sort().to_list()
        if value in known:
            continue
        near = difflib.get_close_matches(str(value), [str(item) for item in known], n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        hints.append(f"Column '{column}' has no {value!r}; it has {shown(known) or 'no values at all'}.{hint}")
    return " ".join(hints)


def _hide_backticks(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with names between backticks replaced by plain words of the same length, and what they are."""
    names: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        name = match.group(2)
        if name is None:
            return match.group(0)
        word = f"q{len(names)}".ljust(len(match.group(0).encode()), "_")
        names[word] = name
        return word

    return QUOTED.sub(replace, text), names


def _condition(reader: QueryReader, node: ast.expr) -> pl.Expr:
    """Return what is true, false or unknown for a row."""
    if isinstance(node, ast.BoolOp):
        parts = [_condition(reader, value) for value in node.values]
        return pl.all_horizontal(parts) if isinstance(node.op, ast.And) else pl.any_horizontal(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~_condition(reader, node.operand)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        pairs = zip(sides[:-1], node.ops, sides[1:], strict=True)
        return pl.all_horizontal([_compare(reader, left, operator, right) for left, operator, right in pairs])
    if not isinstance(node, ast.Name | ast.Constant):
        reader.refuse(node, f"{reader.written(node)} is no condition; expected a comparison of columns")
    operand = reader.operand(node)
    if operand.kind != "true/false":
        reader.refuse(node, f"{operand.name} alone is no condition; compare it with something")
    return reader.expression(operand)


def _compare(reader: QueryReader, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> pl.Expr:
    """Return one comparison."""
    if isinstance(operator, ast.In | ast.NotIn):
        among = isinstance(right, ast.List | ast.Tuple | ast.Set)
        found = _is_one_of(reader, left, right.elts) if among else _is_within(reader, left, right)
        return found if isinstance(operator, ast.In) else ~found
    if isinstance(operator, ast.Is | ast.IsNot):
        one = reader.operand(left)
        if reader.operand(right).kind != "null" or not one.column:
            reader.refuse(right, "'is' asks for missing values only, as in: split is None. Use == to compare")
        values = reader.expression(one)
        return values.is_null() if isinstance(operator, ast.Is) else values.is_not_null()
    one, other = _comparable(reader, left, right)
    if isinstance(operator, ast.Eq):
        reader.asked += [(a.column, b.value) for a, b in ((one, other), (other, one)) if a.column and not b.column]
    if one.kind == "true/false" and not isinstance(operator, ast.Eq | ast.NotEq):
        reader.refuse(left, f"{one.name} has no order; compare it with == or !=")
    return getattr(reader.expression(one), COMPARISONS[type(operator)])(reader.expression(other))


def _comparable(reader: QueryReader, left: ast.expr, right: ast.expr) -> tuple[Operand, Operand]:
    """Return both sides of a comparison, of the same kind and at least one of them a column."""
    one, other = reader.operand(left), reader.operand(right)
    if "null" in (one.kind, other.kind):
        reader.refuse(right, "nothing equals a missing value; write 'is None' or 'is not None'")
    if not one.column and not other.column:
        reader.refuse(left, f"{one.name} and {other.name} are both values; expected a column on one side")
    one, other = reader.as_time(one, other, left), reader.as_time(other, one, right)
    if one.kind != other.kind or one.kind not in ("text", "number", "time", "true/false"):
        reader.refuse(right, f"{one.name} cannot be compared with {other.name}{quote_hint(one, other)}")
    return one, other


def _is_one_of(reader: QueryReader, left: ast.expr, items: Sequence[ast.expr]) -> pl.Expr:
    """Return whether a column has one of several values."""
    column = reader.operand(left)
    if not column.column:
        reader.refuse(left, f"{column.name} is a value; expected a column in front of 'in' with a list")
    values: list[object] = []
    for item in items:
        value = _comparable(reader, left, item)[1]
        if value.column:
            reader.refuse(item, f"{value.name} is a column; a list holds values")
        values.append(value.value)
    reader.asked += [(column.column, value) for value in values]
    if not values:
        return pl.lit(value=False)
    given = reader.expression(column)
    if any(isinstance(value, float) for value in values):
        return given.cast(pl.Float64).is_in([float(str(value)) for value in values])
    return given.is_in(values)


def _is_within(reader: QueryReader, left: ast.expr, right: ast.expr) -> pl.Expr:
    """Return whether a value stands in a column of lists, or a text in a column of texts."""
    value, column = reader.operand(left), reader.operand(right)
    if value.column or not column.column or column.kind not in ("list", "text"):
        reader.refuse(right, f"{column.name} is not a list; write a list after 'in', as in: region in [\"Europe\"]")
    if column.kind == "text":
        if value.kind != "text":
            reader.refuse(left, f"{value.name} cannot stand in {column.name}{quote_hint(column, value)}")
        return reader.expression(column).str.contains(str(value.value), literal=True)
    inner = getattr(reader.schema[column.column], "inner", None)
    is_text = isinstance(inner, pl.String | pl.Categorical | pl.Enum)
    if is_text != (value.kind == "text") or value.kind == "null":
        reader.refuse(left, f"{value.name} cannot stand in {column.name}, whose lists hold {inner}")
    return pl.col(column.column).list.contains(pl.lit(value.value))


def _refuse_syntax(reader: QueryReader, plain: str, error: SyntaxError) -> NoReturn:
    outside = QUOTED.sub(lambda match: " " * len(match.group(0)), plain)
    for pattern, advice in COMMON_FAULTS:
        match = re.search(pattern, outside)
        if match:
            reader.refuse_at(match.start(), f"the query cannot be read: {advice}")
    position = min(max((error.offset or 1) - 1, 0), len(reader.text))
    reader.refuse_at(position, f"the query cannot be read here ({error.msg}); expected a condition, {EXAMPLE}")
