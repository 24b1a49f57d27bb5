"""From a table or folder of images to a table of images and its rejects, for every step of curation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from graticule.curation.selection import Selection
from graticule.data.moved_paths import move_paths
from graticule.data.readers.images import read_images
from graticule.data.readers.rows import PARQUET, is_table
from graticule.data.scan_files import name_rejects
from graticule.data.store import describe_run, read_info, write_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.errors import ConfigError, TableError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pile:
    """Images as they were read, and where from."""

    images: pl.DataFrame
    source: Path
    base: Path
    """Folder that the images' paths start from."""
    info: Mapping[str, Any]
    """What the table says of itself: region scheme, boundary policy …"""


def read_pile(source: str | Path, *, layout: str | None = None) -> Pile:
    """Return the images of a table, a folder or an archive.

    Raises
    ------
    FileError
        There is no such file, or it cannot be read.
    TableError
        The table breaks the declaration of images, or holds no image.
    """
    place = Path(source)
    is_parts = place.is_dir() and any(place.glob("*.parquet"))
    images = read_images(place, layout=layout)
    if images.is_empty():
        raise TableError(f"{place}: no image in it, expected at least one. Is it the file that you meant?")
    info = read_info(place) if is_parts or place.suffix.lower() in PARQUET else {}
    base = place.parent if is_table(place) or (place.is_file() and not is_parts) else place
    return Pile(images=images, source=place, base=base, info=info)


def check_output(output: Path) -> Path:
    """Return a path that a table can be written to.

    Raises
    ------
    ConfigError
        The name does not end as a Parquet file's does.
    """
    if output.suffix.lower() not in PARQUET:
        raise ConfigError(f"-o {output}: the table is written as Parquet, expected a name that ends in .parquet.")
    return output


def write_selection(
    selection: Selection,
    output: Path,
    *,
    pile: Pile,
    command: str,
    config: Mapping[str, Any],
    inputs: Mapping[str, Path] | None = None,
    seed: int | None = None,
) -> tuple[str, ...]:
    """Write the kept images and the rejects beside them, and return what to print.

    Parameters
    ----------
    selection
        What a step kept and left out.
    output
        The table of kept images; the rejects go to ``OUTPUT.rejects.parquet``.
    pile
        Where the images came from; their paths are written anew for the folder of ``output``.
    command, config, inputs, seed
        What the provenance says; the source of the pile is always among the inputs.

    Raises
    ------
    ConfigError, FileError, TableError
        The output cannot be written; nothing half-written is left.
    """
    place = check_output(Path(output))
    made = describe_run(command, config=config, inputs={pile.source.name: pile.source, **dict(inputs or {})}, seed=seed)
    rejects = name_rejects(place)
    write_table(move_paths(selection.rejects, pile.base, place.parent), rejects, REJECTS, provenance=made)
    kept = move_paths(selection.kept, pile.base, place.parent)
    write_table(kept, place, IMAGES, info=pile.info, provenance=made)
    return (*describe_selection(selection), f"Kept:    {place}", f"Rejects: {rejects}")


def describe_selection(selection: Selection) -> tuple[str, ...]:
    """Return how many images stay, how many each step left out, and the selection's own notes."""
    n_images = selection.kept.height + selection.rejects.height
    counts = selection.rejects.group_by("step", maintain_order=True).agg(pl.len().alias("n"))
    return (
        f"{selection.kept.height} of {n_images} images kept.",
        *(f"  {n} left out by {step}" for step, n in counts.iter_rows()),
        *selection.notes,
    )
