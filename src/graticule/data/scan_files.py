"""A scan whose result goes to files: the images table, and its rejects beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graticule.data.journal import Journal
from graticule.data.scan import ScanResult, scan_images
from graticule.data.store import describe_run, write_table
from graticule.data.tables import IMAGES, REJECTS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScanFiles:
    """What a scan found, and where it went."""

    result: ScanResult
    images: Path
    rejects: Path


def scan_to_files(
    source: str | Path,
    output: str | Path,
    *,
    layout: str | None = None,
    root: str | Path | None = None,
    read_files: bool = True,
    workers: int | None = None,
    verify: bool = True,
    progress: bool = True,
) -> ScanFiles:
    """Scan a source and write the images table to ``output`` and ``….rejects.parquet`` beside it.

    Parameters
    ----------
    source
        A folder, an archive, a table with a column of paths, or a single image.
    output
        The images table; its paths are relative to its folder.
    layout
        See `graticule.data.readers.layouts`.
    root
        Folder that the paths in a table or a list start from; None takes the folder that it lies in.
    read_files
        Whether to open the files, or to take a table or a list at its word.
    workers
        Threads; None takes one for each processor.
    verify
        Decode every image, so that damaged ones are rejected now.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    GraticuleError
        As `graticule.data.scan.scan_images`, or the output cannot be written; nothing half-written is left.

    Notes
    -----
    Until the end, finished work is kept in the folder ``<output>.partial``; the same scan, run again after a kill, goes
    on from there.
    """
    images = Path(output)
    rejects = name_rejects(images)
    partial = images.with_name(f"{images.name}.partial")
    found = scan_images(
        source,
        layout=layout,
        root=root,
        read_files=read_files,
        base=images.parent,
        journal=partial,
        exclude=(images, rejects),
        workers=workers,
        verify=verify,
        progress=progress,
    )
    config = {
        "source": str(source),
        "layout": layout,
        "root": None if root is None else str(root),
        "read_files": read_files,
        "verify": verify,
    }
    provenance = describe_run("scan", config=config, inputs={Path(source).name: Path(source)})
    write_table(found.rejects, rejects, REJECTS, provenance=provenance)
    write_table(found.images, images, IMAGES, provenance=provenance)
    Journal(folder=partial, plan="").remove()
    return ScanFiles(result=found, images=images, rejects=rejects)


def name_rejects(images: Path) -> Path:
    """Return the path of the rejects that belong to an images table.

    Examples
    --------
    >>> name_rejects(Path("out/images.parquet")).name
    'images.rejects.parquet'
    """
    return images.with_name(images.name.removesuffix(".parquet") + ".rejects.parquet")
