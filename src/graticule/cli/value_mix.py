"""``graticule value mix``: what regional images do in the place of source images."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import many_values
from graticule.cli.value_options import (
    axes_option,
    group_option,
    images_option,
    output_option,
    penalty_option,
    seed_option,
    test_option,
)


@click.command(cls=many_values("--regions", "--shares"))
@click.argument("features", type=click.Path(path_type=Path))
@images_option
@click.option("--source", metavar="QUERY", required=True, help="Training images to start from.")
@click.option("--control", metavar="REGION", help="Region to read along.  [default: the source's most frequent]")
@click.option(
    "--regions", multiple=True, metavar="REGION…", help="Whose images come in.  [default: all but the source's]"
)
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="Column that holds the region.")
@test_option
@group_option
@click.option(
    "--shares", multiple=True, type=click.FLOAT, metavar="SHARE…", help="Steps.  [default: 0 0.25 0.5 0.75 1]"
)
@click.option("--budget", type=click.INT, metavar="N", help="Training images in all.  [default: the source's]")
@click.option("--seeds", "n_seeds", default=5, show_default=True, help="Draws of the images.")
@click.option("--bootstraps", default=500, show_default=True, help="Draws of the test images for error bars.")
@penalty_option
@axes_option
@seed_option
@output_option("mix")
def mix(
    *,
    features: Path,
    images: Path,
    source: str,
    control: str | None,
    regions: tuple[str, ...],
    by: str,
    test: str | None,
    group: str | None,
    shares: tuple[float, ...],
    budget: int | None,
    n_seeds: int,
    bootstraps: int,
    inverse_penalty: float,
    n_axes: int,
    seed: int,
    output: Path,
) -> None:
    """Replace source images by a region's, step by step, and see what it does there, in a control region and elsewhere.

    The number of training images and each label's share stay. Each label's gain in average precision comes with
    error bars; labels that gain most are named (GeoDE, section 6.2). Without --test a fifth of each region and label
    is set aside to test on.

    \b
      graticule value mix features.parquet --images images.parquet --test 'split == "test"' \\
        --source 'region == "Europe"' -o mix/
      graticule value mix features.parquet --images images.parquet --source 'dataset == "imagenet"' \\
        --control Europe --regions Africa EastAsia --shares 0 0.1 0.2 0.4 -o mix/
    """
    from graticule.cli.value_mix_steps import MixRequest, run_mix

    request = MixRequest(
        features=features,
        images=images,
        source=source,
        control=control,
        regions=regions,
        by=by,
        test=test,
        group=group,
        shares=shares,
        budget=budget,
        n_seeds=n_seeds,
        n_bootstraps=bootstraps,
        inverse_penalty=inverse_penalty,
        n_axes=n_axes,
        seed=seed,
        output=output,
    )
    for line in run_mix(request):
        click.echo(line)
