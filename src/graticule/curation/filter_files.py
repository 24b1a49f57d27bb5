"""A table or folder of images on disk → those that pass the filters, and the others with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from graticule.curation.concepts.translations import find_shared_names, read_concepts
from graticule.curation.curated_files import check_output, read_pile, write_selection
from graticule.curation.filters.apply import Files, filter_images
from graticule.curation.filters.filter import FilterConfig
from graticule.data.journal import Journal
from graticule.errors import shown


def filter_file(
    source: str | Path,
    output: str | Path,
    filters: Sequence[str],
    *,
    config: FilterConfig | None = None,
    concepts: str | Path | None = None,
    layout: str | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> tuple[str, ...]:
    """Write the images that pass every filter and those that do not, and return what to print.

    Parameters
    ----------
    source, layout
        What `graticule.data.readers.images.read_images` reads.
    output
        The table to write; ``OUTPUT.rejects.parquet`` stands beside it.
    filters
        Names of `graticule.curation.filters.FILTERS`.
    config
        Thresholds.
    concepts
        A table of names of labels; see `graticule.curation.concepts.translations.read_concepts`.
    workers, progress
        Threads that open images, and whether to draw a progress bar.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.filters.apply.filter_images`; nothing is written.

    Notes
    -----
    Until the end, what was seen of the images is kept in the folder ``OUTPUT.partial``; the same command, run again
    after a kill, goes on from there.
    """
    settings = config or FilterConfig()
    place = check_output(Path(output))
    partial = place.with_name(f"{place.name}.partial")
    named = None if concepts is None else read_concepts(concepts)
    pile = read_pile(source, layout=layout)
    scheme = pile.info.get("scheme")
    selection = filter_images(
        pile.images,
        filters,
        config=settings,
        concepts=named,
        scheme=str(scheme) if scheme else None,
        files=Files(base=pile.base, journal=partial, workers=workers, progress=progress),
    )
    lines = write_selection(
        selection,
        place,
        pile=pile,
        command="curate filter",
        config={"filters": list(filters), **asdict(settings)},
        inputs={} if concepts is None else {Path(concepts).name: Path(concepts)},
    )
    Journal(folder=partial, plan="").remove()
    shared = [] if named is None else find_shared_names(named)["name"].to_list()
    notes = (f"{len(shared)} names stand for several labels and tell none: {shown(shared)}.",) if shared else ()
    return (*lines, *notes)
