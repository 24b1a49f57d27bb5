"""``graticule value plan``: which images to buy next."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.value_options import (
    axes_option,
    group_option,
    images_option,
    output_option,
    penalty_option,
    seed_option,
    test_option,
)


@click.command()
@click.argument("features", type=click.Path(path_type=Path))
@images_option
@click.option("--budget", type=click.FLOAT, required=True, metavar="AMOUNT", help="What may be spent.")
@click.option("--price", default=1.08, show_default=True, metavar="AMOUNT", help="Of an image; GeoDE paid 1.08 USD.")
@click.option("--goal", default="worst", show_default=True, help="worst (region) or mean (of regions).")
@click.option("--most", type=click.INT, metavar="N", help="Images of one region and label at most.")
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="Column that holds the region.")
@test_option
@group_option
@click.option("--trials", "n_trials", default=32, show_default=True, help="Probes that the curves are fitted to.")
@penalty_option
@axes_option
@seed_option
@output_option("plan")
def plan(
    *,
    features: Path,
    images: Path,
    budget: float,
    price: float,
    goal: str,
    most: int | None,
    by: str,
    test: str | None,
    group: str | None,
    n_trials: int,
    inverse_penalty: float,
    n_axes: int,
    seed: int,
    output: Path,
) -> None:
    """Divide a budget among regions and labels so that accuracy gains most.

    Probes are trained on random numbers of images of each region and label; learning curves are fitted to what they get
    wrong; the budget goes where the curves say that it raises the worst region's accuracy (or the mean) most. The
    folder also gets quotas.csv and quotas.yaml (region, label, quota, price) for a collection campaign. Without --test,
    images are tested by probes that did not see them.

    \b
      graticule value plan features.parquet --images images.parquet --budget 1000 -o plan/
      graticule value plan features.parquet --images images.parquet --budget 540 --goal mean --most 50 \\
        --test 'split == "test"' -o plan/
    """
    from graticule.cli.value_plan_steps import PlanRequest, run_plan

    request = PlanRequest(
        features=features,
        images=images,
        budget=budget,
        price=price,
        goal=goal,
        most=most,
        by=by,
        test=test,
        group=group,
        n_trials=n_trials,
        inverse_penalty=inverse_penalty,
        n_axes=n_axes,
        seed=seed,
        output=output,
    )
    for line in run_plan(request):
        click.echo(line)
