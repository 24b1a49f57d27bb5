"""What the three heuristics of concepts say of a table of images and its features, and how long each takes.

Run: python benchmarks/curation_concepts.py IMAGES FEATURES.parquet

The cluster heuristic is printed in both readings and for several numbers of clusters.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from graticule.curation.concepts import HEURISTICS
from graticule.curation.concepts.concept import READINGS, ConceptConfig, RegionFeatures, join_features
from graticule.curation.concepts.rank import load_heuristic
from graticule.data.readers.images import read_images
from graticule.data.store import read_table
from graticule.data.tables import FEATURES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", type=Path)
    parser.add_argument("features", type=Path)
    given = parser.parse_args()
    data = join_features(read_images(given.images), read_table(given.features, FEATURES))
    print(f"{len(data.label)} images, {len(data.labels)} labels, {len(data.regions)} regions")
    for name in HEURISTICS:
        if name != "cluster_gini":
            show(name, data, ConceptConfig())
            continue
        for n_clusters in (None, 10, 20):
            for reading in READINGS:
                show(name, data, ConceptConfig(reading=reading, n_clusters=n_clusters))


def show(name: str, data: RegionFeatures, config: ConceptConfig) -> None:
    start = time.perf_counter()
    found = load_heuristic(name)(data, config)
    elapsed_s = time.perf_counter() - start
    how = f", {config.reading}, {config.n_clusters or len(data.regions)} clusters" if name == "cluster_gini" else ""
    print(f"\n{name}{how}: {elapsed_s:.1f} s")
    for label, value, low, high, is_kept in zip(
        data.labels, found.value, found.low, found.high, found.is_kept, strict=True
    ):
        print(f"  {label:<24}{value:.2f} [{low:.2f}, {high:.2f}] {'kept' if is_kept else ''}")


if __name__ == "__main__":
    main()
