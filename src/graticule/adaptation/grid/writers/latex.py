"""Tables as LaTeX, with booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from graticule.adaptation.grid.tables import Table, Value
from graticule.adaptation.grid.writers.markdown import show_value

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
}


def write_latex(tables: Sequence[Table]) -> str:
    """Return all tables as one LaTeX text; it needs the package booktabs."""
    return "\n".join(_write(table) for table in tables)


def _write(table: Table) -> str:
    head = " & ".join(["", *(escape(column) for column in table.columns)])
    body = [
        " & ".join([escape(row.name), *(_cell(value, is_share=table.is_share) for value in row.values)]) + r" \\"
        for row in table.rows
    ]
    note = escape(table.note.replace("**", "").replace("*", ""))
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape(table.title)}. {note}}}",
        rf"\label{{tab:{escape(table.key)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        head + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Return text with LaTeX's special letters escaped.

    Examples
    --------
    >>> print(escape("5 % of a_b"))
    5 \\% of a\\_b
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _cell(value: Value, *, is_share: bool) -> str:
    text = escape(show_value(value, is_share=is_share))
    if value.is_best:
        return rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if value.is_not_worse else text
