"""``graticule adapt``: features, a source and a target → predictions of a model that was adapted to the target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from graticule.adaptation.adapt_files import AdaptFiles


@click.command(context_settings={"show_default": True})
@click.argument("given", metavar="FEATURES|PHOTOS", type=click.Path(path_type=Path))
@click.option("--images", type=click.Path(path_type=Path), help="With FEATURES: images table with labels.")
@click.option("--model", metavar="NAME", help="With PHOTOS: the network to adapt end to end, as in timm/resnet50.")
@click.option("--weights", metavar="FILE|hub|package|random", help="With --model: where its weights come from.")
@click.option("--layout", metavar="PATTERN", help="With PHOTOS: what the folders mean, as in '{region}/{label}'.")
@click.option(
    "--mirror/--no-mirror", "mirrors", default=True, help="With --model: whether training photos are mirrored."
)
@click.option("--source", metavar="QUERY", required=True, help="Labelled images to learn from; see below.")
@click.option("--target", metavar="QUERY", required=True, help="Images of the new geography; labels are not used.")
@click.option("--test", metavar="QUERY", help="Images to measure on.  [default: the target's]")
@click.option("--validation", metavar="QUERY", help="Labelled source images held out: for the drop and for --select.")
@click.option("--algorithm", default="cdan", help="How to adapt; an unknown name lists all.")
@click.option("--set", "options", multiple=True, metavar="NAME=VALUE", help="An option of the algorithm; repeatable.")
@click.option("--steps", type=click.INT, default=1000, help="Steps of the optimiser.")
@click.option("--batch-size", type=click.INT, default=32, help="Source images a step, and as many of the target.")
@click.option("--optimizer", default="sgd", help="sgd or adamw.")
@click.option("--learning-rate", type=click.FLOAT, help="Of new layers.  [default: the algorithm's]")
@click.option("--weight-decay", type=click.FLOAT, help="[default: the algorithm's]")
@click.option("--clip-norm", type=click.FLOAT, help="Longest gradient; longer ones are scaled down.  [default: none]")
@click.option("--precision", default="float32", help="float32, or bfloat16 for mixed precision.")
@click.option("--scale", default="overall", help="How features are scaled: overall, column, row or none.")
@click.option("--unknown", is_flag=True, help="The target may hold labels that the source has not.")
@click.option(
    "--threshold", default="published", help="When a label is unknown: published, or calibrated on the target."
)
@click.option("--select", default="last", help="Checkpoint to report: last, a validator, or oracle (an upper bound).")
@click.option("--checkpoint-every", type=click.INT, default=500, help="Steps between checkpoints; 0: the last only.")
@click.option("--device", default="cpu", help="cpu, cuda, cuda:1, mps, or auto for the fastest.")
@click.option("--log", "logs", multiple=True, metavar="NAME", help="Losses also to tensorboard or mlflow; repeatable.")
@click.option("--seed", type=click.INT, default=0, help="Same seed, same weights, to the bit.")
@click.option(
    "-o", "--output", "--resume", type=click.Path(path_type=Path), default=Path("run"), help="Folder; goes on from it."
)
def adapt(
    *,
    given: Path,
    images: Path | None,
    model: str | None,
    weights: str | None,
    layout: str | None,
    mirrors: bool,
    source: str,
    target: str,
    test: str | None,
    validation: str | None,
    algorithm: str,
    options: tuple[str, ...],
    steps: int,
    batch_size: int,
    optimizer: str,
    learning_rate: float | None,
    weight_decay: float | None,
    clip_norm: float | None,
    precision: str,
    scale: str,
    unknown: bool,
    threshold: str,
    select: str,
    checkpoint_every: int,
    device: str,
    logs: tuple[str, ...],
    seed: int,
    output: Path,
) -> None:
    """Adapt a classifier from a geography with labels to one without, and predict that one.

    FEATURES are adapted with a small head on top, in seconds; PHOTOS with a whole network, end to end.

    QUERY picks images by the columns of the images table: ==, !=, <, <=, >, >=, in, not in, and, or, not, is None.
    The folder gets predictions.parquet, metrics.parquet, config.toml and checkpoints/. A run that was stopped goes on
    from its latest checkpoint when the same command is typed again, to the same final weights. Type the same with
    --algorithm source_only to see what adapting gains: it may be nothing, or less.

    \b
      graticule adapt features.parquet --images images.parquet --source 'region == "Europe"' \\
        --target 'region == "Africa"' --algorithm cdan --seed 0 -o run/
      graticule adapt features.parquet --images images.parquet --source 'region == "Europe" and split == "train"' \\
        --target 'region == "Africa" and split == "train"' --test 'region == "Africa" and split == "test"' \\
        --validation 'region == "Europe" and split == "test"' --algorithm mcc --set temperature=3 -o run/
      graticule adapt PHOTOS --layout '{region}/{label}' --model timm/tf_efficientnet_lite0 \\
        --source 'region == "Europe"' --target 'region == "Africa"' --algorithm dann --resume run/
    """
    check_installed()
    from graticule.adaptation.adapt_config import AdaptConfig
    from graticule.adaptation.adapt_files import adapt_photos_to_folder, adapt_to_folder
    from graticule.adaptation.problem import Queries
    from graticule.adaptation.trainer_config import TrainerConfig
    from graticule.models.processors import count_workers

    check_pair(images=images, model=model)
    trainer = TrainerConfig(
        n_steps=steps,
        batch_size=batch_size,
        optimizer=optimizer,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        clip_norm=clip_norm,
        precision=precision,
        checkpoint_every=checkpoint_every,
        device=device,
        n_threads=count_workers() if model else 1,
    )
    config = AdaptConfig(
        algorithm=algorithm,
        options=read_pairs(options),
        trainer=trainer,
        scale=scale,
        allow_unknown=unknown,
        threshold=threshold,
        select=select,
        logs=logs,
    )
    queries = Queries(source=source, target=target, test=test, validation=validation)
    if model is not None:
        from graticule.adaptation.adapt_photos import NetworkChoice

        network = NetworkChoice(model=model, weights=weights, mirrors=mirrors)
        found = adapt_photos_to_folder(
            given, output, network=network, layout=layout, queries=queries, config=config, seed=seed
        )
    else:
        assert images is not None
        found = adapt_to_folder(given, output, images=images, queries=queries, config=config, seed=seed)
    for line in describe_run(found):
        click.echo(line)


def check_pair(*, images: Path | None, model: str | None) -> None:
    """Check that features come with a table of images, or photos with a network.

    Raises
    ------
    ConfigError
        Neither or both is given.
    """
    from graticule.errors import ConfigError

    if (images is None) == (model is None):
        given = "neither --images nor --model" if images is None else "both --images and --model"
        raise ConfigError(
            f"{given}: expected one of them. Give --images with a table of features, or --model with photos."
        )


def check_installed() -> None:
    """Check that the packages that training needs are there.

    Raises
    ------
    MissingExtraError
        One is not.
    """
    from importlib.util import find_spec

    from graticule.errors import MissingExtraError

    for package in ("torch", "safetensors"):
        if find_spec(package) is None:
            raise MissingExtraError(package, extra="models", needed_for="adaptation")


def read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as names and values.

    Raises
    ------
    ConfigError
        A text has no ``=``.
    """
    from graticule.errors import ConfigError

    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--set {pair}: expected NAME=VALUE, as in --set trade_off=0.5.")
        found[name.strip()] = value.strip()
    return found


def describe_run(found: AdaptFiles) -> list[str]:
    """Return what is printed of a run."""
    result = found.result
    facts = result.info["adaptation"]
    lines = [
        f"{facts['algorithm']}: {facts['n_source']} source images of {len(result.info['labels'])} labels → "
        f"{facts['n_target']} target images"
    ]
    shown = {
        "accuracy": "accuracy",
        "drop": "lost on the way",
        "closed_set_accuracy": "closed-set accuracy",
        "open_set_accuracy": "open-set accuracy",
        "h_score": "H-score",
    }
    rows = result.metrics.filter(result.metrics["label"].is_null() & result.metrics["group"].is_null())
    for metric, value, low, high, n in rows.select("metric", "value", "low", "high", "n").iter_rows():
        if metric in shown and n:
            lines.append(f"{shown[metric]}: {value:.1%} ({low:.1%} to {high:.1%}, {n} images)")
    lines += [f"note: {note}" for note in result.notes]
    lines.append(f"{result.predictions.height} images predicted → {found.folder / 'predictions.parquet'}")
    return lines
