"""``graticule value``: what images are worth, and which to buy next."""

from __future__ import annotations

import click

from graticule.cli.lazy_group import lazy_group

COMMANDS: dict[str, tuple[str, str]] = {
    "compare": (
        "graticule.cli.value_compare:compare",
        "Two data sets: can they be told apart, how far apart, does one cover the other?",
    ),
    "relative": (
        "graticule.cli.value_relative:relative",
        "How many images of one data set do the work of 250 of another, and back.",
    ),
    "mix": (
        "graticule.cli.value_mix:mix",
        "Source images replaced by regional ones at a fixed budget: what it does, and to which labels.",
    ),
    "plan": (
        "graticule.cli.value_plan:plan",
        "A budget → how many images of each region and label to buy, as a quota file.",
    ),
}
"""Sub-command → where it is, and its line in ``graticule value --help``."""


@click.group(cls=lazy_group(COMMANDS, name="graticule value"))
def value() -> None:
    """Find out what images are worth, and which to buy next.

    All four read features (graticule embed) and the images table with labels and regions, train linear probes, and
    write a folder: index.html (one page, no network), metrics.parquet and metrics.csv, figures/ (SVG and PNG).

    \b
    From two data sets to a shopping list:
      graticule value compare imagenet.parquet geode.parquet --images imagenet_images.parquet geode_images.parquet
      graticule value relative imagenet.parquet geode.parquet --images imagenet_images.parquet geode_images.parquet
      graticule value mix features.parquet --images images.parquet --source 'region == "Europe"' --control Europe
      graticule value plan features.parquet --images images.parquet --budget 1000 --price 1.08
    """
