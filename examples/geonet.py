"""GeoNet's benchmark on its own lists: how much accuracy is lost between the USA and Asia, and what adapting wins back.

Needs the photos of GeoNet (https://tarun005.github.io/GeoNet) and its lists, ``usa_train.txt`` and so on, a path and a
label's number a line, gzipped or not. Nothing is fetched.

    python examples/geonet.py --photos GeoNet/GeoImNet --lists GeoNet/GeoImNet -o geoimnet/
    python examples/geonet.py --photos … --lists … --model timm/vit_base_patch16_224 --model timm/resnet50 -o more/
    python examples/geonet.py --photos … --lists … --end-to-end --recipe official -o end_to_end/

The default adapts a head on frozen features, which takes minutes and is not comparable with GeoNet's tables 2 and 4;
``--end-to-end`` trains as they were trained. Tables go to the folder: accuracies (table 4), drops between home and
target (table 2; with several --model the drops of figure 7), relative accuracy gains (figure 1). ``--balanced N``
keeps labels with at least N training photos in both regions, and N of each (table 3). What is finished is kept.

Recipes of ``--end-to-end``: ``paper`` is section 4.2 (rates 0.01 and 0.001, last checkpoint); ``official`` is that of
the public code (0.03 and 0.003, 100,000 steps, a check every 5,000, and the best check on the target's test labels:
an oracle, and named so). The paper does not say how many steps; 30,000 are taken.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.adapt_files import adapt_photos_to_folder
from graticule.adaptation.adapt_photos import NetworkChoice
from graticule.adaptation.grid.benchmark import run_benchmark
from graticule.adaptation.grid.plan import Cell
from graticule.adaptation.grid.run_cells import Finished
from graticule.adaptation.grid.summary import collect, summarise
from graticule.adaptation.grid.writers import WRITERS
from graticule.adaptation.problem import Queries
from graticule.adaptation.toml_text import write_toml
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.data.store import write_table, write_text
from graticule.data.tables import IMAGES
from graticule.errors import FileError, TableError
from graticule.models.extract import embed_images
from graticule.models.registry import load_model

METHODS = "source_only,dann,cdan,mcc,safn,mdd,mcd,toalign,memsac,target_supervised"
RECIPES = {
    "paper": (TrainerConfig(n_steps=30_000, learning_rate=0.01, checkpoint_every=5000), "last"),
    "official": (TrainerConfig(n_steps=100_000, learning_rate=0.03, gamma=1e-3, checkpoint_every=5000), "oracle"),
}
"""Name → settings and which checkpoint is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A source and a target region."""

    source: str
    target: str

    @property
    def name(self) -> str:
        """How the task is called in the tables."""
        return f"{self.source} → {self.target}"

    def make_queries(self) -> Queries:
        """Return train splits to adapt with and test splits to measure on."""
        one, other = (f'region == "{region}"' for region in (self.source, self.target))
        return Queries(
            source=f'{one} and split == "train"',
            target=f'{other} and split == "train"',
            test=f'{other} and split == "test"',
            validation=f'{one} and split == "test"',
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the lists, run the methods and print the tables."""
    given = make_parser(__doc__, METHODS).parse_args(arguments)
    images = read_lists(given.lists, regions=given.regions)
    if given.balanced:
        images = balance(images, given.balanced)
    one, other = given.regions
    tasks = [Task(source=one, target=other), Task(source=other, target=one)]
    run_all(images, tasks, given, allow_unknown=False)


def make_parser(text: str | None, methods: str) -> argparse.ArgumentParser:
    """Return the options that both of GeoNet's examples have."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, required=True, help="folder that the lists' paths start from")
    parser.add_argument("--lists", type=Path, required=True, help="folder with usa_train.txt, usa_test.txt, …")
    parser.add_argument("--regions", nargs=2, default=("usa", "asia"), metavar="REGION")
    parser.add_argument("--model", action="append", help="network, repeatable (default timm/resnet50)")
    parser.add_argument("--weights", help="where its weights come from")
    parser.add_argument("--methods", default=methods)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="instead of the recipe's")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--balanced", type=int, help="photos of each label, as in GeoNet's table 3")
    parser.add_argument("--end-to-end", action="store_true")
    parser.add_argument("--recipe", choices=RECIPES, default="paper")
    parser.add_argument("-o", "--output", type=Path, default=Path("geonet"))
    return parser


def read_lists(folder: Path, *, regions: Sequence[str]) -> pl.DataFrame:
    """Return an images table of the regions' lists."""
    rows: list[tuple[str, str, str, str]] = []
    for region in regions:
        for split in ("train", "test"):
            place = find_list(folder, region, split)
            for number, line in enumerate(read_lines(place), start=1):
                path, _, label = line.rpartition(" ")
                if not path or not label.isdigit():
                    raise TableError(
                        f"{place} row {number}: {line!r}, expected a path and a label's number. Is it GeoNet's list?"
                    )
                rows.append((path, f"{int(label):03d}", region, split))
    table = pl.DataFrame(rows, schema=["path", "label", "region", "split"], orient="row")
    return table.with_columns(image_id=pl.col("path")).unique("image_id", keep="first", maintain_order=True)


def find_list(folder: Path, region: str, split: str) -> Path:
    """Return the file of a list, gzipped or not; a prefix before it, as in ``uniDA__usa_train.txt``, is fine."""
    name = re.compile(rf"(.*__)?{region}_{split}\.txt(\.gz)?")
    found = [place for place in sorted(folder.iterdir()) if name.fullmatch(place.name)] if folder.is_dir() else []
    if len(found) != 1:
        raise FileError(
            f"{folder}: {len(found)} lists of '{region}_{split}.txt', expected one. Does --lists name the folder with "
            "GeoNet's lists of one data set?"
        )
    return found[0]


def read_lines(place: Path) -> list[str]:
    """Return the lines of a text file that may be gzipped."""
    raw = place.read_bytes()
    return (gzip.decompress(raw) if place.suffix == ".gz" else raw).decode("utf-8").split("\n")[:-1]


def balance(images: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return images of labels that have n training photos in both regions, and n of these."""
    trained = images.filter(split="train")
    counts = trained.group_by("label", "region").len().filter(pl.col("len") >= n)
    kept = counts.group_by("label").len().filter(pl.col("len") == images["region"].n_unique())["label"]
    chosen = images.filter(pl.col("label").is_in(kept.implode()))
    train = chosen.filter(split="train").sample(fraction=1, shuffle=True, seed=0).group_by("region", "label").head(n)
    return pl.concat([train.select(images.columns), chosen.filter(pl.col("split") != "train")])


def run_all(images: pl.DataFrame, tasks: Sequence[Task], given: argparse.Namespace, *, allow_unknown: bool) -> None:
    """Run everything that was asked for, write the tables and print them."""
    given.output.mkdir(parents=True, exist_ok=True)
    write_table(images.drop("path"), given.output / "images.parquet", IMAGES)
    models = given.model or ["timm/resnet50"]
    if given.end_to_end:
        run_end_to_end(images, tasks, given, models=models, allow_unknown=allow_unknown)
    else:
        run_on_features(images, tasks, given, models=models, allow_unknown=allow_unknown)
    print((given.output / "tables.md").read_text("utf-8"))


def run_on_features(
    images: pl.DataFrame,
    tasks: Sequence[Task],
    given: argparse.Namespace,
    *,
    models: Sequence[str],
    allow_unknown: bool,
) -> None:
    """Extract features once a network, and run a benchmark of heads on them."""
    names = {model: model.replace("/", "-") for model in models}
    for model, name in names.items():
        place = given.output / f"{name}.parquet"
        if not place.is_file():
            embed_images(images, base=given.photos, model=load_model(model, weights=given.weights), output=place)
    plan = {
        "algorithms": given.methods.split(","),
        "seeds": given.seeds,
        "trainer": {"n_steps": given.steps or 1000, "batch_size": given.batch_size},
    }
    dataset = {"name": given.lists.name, "images": "images.parquet", "allow_unknown": allow_unknown}
    parts = [write_toml(plan), "[[datasets]]\n" + write_toml(dataset)]
    parts.append("[datasets.backbones]\n" + write_toml({name: f"{name}.parquet" for name in names.values()}))
    for task in tasks:
        queries = task.make_queries()
        told = {"name": task.name, "source": queries.source, "target": queries.target}
        told |= {"test": queries.test, "validation": queries.validation}
        parts.append("[[datasets.tasks]]\n" + write_toml(told))
    (given.output / "grid.toml").write_text("\n".join(parts), encoding="utf-8")
    run_benchmark(given.output / "grid.toml", given.output)


def run_end_to_end(
    images: pl.DataFrame,
    tasks: Sequence[Task],
    given: argparse.Namespace,
    *,
    models: Sequence[str],
    allow_unknown: bool,
) -> None:
    """Train whole networks, one after another; a folder that is finished or begun is gone on from."""
    trainer, select = RECIPES[given.recipe]
    table = given.output / "photos.parquet"
    absolute = pl.lit(str(given.photos.resolve()) + "/") + pl.col("path")
    write_table(images.with_columns(path=absolute), table, IMAGES)
    changes = {"n_steps": given.steps} if given.steps else {}
    finished: list[Finished] = []
    for model in models:
        network = NetworkChoice(model=model, weights=given.weights)
        for task in tasks:
            for method in given.methods.split(","):
                for seed in range(given.seeds):
                    config = AdaptConfig(
                        algorithm=method,
                        trainer=replace_trainer(trainer, batch_size=given.batch_size, **changes),
                        select=select,
                        allow_unknown=allow_unknown,
                    )
                    cell = Cell(
                        dataset=f"{given.lists.name}, end to end, {given.recipe}, {select} checkpoint",
                        backbone=model,
                        task=task.name,
                        features=table,
                        images=table,
                        queries=task.make_queries(),
                        config=config,
                        seed=seed,
                    )
                    run = adapt_photos_to_folder(
                        table,
                        given.output
                        / "runs"
                        / model.replace("/", "-")
                        / f"{task.source}-{task.target}"
                        / method
                        / f"{seed}",
                        network=network,
                        queries=cell.queries,
                        config=config,
                        seed=seed,
                    )
                    finished.append(Finished(cell=cell, metrics=run.result.metrics))
    tables = tuple(summarise(collect(finished)))
    for ending, write in WRITERS.items():
        write_text(write(tables), given.output / f"tables.{ending}")


def replace_trainer(trainer: TrainerConfig, **changes: int) -> TrainerConfig:
    """Return settings with some changed, on as many threads as the machine has cores."""
    from dataclasses import replace

    from graticule.models.processors import count_workers

    return replace(trainer, n_threads=count_workers(), **changes)


if __name__ == "__main__":
    main()
