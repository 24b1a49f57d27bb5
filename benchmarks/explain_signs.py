"""Two countries' traffic signs, ready for `graticule explain`: a table of images, and masks of the signs' shapes.

The photos are crops with the sign in the middle and a margin of about a tenth on each side. So the mask of a sign is
its shape over the middle 80 % of the crop: a triangle on its base for warnings, on its tip for "yield", an octagon for
"stop", an ellipse for all others. It knows the sign's class and nothing of its place: some rim is wrong.

    python benchmarks/explain_signs.py ../shared/images/signs_de_it /tmp/signs
    graticule embed /tmp/signs/images.parquet --model timm/tf_efficientnet_lite0 -o /tmp/signs/features.parquet
    graticule probe /tmp/signs/features.parquet --images /tmp/signs/images.parquet --group sign \\
        --train 'region == "germany"' -o /tmp/signs/germany.parquet --name "trained in Germany"
    graticule explain /tmp/signs/images.parquet --predictions /tmp/signs/germany.parquet \\
        --features /tmp/signs/features.parquet --masks /tmp/signs/masks --model timm/tf_efficientnet_lite0 \\
        --group sign --source 'region == "germany"' --target 'region == "italy"' -o /tmp/signs/explain
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import polars as pl
from PIL import Image, ImageDraw

from graticule.data.store import write_table
from graticule.data.tables import IMAGES

WARNINGS = {
    "bumpy_road", "children", "curve_left", "curve_right", "other_danger", "priority_next_crossing", "road_works",
    "slippery", "wild_animals",
}  # fmt: skip
SHARE = 0.8


def list_signs(folder: Path) -> pl.DataFrame:
    """Return the images with the sign that each shows; GTSRB numbers its tracks within a class, Italy its photos."""
    stem = pl.col("file").str.split("/").list.last().str.split("_").list.first()
    return pl.read_csv(folder / "index.csv").select(
        pl.col("file").alias("image_id"),
        (pl.lit(f"{folder.resolve()}/") + pl.col("file")).alias("path"),
        pl.col("class").alias("label"),
        pl.col("domain").alias("region"),
        pl.when(pl.col("domain") == "germany")
        .then(pl.format("germany {} {}", "class", stem))
        .otherwise(pl.format("italy {}", stem))
        .alias("sign"),
    )


def draw_mask(label: str, size: tuple[int, int]) -> Image.Image:
    """Return the mask of a sign of some class."""
    width, height = size
    mask = Image.new("L", size, 0)
    draw = ImageDraw.Draw(mask)
    left, top = (1 - SHARE) / 2 * width, (1 - SHARE) / 2 * height
    right, bottom = width - left, height - top
    if label in WARNINGS:
        draw.polygon([(width / 2, top), (right, bottom), (left, bottom)], fill=255)
    elif label == "yield":
        draw.polygon([(left, top), (right, top), (width / 2, bottom)], fill=255)
    elif label == "stop":
        turns = [math.pi / 8 + place * math.pi / 4 for place in range(8)]
        reach = 1 / math.cos(math.pi / 8)
        across, down = SHARE * width / 2 * reach, SHARE * height / 2 * reach
        draw.polygon(
            [(width / 2 + across * math.cos(turn), height / 2 + down * math.sin(turn)) for turn in turns], fill=255
        )
    else:
        draw.ellipse([left, top, right, bottom], fill=255)
    return mask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("signs", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    images = list_signs(given.signs)
    write_table(images, given.output / "images.parquet", IMAGES)
    for image_id, path, label in images.select("image_id", "path", "label").iter_rows():
        place = given.output / "masks" / Path(image_id).with_suffix(".png")
        place.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(path) as photo:
            draw_mask(label, photo.size).save(place)
    print(f"{images.height} images and masks → {given.output}")


if __name__ == "__main__":
    main()
