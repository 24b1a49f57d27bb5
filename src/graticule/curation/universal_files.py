"""A table of images on disk → those of shared and private labels, and the labels as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from graticule.curation.curated_files import check_output, read_pile, write_selection
from graticule.curation.universal import UniversalConfig, find_universal_labels
from graticule.data.store import write_text


def universal_file(
    source: str | Path, output: str | Path, *, config: UniversalConfig, layout: str | None = None
) -> tuple[str, ...]:
    """Write the images with the indices of their labels, and ``OUTPUT.labels.csv``; return what to print.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.universal.find_universal_labels`; nothing is
        written.
    """
    place = check_output(Path(output))
    pile = read_pile(source, layout=layout)
    found = find_universal_labels(pile.images, config=config)
    labels = place.with_name(f"{place.stem}.labels.csv")
    lines = write_selection(found.selection, place, pile=pile, command="curate universal", config=asdict(config))
    write_text(found.labels.write_csv(), labels)
    return (*lines, f"Labels:  {labels}")
