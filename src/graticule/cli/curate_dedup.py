"""``graticule curate dedup``: near-duplicates, within a set or between its splits."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values
from graticule.curation.duplicates import RULES

LIST = "\n".join(f"  {name:<11} {line}" for name, (_, line) in RULES.items())
USUAL = ("sha256", "pixels", "perceptual")


@click.command(cls=many_values("--rules"), epilog=f"\b\nRules, the surest first:\n{LIST}")
@click.argument("source", metavar="IMAGES", type=click.Path(path_type=Path))
@click.option(
    "--rules",
    type=MANY,
    multiple=True,
    metavar="NAME…",
    help="What makes two images near-duplicates; listed below.  [default: sha256 pixels perceptual]",
)
@click.option("--across", metavar="COLUMN", help="Only pairs whose values differ here, as in --across split.")
@click.option(
    "--remove-from", default="train", show_default=True, metavar="VALUE", help="--across: the side that loses."
)
@click.option("--features", type=click.Path(path_type=Path), metavar="FILE", help="embedding: from `graticule embed`.")
@click.option("--max-bits", type=int, default=9, show_default=True, help="perceptual: of 63 that may differ.")
@click.option("--min-correlation", type=float, default=0.92, show_default=True, help="perceptual: of small pictures.")
@click.option(
    "--turns",
    default="turned",
    show_default=True,
    metavar="NAME",
    help="perceptual: none, turned or all (mirrored too).",
)
@click.option("--crops/--no-crops", default=True, show_default=True, help="perceptual: look for crops by a twentieth.")
@click.option("--max-pixel-distance", type=float, default=0.06, show_default=True, help="geonet: 0 to 1.")
@click.option("--max-histogram-distance", type=float, default=0.15, show_default=True, help="geonet: 0 to 1.41.")
@click.option("--edge-km", type=float, default=10.0, show_default=True, help="geonet: how far over a cell's edge.")
@click.option("--max-cosine-distance", type=float, default=0.1, show_default=True, help="embedding: 0 to 2.")
@click.option(
    "--signatures",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keeps what was read; later runs read new files only.",
)
@click.option(
    "--page", type=click.Path(path_type=Path), metavar="FILE", help="Also write a page of pairs to look at (HTML)."
)
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--workers", type=click.IntRange(1), help="Threads that read images.  [default: one a processor]")
@click.option("--progress/--no-progress", default=True, help="Draw a progress bar.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("unique.parquet"), show_default=True)
def dedup(
    *,
    source: Path,
    rules: tuple[str, ...],
    across: str | None,
    remove_from: str,
    features: Path | None,
    max_bits: int,
    min_correlation: float,
    turns: str,
    crops: bool,
    max_pixel_distance: float,
    max_histogram_distance: float,
    edge_km: float,
    max_cosine_distance: float,
    signatures: Path | None,
    page: Path | None,
    layout: str | None,
    workers: int | None,
    progress: bool,
    output: Path,
) -> None:
    """Leave out near-duplicates: of images that are alike, the one with most pixels stays.

    OUTPUT gets the images that stay, with a column `cluster` (what hangs together, also by way of others; for
    `graticule curate split --group cluster`). Those that go stand in OUTPUT.rejects.parquet with the reason, and all
    clusters in OUTPUT.duplicates.parquet: each image, what it is nearest to, by which rule and how far, and the largest
    distance in the cluster. No file is deleted. A run that was killed goes on where it stopped.

    \b
    Copies, also recompressed, resized, turned or a little cropped, with a page to look at:
      graticule curate dedup images.parquet --page pairs.html -o unique.parquet
    Training images that are near-duplicates of validation or test images:
      graticule curate dedup split.parquet --across split --remove-from train -o clean.parquet
    GeoNet's rule, on photos with coordinates:
      graticule curate dedup images.parquet --rules geonet --across split -o clean.parquet
    What a network takes for the same picture:
      graticule curate dedup images.parquet --rules embedding --features features.parquet -o unique.parquet
    """
    from graticule.cli.curate_dedup_steps import run_dedup
    from graticule.curation.duplicate_files import DedupRequest
    from graticule.curation.duplicates.find import Across
    from graticule.curation.duplicates.rule import DuplicateConfig

    config = DuplicateConfig(
        max_bits=max_bits,
        min_correlation=min_correlation,
        turns=turns,
        crops=crops,
        max_pixel_distance=max_pixel_distance,
        max_histogram_distance=max_histogram_distance,
        edge_km=edge_km,
        max_cosine_distance=max_cosine_distance,
    )
    request = DedupRequest(
        rules=rules or USUAL,
        config=config,
        features=features,
        across=None if across is None else Across(column=across, remove=remove_from),
        store=signatures,
        layout=layout,
        workers=workers,
        progress=progress,
    )
    for sentence in run_dedup(source, output, request=request, page=page):
        click.echo(sentence)
