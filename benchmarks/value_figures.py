"""The figures and the sentences of docs/value.md, from real data: GeoDE's features, and traffic signs of two countries.

    python benchmarks/value_figures.py OUTPUT            # GeoDE: compare, relative, mix, plan
    python benchmarks/value_figures.py OUTPUT --signs    # signs: embeds 3,387 photos first, then all four
    python benchmarks/value_figures.py OUTPUT --docs     # also copies GeoDE's figures into docs/figures

Runs the commands as they are typed and prints what they print.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

import numpy as np
import polars as pl

from graticule.cli.main import main as graticule

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("GRATICULE_SHARED", ROOT / ".." / "shared")).resolve()
FIGURES = {
    "compare/figures/coverage.svg": "value_coverage.svg",
    "relative/figures/relative_value.svg": "value_relative.svg",
    "mix/figures/mix_curves.svg": "value_mix.svg",
    "mix/figures/gains-africa.svg": "value_gains_africa.svg",
    "plan/figures/learning_curves.svg": "value_learning_curves.svg",
}


def run(*words):
    """Run a command and print how long it took."""
    print(f"\n$ graticule {' '.join(str(word) for word in words)}", flush=True)
    started = time.process_time()
    try:
        graticule([str(word) for word in words])
    except SystemExit as ended:
        if ended.code:
            raise
    print(f"({time.process_time() - started:.0f} CPU s)", flush=True)


def write_geode(output):
    """Write GeoDE's tables: all images, and Europe's and Africa's features apart."""
    folder = SHARED / "data/geode_pass_features"
    rows = pl.read_parquet(folder / "rows.parquet")
    with np.load(folder / "features_f16.npz") as file:
        vectors = file["features"].astype(np.float32)
    images = rows.select(
        pl.format("geode_{}", pl.col("row")).alias("image_id"), pl.col("object").alias("label"), "region", "split"
    )
    column = pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))
    write(output, images, images.select("image_id").with_columns(features=column), by="region")


def write_signs(output):
    """Write the signs' tables: photos embedded by EfficientNet-Lite0."""
    from graticule.data.store import read_table
    from graticule.data.tables import FEATURES
    from graticule.models.extract import embed_images
    from graticule.models.registry import load_model

    folder = SHARED / "images/signs_de_it"
    stem = pl.col("file").str.split("/").list.last().str.split("_").list.first()
    images = pl.read_csv(folder / "index.csv").select(
        pl.col("file").alias("image_id"),
        pl.col("file").alias("path"),
        pl.col("class").alias("label"),
        pl.col("domain").str.to_titlecase().alias("region"),
        # Germany's tracks are numbered within a class; Italy's signs throughout.
        pl.when(pl.col("domain") == "germany")
        .then(pl.format("germany {} {}", "class", stem))
        .otherwise(pl.format("italy {}", stem))
        .alias("sign"),
    )
    place = output / "embedded.parquet"
    if not place.exists():
        embed_images(images, base=folder, model=load_model("timm/tf_efficientnet_lite0"), output=place)
    write(output, images, read_table(place, FEATURES), by="region")


def write(output, images, features, *, by):
    """Write images, all features, and those of each region."""
    output.mkdir(parents=True, exist_ok=True)
    images.write_parquet(output / "images.parquet")
    features.write_parquet(output / "features.parquet")
    for region in images[by].unique().sort():
        own = images.filter(pl.col(by) == region)
        features.join(own, on="image_id", how="semi").write_parquet(output / f"{region}.parquet")


def main():
    """Make the tables and run the four commands."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--signs", action="store_true")
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    output = given.output / ("signs" if given.signs else "geode")
    if given.signs:
        write_signs(output)
        first, second = output / "Germany.parquet", output / "Italy.parquet"
        test, group, budget = [], ["--group", "sign"], 216
        source = 'region == "Germany"'
    else:
        write_geode(output)
        first, second = output / "Europe.parquet", output / "Africa.parquet"
        test, group, budget = ["--test", 'split == "test"'], [], 540
        source = 'region == "Europe"'
    features, images = output / "features.parquet", ["--images", output / "images.parquet"]
    run("value", "compare", first, second, *images, *group, "-o", output / "compare")
    run("value", "relative", first, second, *images, *group, "-o", output / "relative")
    run("value", "mix", features, *images, "--source", source, *test, *group, "-o", output / "mix")
    run("value", "plan", features, *images, "--budget", budget, *group, "-o", output / "plan")
    if given.docs and not given.signs:
        for figure, name in FIGURES.items():
            shutil.copyfile(output / figure, ROOT / "docs" / "figures" / name)


if __name__ == "__main__":
    main()
