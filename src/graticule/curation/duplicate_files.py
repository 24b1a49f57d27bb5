"""A table or folder of images on disk → the same without near-duplicates, and their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import polars as pl

from graticule.curation.curated_files import Pile, check_output, read_pile, write_selection
from graticule.curation.duplicates.find import USUAL, Across, Duplicates, find_duplicates
from graticule.curation.duplicates.rule import DuplicateConfig
from graticule.curation.duplicates.signatures import Reading
from graticule.data.journal import Journal
from graticule.data.moved_paths import move_paths
from graticule.data.store import describe_run, read_table, write_table
from graticule.data.tables import DUPLICATES, FEATURES


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupRequest:
    """What is to be looked for, and in what."""

    rules: Sequence[str] = USUAL
    config: DuplicateConfig = field(default_factory=DuplicateConfig)
    features: Path | None = None
    across: Across | None = None
    store: Path | None = None
    """File that keeps signatures from run to run."""
    layout: str | None = None
    workers: int | None = None
    progress: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DedupFiles:
    """What was found, where it was written, and what to print."""

    found: Duplicates
    pile: Pile
    clusters: Path
    lines: tuple[str, ...]


def dedup_file(source: str | Path, output: str | Path, *, request: DedupRequest | None = None) -> DedupFiles:
    """Write the images that stay, those that go with reasons, and the clusters; return where, and what to print.

    Parameters
    ----------
    source
        What `graticule.data.readers.images.read_images` reads.
    output
        The table to write; ``OUTPUT.rejects.parquet`` and ``OUTPUT.duplicates.parquet`` stand beside it.
    request
        What is to be looked for, and in what.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.duplicates.find.find_duplicates`; nothing is
        written.

    Notes
    -----
    Until the end, what was read of the images is kept in the folder ``OUTPUT.partial``; the same command, run again
    after a kill, goes on from there.
    """
    wanted = request or DedupRequest()
    place = check_output(Path(output))
    partial = place.with_name(f"{place.name}.partial")
    pile = read_pile(source, layout=wanted.layout)
    found = find_duplicates(
        pile.images,
        wanted.rules,
        config=wanted.config,
        features=None if wanted.features is None else read_table(wanted.features, FEATURES),
        across=wanted.across,
        reading=Reading(
            base=pile.base, journal=partial, workers=wanted.workers, progress=wanted.progress, store=wanted.store
        ),
    )
    config = {"rules": list(wanted.rules), **asdict(wanted.config)}
    if wanted.across is not None:
        config |= asdict(wanted.across)
    inputs = {} if wanted.features is None else {wanted.features.name: wanted.features}
    clusters = name_clusters(place)
    made = describe_run("curate dedup", config=config, inputs={pile.source.name: pile.source, **inputs})
    moved = move_paths(found.clusters, pile.base, place.parent)
    write_table(moved, clusters, DUPLICATES, provenance=made)
    lines = write_selection(found.selection, place, pile=pile, command="curate dedup", config=config, inputs=inputs)
    Journal(folder=partial, plan="").remove()
    return DedupFiles(
        found=found,
        pile=pile,
        clusters=clusters,
        lines=(*describe_clusters(found.clusters, config=wanted.config), *lines, f"Clusters: {clusters}"),
    )


def name_clusters(images: Path) -> Path:
    """Return the path of the clusters that belong to an images table.

    Examples
    --------
    >>> name_clusters(Path("out/images.parquet")).name
    'images.duplicates.parquet'
    """
    return images.with_name(images.name.removesuffix(".parquet") + ".duplicates.parquet")


def describe_clusters(clusters: pl.DataFrame, *, config: DuplicateConfig) -> tuple[str, ...]:
    """Return how many clusters there are, what holds them together, and whether some are chains."""
    if clusters.is_empty():
        return ("No near-duplicates.",)
    gone = clusters.filter(~pl.col("is_kept"))
    counts = gone.group_by("reason").agg(pl.len().alias("n")).sort("n", "reason", descending=[True, False])
    chains = find_chains(clusters, config=config)
    n_clusters, n_chains = clusters["cluster"].n_unique(), chains["cluster"].n_unique()
    largest = clusters["n_images"].max()
    many = "cluster" if n_clusters == 1 else "clusters"
    return (
        f"{n_clusters} {many} of near-duplicates, the largest of {largest} images.",
        *(f"  {n} images go by the rule {rule}" for rule, n in counts.iter_rows()),
        *([f"  {n_chains} are chains: their ends are farther apart than the threshold"] if n_chains else []),
    )


def find_chains(clusters: pl.DataFrame, *, config: DuplicateConfig) -> pl.DataFrame:
    """Return the rows of clusters whose ends are farther apart than the threshold of the rule that measured them."""
    limits = {
        "sha256": 0.0,
        "pixels": 0.0,
        "perceptual": float(config.max_bits),
        "geonet": config.max_pixel_distance,
        "embedding": config.max_cosine_distance,
    }
    limit = pl.col("largest_by").replace_strict(limits, default=None, return_dtype=pl.Float64)
    return clusters.filter(pl.col("largest_distance") > limit + 1e-9)
