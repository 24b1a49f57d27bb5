"""One file per format of a benchmark's tables; a format is its file and its line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graticule.adaptation.grid.tables import Table
from graticule.adaptation.grid.writers.csv import write_csv
from graticule.adaptation.grid.writers.html import write_html
from graticule.adaptation.grid.writers.latex import write_latex
from graticule.adaptation.grid.writers.markdown import write_markdown

WRITERS: dict[str, Callable[[Sequence[Table]], str]] = {
    "md": write_markdown,
    "csv": write_csv,
    "tex": write_latex,
    "html": write_html,
}
"""Formats by the ending of their file."""
