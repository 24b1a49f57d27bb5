"""Tables as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from graticule.adaptation.grid.tables import Table, Value


def write_markdown(tables: Sequence[Table]) -> str:
    """Return all tables as one Markdown text."""
    return "\n".join(_write(table) for table in tables)


def _write(table: Table) -> str:
    head = ["", *(_plain(column) for column in table.columns)]
    lines = [f"## {_plain(table.title)}", "", _line(head), _line(["---", *["---:" for _ in table.columns]])]
    lines += [
        _line([_plain(row.name), *(_cell(value, is_share=table.is_share) for value in row.values)])
        for row in table.rows
    ]
    return "\n".join([*lines, "", table.note, ""])


def _cell(value: Value, *, is_share: bool) -> str:
    text = show_value(value, is_share=is_share)
    if value.is_best:
        return f"**{text}**"
    return f"*{text}*" if value.is_not_worse else text


def show_value(value: Value, *, is_share: bool) -> str:
    """Return a value as plain text: percent for shares, mean ± standard error; empty where there is none."""
    if math.isnan(value.mean):
        return ""
    scale, digits = (100, 1) if is_share else (1, 3)
    text = f"{scale * value.mean:.{digits}f}"
    return text if math.isnan(value.error) else f"{text} ± {scale * value.error:.{digits}f} ({value.n})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
