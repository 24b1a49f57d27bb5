"""``graticule embed``: images and a model → feature vectors."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.model_options import add_model_options


@click.command()
@click.argument("images", type=click.Path(path_type=Path))
@add_model_options
@click.option(
    "--dtype", type=click.Choice(["float32", "float16"]), default="float32", show_default=True, help="Of the file."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("features.parquet"), show_default=True)
def embed(*, images: Path, dtype: str, output: Path, **options: object) -> None:
    """Write the features that a model makes of IMAGES.

    IMAGES is a table with a path in each row (as graticule scan writes it), or a folder. OUTPUT gets a row an image;
    those that cannot be read stand beside it in features.rejects.parquet, each with its reason. A run that was killed
    goes on where it stopped.

    \b
      graticule embed images.parquet --model timm/tf_efficientnet_lite0 -o features.parquet
      graticule embed images.parquet --model timm/resnet50 --weights resnet50.safetensors -o features.parquet
      graticule embed images.csv --model open_clip/ViT-B-32/openai --batch-size 64 -o features.parquet
    """
    from graticule.cli.model_options import ModelOptions, describe_result, open_images
    from graticule.models.extract import embed_images

    chosen = ModelOptions.parse(options)
    listed = open_images(images)
    model = chosen.load()
    result = embed_images(
        listed.images,
        base=listed.base,
        model=model,
        output=output,
        dtype=dtype,
        config=chosen.make_config(),
        inputs=listed.inputs,
    )
    what = f"{model.n_features} features an image"
    for line in describe_result(result, model, what=what):
        click.echo(line)
