"""How long splits, balance, filters on columns, tags and statistics take on a made-up table of many images.

Run: python benchmarks/curation_steps.py [--images 1000000]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from graticule.curation.balance import balance_images
from graticule.curation.concepts.translations import make_concepts
from graticule.curation.filters.apply import filter_images
from graticule.curation.split_sizes import SplitSizes
from graticule.curation.splits import SplitConfig, split_images
from graticule.curation.statistics import measure_statistics

N_LABELS, N_REGIONS, N_WORKERS = 600, 6, 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1_000_000)
    n = parser.parse_args().images
    rng = np.random.default_rng(0)
    images = pl.DataFrame({"number": np.arange(n)}).select(
        pl.format("i{}", "number").alias("image_id"),
        pl.Series("label", rng.integers(0, N_LABELS, n)).cast(pl.String),
        pl.Series("region", rng.integers(0, N_REGIONS, n)).cast(pl.String),
        pl.Series("worker_id", rng.integers(0, N_WORKERS, n)).cast(pl.String),
        pl.Series("latitude", rng.uniform(-60, 70, n)),
        pl.Series("longitude", rng.uniform(-180, 180, n)),
    )
    names, others = rng.integers(0, 900, n).tolist(), rng.integers(0, 50_000, n).tolist()
    tagged = images.drop("label").with_columns(
        tags=pl.Series([[f"tag{name}", f"x{other}", "sky"] for name, other in zip(names, others, strict=True)])
    )
    concepts = make_concepts(
        pl.DataFrame(
            {"label": [f"l{k}" for k in range(N_LABELS)], "name": [f"tag{k}" for k in range(N_LABELS)]}
        ).select("label", pl.lit("en").alias("language"), "name")
    )

    def exact(**options: object) -> SplitConfig:
        sizes = SplitSizes.parse(["train=0.6", "validation=0.2", "test=0.2"])
        return SplitConfig(sizes=sizes, method="exact", **options)

    print(f"{n} images, {N_LABELS} labels, {N_REGIONS} regions")
    measure("split, hash", lambda: split_images(images))
    measure("split, exact", lambda: split_images(images, config=exact()))
    measure("split, exact, by worker", lambda: split_images(images, config=exact(groups=("worker_id",))))
    measure("split, exact, by place", lambda: split_images(images, config=exact(place_degrees=1.0)))
    measure("balance", lambda: balance_images(images))
    measure("three filters on columns", lambda: filter_images(images, ["location", "native_label", "min_images"]))
    measure("labels from tags", lambda: filter_images(tagged, ["one_label"], concepts=concepts))
    measure("statistics", lambda: measure_statistics({"images": images}))
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def measure(name: str, work: Callable[[], object]) -> None:
    start = time.perf_counter()
    work()
    print(f"{name:<28}{time.perf_counter() - start:>8.2f} s", flush=True)


if __name__ == "__main__":
    main()
