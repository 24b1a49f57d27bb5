"""``graticule value compare``: two data sets side by side."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import many_values
from graticule.cli.value_options import group_option, output_option, pair_images_option, seed_option


@click.command(cls=many_values("--images"))
@click.argument("first", metavar="A_FEATURES", type=click.Path(path_type=Path))
@click.argument("second", metavar="B_FEATURES", type=click.Path(path_type=Path))
@pair_images_option
@click.option("--by", metavar="COLUMN", help="Match regions too, and draw t-SNE of each label and region.")
@group_option
@click.option("--folds", "n_folds", default=5, show_default=True, help="Folds of the classifier.")
@click.option(
    "--neighbours", default=5, show_default=True, metavar="K", help="Neighbour whose distance counts as near."
)
@click.option("--distance", default="energy", show_default=True, help="energy, mmd, frechet or domain_classifier.")
@click.option("--permutations", default=199, show_default=True, help="Random deals of the images for each p-value.")
@click.option("--planes", default=8, show_default=True, metavar="N", help="Cells that t-SNE is drawn of; 0 for none.")
@seed_option
@output_option("comparison")
def compare(
    *,
    first: Path,
    second: Path,
    images: tuple[Path, ...],
    by: str | None,
    group: str | None,
    n_folds: int,
    neighbours: int,
    distance: str,
    permutations: int,
    planes: int,
    seed: int,
    output: Path,
) -> None:
    """Compare two data sets by their features.

    Can a linear classifier tell which of them an image is from (50% is chance), even with as many images of each label
    and region from both? How far do labels lie apart, against what chance gives? How much of each does the other cover
    (coverage, precision, recall and density of Naeem et al. 2020, within labels)?

    \b
      graticule value compare a_features.parquet b_features.parquet --images a_images.parquet b_images.parquet
      graticule value compare germany.parquet italy.parquet --images images.parquet --group sign -o signs/
    """
    from graticule.cli.value_compare_steps import CompareRequest, run_compare

    request = CompareRequest(
        features=(first, second),
        images=images,
        by=by,
        group=group,
        n_folds=n_folds,
        neighbours=neighbours,
        distance=distance,
        n_permutations=permutations,
        n_planes=planes,
        seed=seed,
        output=output,
    )
    for line in run_compare(request):
        click.echo(line)
