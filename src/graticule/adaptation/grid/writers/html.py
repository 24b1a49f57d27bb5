"""Tables as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from graticule.adaptation.grid.tables import Table, Value
from graticule.adaptation.grid.writers.markdown import show_value

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1b1b; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child { text-align: left; }
p { color: #444; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #eee; } th, td { border-color: #444; } p { color: #bbb; }
}
"""


def write_html(tables: Sequence[Table]) -> str:
    """Return all tables as one page."""
    body = "\n".join(_write(table) for table in tables)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Benchmark</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Benchmark</h1>\n{body}\n</body>\n</html>\n"
    )


def _write(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row.name)}</th>'
        + "".join(f"<td>{_cell(value, is_share=table.is_share)}</td>" for value in row.values)
        + "</tr>"
        for row in table.rows
    )
    note = escape(table.note.replace("**", "").replace("*", ""))
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="scroll"><table>\n<thead><tr><td></td>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>\n<p>{note}</p>"
    )


def _cell(value: Value, *, is_share: bool) -> str:
    text = escape(show_value(value, is_share=is_share))
    if value.is_best:
        return f"<strong>{text}</strong>"
    return f"<em>{text}</em>" if value.is_not_worse else text
