"""``graticule compare-models``: many models on the same images, by region, with paired tests and robustness."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values


@click.command(cls=many_values("--predictions"), context_settings={"show_default": True})
@click.argument("images", type=click.Path(path_type=Path))
@click.option("--predictions", type=MANY, multiple=True, required=True, metavar="FILE…", help="One file a model.")
@click.option("--by", default="region", metavar="COLUMN", help="What is compared: region, country …")
@click.option("--source", metavar="REGION", help="Where the models were trained; for effective robustness.")
@click.option("--target", metavar="REGION", help="Where they are to serve.")
@click.option("--home", multiple=True, metavar="MODEL=REGION", help="Where a model was trained; repeatable.")
@click.option("--fit", default="probit", help="How target follows source accuracy: probit, logit or linear.")
@click.option("--bootstraps", type=click.INT, default=500, help="Draws behind the intervals.")
@click.option("--group", metavar="COLUMN", help="Images that show the same thing share a value.")
@click.option("--title", help="Title of the page.")
@click.option("--seed", type=click.INT, default=0, help="Seed of the draws.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("models"), help="Folder.")
def compare_models(**options: object) -> None:
    """Compare models on the same images: by region, in pairs, and by what they lose on the way.

    Each model's top-1 and top-5 accuracy in each region; where it was trained (its home), also its drop from there.
    Pairs of models are compared on the images that both predict (McNemar, and a bootstrap of the difference of their
    drops). With --source and --target, a line through all models tells what target accuracy their source accuracy
    promises; what a model has beyond it is its effective robustness. The folder gets index.html, metrics.parquet and
    .csv, transfer.csv and figures/.

    \b
      graticule compare-models images.parquet --predictions usa.parquet asia.parquet \\
        --home usa=USA --home asia=Asia -o models/
      graticule compare-models images.parquet --predictions runs/*.parquet --source USA --target Asia -o models/
    """
    from graticule.cli.compare_steps import CompareRequest, run_comparison

    for line in run_comparison(CompareRequest(**options)):  # pyright: ignore[reportArgumentType]
        click.echo(line)
