"""``graticule scan``: photos in folders, tables or archives → an images table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import polars as pl

    from graticule.data.scan_files import ScanFiles

MOST_SHOWN = 8
"""Lines of a list that are printed."""


@click.command(context_settings={"show_default": True})
@click.argument("photos", type=click.Path(path_type=Path))
@click.option(
    "--layout",
    metavar="PATTERN|NAME",
    help="What folders are named after, such as '{region}/{label}'; or imagefolder, webdataset, croissant, table; or a "
    "published list: geode, geonet (GeoUniDA's too), dollar_street, yfcc100m.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that the paths in a list start from.  [default: the list's own]",
)
@click.option("--index-only", is_flag=True, help="Take the list at its word and open no photo, nor need it be there.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("images.parquet"), help="Table to write.")
@click.option("--verify/--no-verify", default=True, help="Decode every image, so that damaged ones are rejected now.")
@click.option("--workers", type=click.IntRange(min=1), help="Threads.  [default: one a processor]")
@click.option("--progress/--no-progress", default=True, help="Draw a progress bar.")
def scan(
    *,
    photos: Path,
    layout: str | None,
    root: Path | None,
    index_only: bool,
    output: Path,
    verify: bool,
    workers: int | None,
    progress: bool,
) -> None:
    """Find the images in PHOTOS, and where and when they were taken.

    PHOTOS is a folder, a ZIP or tar archive, or a table (CSV, JSON Lines, Parquet) with a column of paths. OUTPUT gets
    a row an image: path, label and region as the folders say, position and time from EXIF, size and hash. Files that
    are left out stand beside it in images.rejects.parquet, each with its reason. A scan that was killed goes on where
    it stopped.

    \b
      graticule scan photos/ --layout '{region}/{label}' -o images.parquet
      graticule scan photos.zip --layout '{country}/{label}' -o images.parquet
      graticule scan photos.csv -o images.parquet
      graticule scan asia_test.txt --layout geonet --root GeoNet/ -o images.parquet
      graticule scan yfcc100m_dataset-0.bz2 --layout yfcc100m --index-only -o images.parquet
    """
    from graticule.data.scan_files import scan_to_files

    found = scan_to_files(
        photos,
        output,
        layout=layout,
        root=root,
        read_files=not index_only,
        workers=workers,
        verify=verify,
        progress=progress,
    )
    for line in _describe(found, layout=layout):
        click.echo(line)


def _describe(found: ScanFiles, *, layout: str | None) -> list[str]:
    images, rejects, odd = found.result.images, found.result.rejects, found.result.position_notes
    n_placed = images.drop_nulls(["latitude", "longitude"]).height
    lines = [*found.result.notes]
    lines.append(
        f"{images.height} {'image' if images.height == 1 else 'images'}, {n_placed} with a position → {found.images}"
    )
    for column in ("region", "country", "label", "split"):
        if column in images.columns and images[column].null_count() < images.height:
            lines.append(f"  by {column}: {_count(images, column)}")
    if layout is None and ("label" not in images.columns or images["label"].null_count() == images.height):
        lines.append("  no labels: if folders are named after them, say so with --layout, as in '{region}/{label}'")
    if odd.height:
        lines.append(f"  {odd.height} with a position that is not usable: {_count(odd, 'reason')}")
    lines.append(f"{rejects.height} {'reject' if rejects.height == 1 else 'rejects'} → {found.rejects}")
    if rejects.height:
        short = rejects.with_columns(rejects["reason"].str.replace(r"[:;(].*", "").str.strip_chars())
        lines += [f"  {text}" for text in _list_counts(short, "reason")]
    return lines


def _count(frame: pl.DataFrame, column: str) -> str:
    return ", ".join(_list_counts(frame, column))


def _list_counts(frame: pl.DataFrame, column: str) -> list[str]:
    """Return the most frequent values with their counts, and how many more there are."""
    counts = frame[column].drop_nulls().value_counts().sort(["count", column], descending=[True, False])
    shown = [f"{value} {count}" for value, count in counts.head(MOST_SHOWN).iter_rows()]
    more = counts.height - MOST_SHOWN
    return [*shown, f"and {more} more"] if more > 0 else shown
