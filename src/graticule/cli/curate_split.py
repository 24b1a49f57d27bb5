"""``graticule curate split``: train, validation and test."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values

USUAL_SIZES = ("train=0.85", "test=0.15")
LIKE: dict[str, dict[str, object]] = {
    "geode": {"sizes": ("train=0.6", "validation=0.2", "test=0.2"), "method": "exact", "by": "region"},
    "geonet": {"sizes": USUAL_SIZES, "method": "exact", "by": "region", "stratify": "label"},
}
"""Published split → the options that it stands for."""


@click.command(cls=many_values("--sizes", "--group"))
@click.argument("source", metavar="IMAGES", type=click.Path(path_type=Path))
@click.option(
    "--sizes",
    type=MANY,
    multiple=True,
    metavar="NAME=SIZE…",
    help="Shares, or images in each label of each region; one may be 'rest'.  [default: train=0.85 test=0.15]",
)
@click.option("--like", type=click.Choice(list(LIKE)), help="Sizes and method of a published data set.")
@click.option("--method", metavar="NAME", help="hash or exact; see below.  [default: hash; exact for counts]")
@click.option("--by", metavar="COLUMN", help="Sizes hold in each of its values.  [default: region]")
@click.option("--stratify", metavar="COLUMN", help="Spread evenly over its values.  [default: label]")
@click.option("--group", "groups", type=MANY, multiple=True, metavar="COLUMN…", help="Equal values stay on one side.")
@click.option("--place-degrees", type=float, metavar="D", help="Photos in one cell of D degrees stay on one side.")
@click.option("--key", default="image_id", show_default=True, metavar="COLUMN", help="Names an image to the draw.")
@click.option(
    "--previous", type=click.Path(path_type=Path), metavar="FILE", help="A table split before: its images stay put."
)
@click.option("--overwrite", is_flag=True, help="Deal images anew that have a split already.")
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("split.parquet"), show_default=True)
def split(
    *,
    source: Path,
    sizes: tuple[str, ...],
    like: str | None,
    method: str | None,
    by: str | None,
    stratify: str | None,
    groups: tuple[str, ...],
    place_degrees: float | None,
    key: str,
    previous: Path | None,
    overwrite: bool,
    layout: str | None,
    seed: int,
    output: Path,
) -> None:
    """Put each image into a split, by region and label, so that adding images moves none of the old ones.

    The method `hash` decides on each image by its own name: nothing ever moves, sizes are near those asked for. The
    method `exact` makes sizes exact in every region and even over labels; images that have a split (in IMAGES, or in
    --previous) keep it, and the others fill what is missing.

    \b
    15 % of every region for testing:
      graticule curate split images.parquet --sizes train=0.85 test=0.15 -o split.parquet
    The same, exactly, each worker and each cluster of duplicates on one side:
      graticule curate split images.parquet --method exact --group worker_id cluster -o split.parquet
    20 test images for each label of each region:
      graticule curate split images.parquet --sizes test=20 train=rest -o split.parquet
    60/20/20 in every region, as GeoDE's evaluation; then with images that came later:
      graticule curate split images.parquet --like geode -o split.parquet
      graticule curate split more.parquet --like geode --previous split.parquet -o split2.parquet
    """
    from graticule.curation.split_files import split_file
    from graticule.curation.split_sizes import SplitSizes
    from graticule.curation.splits import SplitConfig

    usual = LIKE.get(like or "", {})
    config = SplitConfig(
        sizes=SplitSizes.parse(sizes or usual.get("sizes", USUAL_SIZES)),  # pyright: ignore[reportArgumentType]
        method=method or usual.get("method"),  # pyright: ignore[reportArgumentType]
        by=by or usual.get("by"),  # pyright: ignore[reportArgumentType]
        stratify=stratify or usual.get("stratify"),  # pyright: ignore[reportArgumentType]
        groups=groups,
        place_degrees=place_degrees,
        key=key,
        overwrite=overwrite,
        seed=seed,
    )
    for sentence in split_file(source, output, config=config, previous=previous, layout=layout):
        click.echo(sentence)
