"""Where the tables of ``graticule annotate`` stand, and those that come from and go to other tools."""

from __future__ import annotations

from pathlib import Path

from graticule.annotation.exchange.files import find_format, read_checked, read_exchange, write_exchange
from graticule.data.readers.images import read_images
from graticule.data.store import describe_run, write_table
from graticule.data.tables import ANSWERS, LABELS, get_table


def beside(output: Path, word: str) -> Path:
    """Return the path of a table that stands beside another: ``kept.parquet`` → ``kept.rejects.parquet``."""
    return output.with_name(f"{output.stem}.{word}.parquet")


def import_table(source: Path, output: Path, *, name: str | None, images: Path | None) -> list[str]:
    """Write what another tool's file holds as a table, and return what to print."""
    table = read_exchange(source, name=name, images=None if images is None else read_images(images))
    declared = ANSWERS if "worker_id" in table.columns else LABELS
    write_table(table, output, declared, provenance=describe_run("annotate import", inputs={source.name: source}))
    return [f"{table.height} {declared.name} of {table['image_id'].n_unique()} images: {output}"]


def export_table(source: Path, output: Path, *, name: str | None, images: Path | None) -> list[str]:
    """Write a table as another tool reads it, and return what to print."""
    form = find_format(output, name=name)
    table = read_checked(source, get_table(form.HOLDS))
    write_exchange(table, output, name=name, images=None if images is None else read_images(images))
    return [f"{table.height} rows of {table['image_id'].n_unique()} images: {output}"]
