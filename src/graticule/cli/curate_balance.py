"""``graticule curate balance``: labels that weigh alike in every region, or a mix of two sources."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.errors import ConfigError


@click.command()
@click.argument("source", metavar="IMAGES", type=click.Path(path_type=Path))
@click.option("--low", type=click.IntRange(1), metavar="N", help="Labels with fewer in a region go.  [default: 200]")
@click.option("--high", type=click.IntRange(1), metavar="N", help="Of more, so many are drawn.  [default: 300]")
@click.option("--equal", metavar="N|smallest", help="The same number in every label of every region.")
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="What is balanced …")
@click.option("--stratify", default="label", show_default=True, metavar="COLUMN", help="… in each value of this.")
@click.option("--mix", "second", type=click.Path(path_type=Path), metavar="FILE", help="Mix with images of this table.")
@click.option("--share", type=float, metavar="S", help="With --mix: its share in every label.  [default: 0.5]")
@click.option("--budget", type=int, metavar="N", help="With --mix: images in all.  [default: as many as IMAGES]")
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("balanced.parquet"), show_default=True)
def balance(
    *,
    source: Path,
    low: int | None,
    high: int | None,
    equal: str | None,
    by: str,
    stratify: str,
    second: Path | None,
    share: float | None,
    budget: int | None,
    layout: str | None,
    seed: int,
    output: Path,
) -> None:
    """Draw a subset in which each label has about as many images in every region.

    Labels with fewer than --low images in any region are dropped. With --mix, images of another table take the place
    of as many of IMAGES, label by label, so that size and label shares stay.

    \b
    200 to 300 images of each label in every region, as GeoNet's balanced version:
      graticule curate balance images.parquet --low 200 --high 300 -o balanced.parquet
    The same number everywhere: 150, or as many as the smallest cell has:
      graticule curate balance images.parquet --equal 150 -o balanced.parquet
      graticule curate balance images.parquet --equal smallest --low 50 -o balanced.parquet
    10,000 images, 30 % of each label from another source:
      graticule curate balance imagenet.parquet --mix geode.parquet --share 0.3 --budget 10000 -o mixed.parquet
    """
    from graticule.curation.balance import SMALLEST, BalanceConfig
    from graticule.curation.balance_files import balance_file, mix_files
    from graticule.curation.mix import MixConfig

    usual = BalanceConfig()
    if second is not None:
        if low is not None or high is not None or equal is not None:
            raise ConfigError("--mix with --low, --high or --equal: expected one of the two. Balance first, then mix.")
        mixed = MixConfig(share=0.5 if share is None else share, budget=budget, seed=seed)
        lines = mix_files(source, second, output, config=mixed, layout=layout)
    else:
        if share is not None or budget is not None:
            raise ConfigError("--share and --budget belong to --mix FILE, which is not given. Name the other table.")
        is_smallest = equal == SMALLEST
        number = None if equal is None or is_smallest else _read_number(equal)
        if number is not None and (low is not None or high is not None):
            raise ConfigError("--equal with --low or --high: expected one of the two.")
        config = BalanceConfig(
            low=number or low or (1 if is_smallest else min(usual.low, high or usual.low)),
            high=number or high or max(usual.high, low or usual.high),
            is_smallest=is_smallest,
            by=by,
            stratify=stratify,
            seed=seed,
        )
        lines = balance_file(source, output, config=config, layout=layout)
    for sentence in lines:
        click.echo(sentence)


def _read_number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"--equal {text!r}, expected a whole number of images, or 'smallest'.")
    return int(text)
