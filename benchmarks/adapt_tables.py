"""Tables of adaptation on real features: all ordered pairs of regions, with and without labels that the source has not.

    python benchmarks/adapt_tables.py office -o tables/             # Office-Caltech-10, 12 directed tasks
    python benchmarks/adapt_tables.py geode -o tables/              # GeoDE's features, 30 directed pairs of regions
    python benchmarks/adapt_tables.py signs -o tables/              # traffic signs, Germany and Italy, Lite0 features
    python benchmarks/adapt_tables.py office --universal -o tables/ # some labels on one side only
    python benchmarks/adapt_tables.py office --algorithms source_only,mcc --tasks 4 --seeds 2 -o tables/
    python benchmarks/adapt_tables.py office -o tables/ --into docs/adaptation.md   # between the page's markers

Runs are kept: the same command goes on where it was stopped. Nothing is chosen by target labels; every method has its
defaults. With --universal the first 60 % of the labels (in alphabetical order) are shared, and of the rest one half is
the source's and the other the target's; 'source_only' then rejects by entropy above ln(k)/2. Data lie in the folder
that GRATICULE_SHARED names.
"""

from __future__ import annotations

import argparse
import os
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from graticule.adaptation.grid.benchmark import run_benchmark
from graticule.adaptation.grid.writers.markdown import write_markdown
from graticule.adaptation.toml_text import write_toml
from graticule.data.store import write_table
from graticule.data.tables import FEATURES, IMAGES

SHARED = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()
CLOSED = "source_only,dann,cdan,mcc,safn,mdd,mcd,toalign,memsac,target_supervised"
UNIVERSAL = "source_only,unida,dance,ovanet"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=DATA)
    parser.add_argument("--universal", action="store_true")
    parser.add_argument("--algorithms")
    parser.add_argument("--tasks", type=int, help="only the first so many")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threshold", default="published")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--into", type=Path, help="a Markdown file with markers <!-- DATA-closed --> and <!-- end -->")
    parser.add_argument("-o", "--output", type=Path, default=Path("tables"))
    options = parser.parse_args()
    folder = options.output / options.data
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "features.parquet").is_file():
        images, vectors = DATA[options.data]()
        write_table(images, folder / "images.parquet", IMAGES)
        table = pl.DataFrame({"image_id": images["image_id"], "features": pl.Series(vectors)})
        write_table(table, folder / "features.parquet", FEATURES)
    name = "universal" if options.universal else "closed"
    name += "" if options.threshold == "published" else f"-{options.threshold}"
    plan = folder / f"{name}.toml"
    plan.write_text(make_plan(pl.read_parquet(folder / "images.parquet"), options), encoding="utf-8")
    found = run_benchmark(plan, folder / name, n_processes=options.processes)
    print(write_markdown(found.tables))
    if options.into:
        headline = "-h_score" if options.universal else "-features-accuracy"
        put_between_markers(
            options.into, f"{options.data}-{name}", [t for t in found.tables if t.key.endswith(headline)]
        )
    for one in found.failed:
        print(f"failed: {one.cell.folder}: {one.problem}")


def put_between_markers(place, name, tables):
    """Replace what stands in a file between a table's markers."""
    before, marker, rest = place.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not marker or not end:
        raise SystemExit(f"{place}: no markers '<!-- {name} -->' and '<!-- end -->'")
    text = write_markdown(tables).split("\n", 2)[2]
    place.write_text(f"{before}{marker}\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def make_plan(images, options):
    algorithms = options.algorithms or (UNIVERSAL if options.universal else CLOSED)
    labels = images["label"].unique().sort().to_list()
    n_shared = round(0.6 * len(labels))
    n_source = n_shared + (len(labels) - n_shared) // 2
    has_splits = "split" in images.columns
    tasks = []
    for one, other in permutations(images["region"].unique().sort().to_list(), 2):
        source, target = [f'region == "{one}"'], [f'region == "{other}"']
        if options.universal:
            source.append(f"label in {labels[:n_source]!r}")
            target.append(f"label in {labels[:n_shared] + labels[n_source:]!r}")
        task = {"name": f"{one} → {other}", "source": " and ".join(source), "target": " and ".join(target)}
        if has_splits:
            task["test"] = task["target"] + ' and split == "test"'
            task["validation"] = task["source"] + ' and split == "test"'
            task["source"] += ' and split == "train"'
            task["target"] += ' and split == "train"'
        tasks.append(task)
    head = {
        "algorithms": algorithms.split(","),
        "seeds": options.seeds,
        "threshold": options.threshold,
        "trainer": {"n_steps": options.steps},
    }
    dataset = {
        "name": options.data,
        "images": "images.parquet",
        "allow_unknown": options.universal,
        "backbones": {"features": "features.parquet"},
    }
    parts = [write_toml(head), "[[datasets]]\n" + write_toml({k: v for k, v in dataset.items() if k != "backbones"})]
    parts.append("[datasets.backbones]\n" + write_toml(dataset["backbones"]))
    parts += ["[[datasets.tasks]]\n" + write_toml(task) for task in tasks[: options.tasks]]
    return "\n".join(parts)


def read_office():
    rows, vectors = [], []
    for domain in ("amazon", "caltech10", "dslr", "webcam"):
        with np.load(SHARED / "data/da/office_caltech10_mobilenetv2" / f"{domain}.npz") as file:
            names = [str(name) for name in file["classes"]]
            rows += [(f"{domain}-{i:04d}", names[label], domain) for i, label in enumerate(file["y"])]
            vectors.append(file["X"].astype(np.float32))
    return pl.DataFrame(rows, schema=["image_id", "label", "region"], orient="row"), np.concatenate(vectors)


def read_geode():
    folder = SHARED / "data/geode_pass_features"
    with np.load(folder / "features_f16.npz") as file:
        vectors = file["features"].astype(np.float32)
    rows = pl.read_parquet(folder / "rows.parquet")
    ids = pl.Series("image_id", [f"{row:05d}" for row in range(rows.height)])
    return pl.DataFrame(
        {"image_id": ids, "label": rows["object"], "region": rows["region"], "split": rows["split"]}
    ), vectors


def read_signs():
    import tempfile

    from graticule.data.readers.images import read_images
    from graticule.models.extract import embed_images
    from graticule.models.registry import load_model

    folder = SHARED / "images/signs_de_it"
    images = read_images(folder, layout="{region}/{label}").select("image_id", "path", "label", "region")
    with tempfile.TemporaryDirectory() as place:
        model = load_model("timm/tf_efficientnet_lite0")
        embed_images(images, base=folder, model=model, output=Path(place) / "features.parquet")
        table = pl.read_parquet(Path(place) / "features.parquet")
    joined = images.drop("path").join(table.select("image_id", "features"), on="image_id")
    return joined.drop("features"), joined["features"].to_numpy()


DATA = {"office": read_office, "geode": read_geode, "signs": read_signs}


if __name__ == "__main__":
    main()
