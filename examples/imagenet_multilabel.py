"""What is my model's real accuracy? From people's answers on ImageNet to scores that count what they see.

The answers are those of *From ImageNet to Image Classification* (Tsipras et al., 2020), the predictions those of
networks on ImageNet's validation images; a folder with both is named by --data (by default ``GRATICULE_SHARED``/data).
Nothing is fetched. The groups that are compared are the paper's eleven superclasses, in the place of regions.

    python examples/imagenet_multilabel.py --data ../shared/data -o imagenet_multilabel/
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from graticule.cli.main import cli

MODELS = ("alexnet", "resnet50", "pnasnet5large")


def main() -> None:
    """Write the tables, aggregate the answers, and audit the models against what people see."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GRATICULE_SHARED", "../shared")) / "data")
    parser.add_argument("-o", "--output", type=Path, default=Path("imagenet_multilabel"))
    given = parser.parse_args()
    output: Path = given.output
    output.mkdir(parents=True, exist_ok=True)
    write_images(given.data, output / "images.csv")
    write_answers(given.data, output / "answers.parquet")
    predictions = [write_predictions(given.data, output / f"{model}.parquet", model=model) for model in MODELS]
    run("annotate", "aggregate", output / "answers.parquet", "--method", "classify", "-o", output / "labels.parquet")
    run(
        *("audit", output / "images.csv", "--predictions", *predictions, "--labels", output / "labels.parquet"),
        *("--by", "superclass", "-o", output / "report"),
    )
    print_accuracies(output / "report" / "metrics.parquet")


def write_images(data: Path, path: Path) -> None:
    """Write the images that people were asked about: name, ImageNet's label, and the label's superclass."""
    superclasses = json.loads((data / "imagenet_multilabel" / "superclasses.json").read_text("utf-8"))
    group_of = {str(label): name for name, labels in superclasses.items() for label in labels}
    info = pl.read_parquet(data / "imagenet_multilabel" / "image_info.parquet").filter(pl.col("annotation") == "fu")
    label = pl.col("imagenet_label").cast(pl.String)
    info.select(image_id="image", label=label, superclass=label.replace_strict(group_of, default="Other")).write_csv(
        path
    )


def write_answers(data: Path, path: Path) -> None:
    """Write the CLASSIFY answers as Graticule's table of answers: a row for each label that a worker selected."""
    rows: list[tuple[str, str, str, str, str, bool]] = []
    for image in pl.read_parquet(data / "imagenet_multilabel" / "classify.parquet").iter_rows(named=True):
        for number, (selected, main_label) in enumerate(zip(image["selected"], image["main"], strict=True)):
            task = f"classify-{image['image']}"
            rows += [
                (task, "classify", f"{task}-{number}", image["image"], str(label), label == main_label)
                for label in dict.fromkeys(selected)
            ]
    schema = ["task_id", "kind", "worker_id", "image_id", "label", "is_main"]
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)


def write_predictions(data: Path, path: Path, *, model: str) -> Path:
    """Write a network's top five as a table of predictions, and return its path."""
    folder = data / "imagenetv2_model_predictions"
    top = np.load(folder / "top5_val50k_67models.npz")[model]
    images = pl.read_parquet(folder / "val_order.parquet")["file"]
    labels = pl.Series(top.tolist(), dtype=pl.List(pl.Int64)).cast(pl.List(pl.String))
    pl.DataFrame({"image_id": images, "top_labels": labels}).write_parquet(path)
    return path


def run(*words: object) -> None:
    """Type a command, and show it."""
    typed = [str(word) for word in words]
    print(f"\n$ graticule {' '.join(typed)}")
    cli.main(args=typed, standalone_mode=False)


def print_accuracies(metrics: Path) -> None:
    """Print each model's accuracy by ImageNet's label and by any label that people accept, overall."""
    table = pl.read_parquet(metrics).filter(
        pl.col("metric").is_in(["accuracy", "multi_label_accuracy"])
        & pl.col("region").is_null()
        & pl.col("label").is_null()
        & pl.col("group").is_null()
    )
    print("\nmodel            by the given label   by any accepted label")
    for model in MODELS:
        values = _values(table.filter(pl.col("model") == model), ["accuracy", "multi_label_accuracy"])
        print(f"{model:<17}{values[0]:>18.1%}{values[1]:>24.1%}")


def _values(rows: pl.DataFrame, metrics: Sequence[str]) -> list[float]:
    return [float(rows.filter(pl.col("metric") == metric)["value"][0]) for metric in metrics]


if __name__ == "__main__":
    main()
