"""A table of images on disk → the same with splits."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import polars as pl

from graticule.curation.curated_files import check_output, read_pile, write_selection
from graticule.curation.splits import SplitConfig, describe_splits, split_images
from graticule.data.readers.images import read_images
from graticule.errors import TableError

REGIONS_SHOWN = 12


def split_file(
    source: str | Path,
    output: str | Path,
    *,
    config: SplitConfig | None = None,
    previous: str | Path | None = None,
    layout: str | None = None,
) -> tuple[str, ...]:
    """Write the images of a table with their splits, and return what to print.

    Parameters
    ----------
    source, layout
        What `graticule.data.readers.images.read_images` reads.
    output
        The table to write; ``OUTPUT.rejects.parquet`` stands beside it.
    config
        How to split.
    previous
        A table of images with earlier splits, which stay as they are.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.splits.split_images`; nothing is written.
    """
    settings = config or SplitConfig()
    place = check_output(Path(output))
    pile = read_pile(source, layout=layout)
    earlier = None if previous is None else _read_previous(Path(previous))
    selection = split_images(pile.images, config=settings, previous=earlier)
    sizes = settings.sizes
    made = {**asdict(settings), "sizes": {name: str(size) for name, size in {**sizes.shares, **sizes.counts}.items()}}
    lines = write_selection(
        selection,
        place,
        pile=pile,
        command="curate split",
        config={**made, "rest": sizes.rest, "method": settings.chosen_method},
        inputs={} if previous is None else {Path(previous).name: Path(previous)},
        seed=settings.seed,
    )
    by = settings.by or ("region" if "region" in selection.kept.columns else None)
    few = by is not None and selection.kept[by].n_unique() <= REGIONS_SHOWN
    return (*describe_splits(selection.kept, by=by if few else None), *lines)


def _read_previous(source: Path) -> pl.DataFrame:
    earlier = read_images(source)
    if "split" not in earlier.columns:
        raise TableError(
            f"{source}: no column 'split', expected the table that an earlier run of `graticule curate split` wrote. "
            "Leave --previous out if there is none."
        )
    return earlier
