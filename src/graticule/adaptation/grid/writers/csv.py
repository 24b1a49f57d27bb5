"""Tables as CSV: a row a number, with its mean, standard error and number of runs at full precision."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from graticule.adaptation.grid.tables import Table


def write_csv(tables: Sequence[Table]) -> str:
    """Return all tables as one CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "row", "column", "mean", "standard_error", "n", "is_best", "is_not_worse"])
    for table in tables:
        for row in table.rows:
            for column, value in zip(table.columns, row.values, strict=True):
                numbers = ["" if math.isnan(number) else repr(number) for number in (value.mean, value.error)]
                marks = [str(value.is_best).lower(), str(value.is_not_worse).lower()]
                writer.writerow([table.key, row.name, column, *numbers, value.n, *marks])
    return text.getvalue()
