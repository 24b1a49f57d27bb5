"""``graticule curate``: from a pile of geotagged photos to a fair benchmark."""

from __future__ import annotations

import click

from graticule.cli.lazy_group import lazy_group

COMMANDS: dict[str, tuple[str, str]] = {
    "flickr": (
        "graticule.cli.curate_flickr:flickr",
        "Photos on Flickr by tags in many languages and area, with place and licence.",
    ),
    "flickr-positions": (
        "graticule.cli.curate_flickr:flickr_positions",
        "Where photos on Flickr were taken, by their numbers.",
    ),
    "concepts": (
        "graticule.cli.curate_concepts:concepts",
        "Labels that look different around the world; labels from tags in any script.",
    ),
    "filter": (
        "graticule.cli.curate_filter:filter_command",
        "Images that can be read, are large enough, have a place and one label …",
    ),
    "dedup": (
        "graticule.cli.curate_dedup:dedup",
        "Near-duplicates, within a set or between train and test; with a page of pairs.",
    ),
    "balance": (
        "graticule.cli.curate_balance:balance",
        "As many images of each label in every region; or a mix of two sources.",
    ),
    "split": (
        "graticule.cli.curate_split:split",
        "Train, validation and test, by region and label; nothing moves later.",
    ),
    "universal": (
        "graticule.cli.curate_universal:universal",
        "Labels that two regions share, and each one's own.",
    ),
    "stats": (
        "graticule.cli.curate_stats:stats",
        "Counts, maps and evenness of one data set, or of several side by side, as a page.",
    ),
}
"""Sub-command → where it is, and its line in ``graticule curate --help``."""


@click.group(cls=lazy_group(COMMANDS, name="graticule curate"))
def curate() -> None:
    """Make a fair benchmark of a pile of geotagged photos.

    Every step reads a table of images and writes one; what it leaves out stands in OUTPUT.rejects.parquet, a row an
    image with the reason, and nothing on disk is touched. Each step can be left out.

    \b
    From photos to a benchmark:
      graticule curate filter images.parquet --use location readable -o filtered.parquet
      graticule curate dedup filtered.parquet -o unique.parquet
      graticule curate balance unique.parquet --low 200 --high 300 -o balanced.parquet
      graticule curate split balanced.parquet --sizes train=0.85 test=0.15 -o split.parquet
      graticule curate stats split.parquet -o stats/

    Inputs may be Parquet, CSV, TSV, JSON or JSON Lines, compressed or not, or any layout that `graticule scan` reads.
    """
