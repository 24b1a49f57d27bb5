"""``graticule curate filter``: images that pass, and why the others do not."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values
from graticule.curation.filters import FILTERS

LIST = "\n".join(f"  {name:<13} {line}" for name, (_, line) in FILTERS.items())


@click.command(cls=many_values("--use", "--regions"), epilog=f"\b\nFilters, in the order in which they run:\n{LIST}")
@click.argument("source", metavar="IMAGES", type=click.Path(path_type=Path))
@click.option("--use", "filters", type=MANY, multiple=True, metavar="NAME…", help="Filters to run; listed below.")
@click.option("--min-size", metavar="WxH", default="640x480", show_default=True, help="resolution: the least pixels.")
@click.option("--max-flat", type=float, default=0.98, show_default=True, help="uniform: share of one colour.")
@click.option("--max-blur", type=float, default=0.6, show_default=True, help="blurred: from 0 (sharp) to 1.")
@click.option("--max-face", type=float, default=0.5, show_default=True, help="faces: from 0 to 1, sure of a face.")
@click.option("--regions", type=MANY, multiple=True, metavar="REGION…", help="in_region: those that count.")
@click.option("--scheme", metavar="NAME|FILE", help="in_region: what coordinates mean.  [default: as located]")
@click.option("--concepts", type=click.Path(path_type=Path), metavar="FILE", help="one_label: names of each label.")
@click.option("--native-share", type=float, default=0.95, show_default=True, help="native_label: in one region.")
@click.option("--min-images", type=int, default=20, show_default=True, help="min_images: of a label in every region.")
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="native_label, min_images: regions.")
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--workers", type=click.IntRange(1), help="Threads that open images.  [default: one a processor]")
@click.option("--progress/--no-progress", default=True, help="Draw a progress bar.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("filtered.parquet"), show_default=True)
def filter_command(
    *,
    source: Path,
    filters: tuple[str, ...],
    min_size: str,
    max_flat: float,
    max_blur: float,
    max_face: float,
    regions: tuple[str, ...],
    scheme: str | None,
    concepts: Path | None,
    native_share: float,
    min_images: int,
    by: str,
    layout: str | None,
    workers: int | None,
    progress: bool,
    output: Path,
) -> None:
    """Keep the images that pass the filters named by --use, and say why each of the others does not.

    Each image that is left out stands once in OUTPUT.rejects.parquet, with the first filter that it failed; no file is
    deleted. A run that was killed goes on where it stopped.

    \b
    What GeoDE asked of photos:
      graticule curate filter images.parquet --use readable resolution location -o filtered.parquet
    GeoNet's two rules (a table with the columns label, en, hi, ko, ja …; then 20 images in every region):
      graticule curate filter images.parquet --use one_label min_images --concepts names.csv -o filtered.parquet
    Only two regions, and no label that belongs to one of them:
      graticule curate filter images.parquet --use in_region native_label --regions Europe Africa
    """
    from graticule.curation.filter_files import filter_file
    from graticule.curation.filters.filter import FilterConfig

    longer, shorter = _read_size(min_size)
    config = FilterConfig(
        min_long_side=longer,
        min_short_side=shorter,
        max_flat_share=max_flat,
        max_blur=max_blur,
        max_face=max_face,
        regions=regions,
        scheme=scheme,
        native_share=native_share,
        min_images=min_images,
        by=by,
    )
    for sentence in filter_file(
        source, output, filters, config=config, concepts=concepts, layout=layout, workers=workers, progress=progress
    ):
        click.echo(sentence)


def _read_size(text: str) -> tuple[int, int]:
    """Return the longer and the shorter side of a size such as 640x480."""
    from graticule.errors import ConfigError

    sides = text.lower().replace("×", "x").split("x")
    if len(sides) != 2 or not all(side.strip().isdecimal() for side in sides):
        raise ConfigError(f"--min-size {text!r}, expected WIDTHxHEIGHT in pixels, as in 640x480.")
    first, second = (int(side) for side in sides)
    return max(first, second), min(first, second)
