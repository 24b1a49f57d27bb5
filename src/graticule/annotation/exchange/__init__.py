"""Formats that answers and labels are exchanged in, one a file; `graticule.annotation.exchange.files` picks one."""

FORMATS: dict[str, str] = {
    "parquet": "graticule.annotation.exchange.parquet",
    "csv": "graticule.annotation.exchange.csv",
    "json_lines": "graticule.annotation.exchange.json_lines",
    "label_studio": "graticule.annotation.exchange.label_studio",
    "real": "graticule.annotation.exchange.real",
}
"""Format, as on the command line → the module with its ``read`` and ``write``. All hold answers, but ``real``, which
holds labels."""
