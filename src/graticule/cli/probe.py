"""``graticule probe``: features and a training query → predictions of a linear probe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from graticule.models.probe_files import ProbeFiles


@click.command(context_settings={"show_default": True})
@click.argument("features", type=click.Path(path_type=Path))
@click.option("--images", type=click.Path(path_type=Path), required=True, help="Images table with labels.")
@click.option("--train", metavar="QUERY", required=True, help="Which images to train on; see below.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("predictions.parquet"), help="Table to write."
)
@click.option("--group", metavar="COLUMN", help="Images that share a value stay in one fold: a sign, a shop, a person.")
@click.option(
    "--folds",
    "n_folds",
    type=click.INT,
    default=5,
    help="Training images are predicted by a probe that did not see their fold; 0 predicts them with the probe itself.",
)
@click.option(
    "--inverse-penalty", metavar="C", type=click.FLOAT, help="C, as in scikit-learn.  [default: cross-validated]"
)
@click.option("--choice", default="simplest", help="How C is chosen: simplest (within one standard error) or lowest.")
@click.option("--scale", default="overall", help="How features are scaled: overall, column, row or none.")
@click.option("--name", help="Name of the probe on pages.  [default: the features' model and the query]")
@click.option("--seed", type=click.INT, default=0, help="Deals the folds.")
def probe(
    *,
    features: Path,
    images: Path,
    train: str,
    output: Path,
    group: str | None,
    n_folds: int,
    inverse_penalty: float | None,
    choice: str,
    scale: str,
    name: str | None,
    seed: int,
) -> None:
    """Train a linear probe on some images, and predict every image of FEATURES.

    QUERY picks the training images by the columns of the images table: ==, !=, <, <=, >, >=, in, not in, and, or, not,
    is None. OUTPUT gets probabilities of the labels that the training images have. Training images are predicted by
    cross-validation, so that their accuracy is honest.

    \b
      graticule probe features.parquet --images images.parquet --train 'region == "Europe"' -o europe.parquet
      graticule probe features.parquet --images images.parquet --group track \\
        --train 'region in ["Europe", "Asia"] and split == "train"' -o predictions.parquet
    """
    from graticule.models.probe import ProbeConfig
    from graticule.models.probe_files import probe_to_file

    config = ProbeConfig(scale=scale, inverse_penalty=inverse_penalty, choice=choice, n_folds=n_folds, group=group)
    found = probe_to_file(features, output, images=images, train=train, config=config, seed=seed, name=name)
    for line in _describe(found):
        click.echo(line)


def _describe(found: ProbeFiles) -> list[str]:
    facts = found.result.info["probe"]
    labels = found.result.info["labels"]
    lines = [f"trained on {facts['n_train']} images of {len(labels)} labels, C = {facts['inverse_penalty']:g}"]
    home = facts.get("out_of_fold_accuracy")
    if home is not None:
        lines.append(f"accuracy on the training images, out of fold: {home:.1%}")
    else:
        lines.append(f"accuracy on the training images, as trained: {facts['training_accuracy']:.1%} (this flatters)")
    lines += [f"note: {note}" for note in found.result.notes]
    lines.append(f"{found.result.predictions.height} images predicted → {found.output}")
    return lines
