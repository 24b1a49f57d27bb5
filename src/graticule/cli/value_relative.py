"""``graticule value relative``: how many images of one data set do the work of some of another."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import many_values
from graticule.cli.value_options import (
    axes_option,
    group_option,
    output_option,
    pair_images_option,
    penalty_option,
    seed_option,
)


@click.command(cls=many_values("--images"))
@click.argument("first", metavar="A_FEATURES", type=click.Path(path_type=Path))
@click.argument("second", metavar="B_FEATURES", type=click.Path(path_type=Path))
@pair_images_option
@group_option
@click.option("-n", "--number", default=250, show_default=True, metavar="N", help="Images of the baseline.")
@click.option("--seeds", "n_seeds", default=10, show_default=True, help="Draws of the images.")
@penalty_option
@axes_option
@seed_option
@output_option("relative")
def relative(
    *,
    first: Path,
    second: Path,
    images: tuple[Path, ...],
    group: str | None,
    number: int,
    n_seeds: int,
    inverse_penalty: float,
    n_axes: int,
    seed: int,
    output: Path,
) -> None:
    """Measure how many images of B do the work of N images of A on A, and the other way round.

    A probe is trained on N images of A and tested on the rest of A; then on more and more images of B, tested on the
    same images, until it does as well. Labels that only one has are left out. "Not reached with all of them" is an
    answer, too.

    \b
      graticule value relative a_features.parquet b_features.parquet --images a_images.parquet b_images.parquet
      graticule value relative germany.parquet italy.parquet --images images.parquet --group sign -n 400 -o signs/
    """
    from graticule.cli.value_relative_steps import RelativeRequest, run_relative

    request = RelativeRequest(
        features=(first, second),
        images=images,
        group=group,
        n_images=number,
        n_seeds=n_seeds,
        inverse_penalty=inverse_penalty,
        n_axes=n_axes,
        seed=seed,
        output=output,
    )
    for line in run_relative(request):
        click.echo(line)
