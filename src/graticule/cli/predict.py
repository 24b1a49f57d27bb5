"""``graticule predict``: images and a model → a score for each label."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.label_options import LabelOptions, add_label_options
from graticule.cli.model_options import add_model_options


@click.command()
@click.argument("images", type=click.Path(path_type=Path))
@add_model_options
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Labels to score: prompts for a CLIP-like model, or which of the model's classes each one is.",
)
@add_label_options
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("predictions.parquet"), show_default=True)
def predict(
    *,
    images: Path,
    labels: Path | None,
    templates: str | None,
    aggregation: str | None,
    others: str | None,
    output: Path,
    **options: object,
) -> None:
    """Write the scores that a model gives IMAGES.

    IMAGES is a table with a path in each row (as graticule scan writes it), or a folder. Without --labels the scores
    are those of the model's own classes. OUTPUT gets a row an image; those that cannot be read stand beside it in
    predictions.rejects.parquet, each with its reason. A run that was killed goes on where it stopped.

    \b
      graticule predict images.parquet --model timm/tf_efficientnet_lite0 -o predictions.parquet
      graticule predict images.parquet --model timm/resnet50 --labels labels.yaml -o predictions.parquet
      graticule predict images.parquet --model open_clip/ViT-B-32/openai --labels labels.yaml --templates clip80
    """
    from graticule.cli.model_options import ModelOptions, describe_result, open_images
    from graticule.models.predict import make_head, predict_with

    chosen = ModelOptions.parse(options)
    asked = LabelOptions(templates=templates, aggregation=aggregation, others=others)
    label_space = asked.make_label_space()
    listed = open_images(images)
    model = chosen.load()
    head = make_head(model, labels, zero_shot=asked.make_zero_shot(), label_space=label_space)
    files = {**listed.inputs, **({labels.name: labels} if labels else {})}
    result = predict_with(
        head,
        listed.images,
        base=listed.base,
        model=model,
        output=output,
        config=chosen.make_config(),
        inputs=files,
    )
    for line in describe_result(result, model, what=f"{head.kind} of {len(head.labels)} labels"):
        click.echo(line)
