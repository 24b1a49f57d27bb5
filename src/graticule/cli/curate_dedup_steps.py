"""The steps of ``graticule curate dedup``: the one place that joins the search and the page."""

from __future__ import annotations

from pathlib import Path

from graticule.curation.duplicate_files import DedupRequest, dedup_file, find_chains


def run_dedup(source: Path, output: Path, *, request: DedupRequest, page: Path | None) -> list[str]:
    """Write the images that stay, the clusters and, where one was asked for, the page; return what to print.

    Raises
    ------
    GraticuleError
        As `graticule.curation.duplicate_files.dedup_file`; nothing is written.
    """
    from graticule import __version__

    done = dedup_file(source, output, request=request)
    if page is None:
        return list(done.lines)
    from graticule.report.duplicates.page import write_pairs

    written = write_pairs(
        page,
        done.found.clusters,
        base=done.pile.base,
        chains=frozenset(find_chains(done.found.clusters, config=request.config)["cluster"]),
        n_images=done.pile.images.height,
        version=__version__,
    )
    return [*done.lines, f"Page:    {written}"]
