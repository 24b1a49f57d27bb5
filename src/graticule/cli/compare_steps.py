"""The steps of ``graticule compare-models``: the one place that joins the comparison and its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graticule.errors import ConfigError, shown

if TYPE_CHECKING:
    import polars as pl

    from graticule.data.predictions import Predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What was typed after ``compare-models``."""

    images: Path
    predictions: tuple[str, ...]
    by: str = "region"
    source: str | None = None
    target: str | None = None
    home: tuple[str, ...] = ()
    fit: str = "probit"
    bootstraps: int = 500
    group: str | None = None
    title: str | None = None
    seed: int = 0
    output: Path = Path("models")


def run_comparison(request: CompareRequest) -> list[str]:
    """Compare the models, write the folder, and return what to print.

    Raises
    ------
    GraticuleError
        Something given cannot be used; nothing is written.
    """
    from graticule import __version__
    from graticule.data.readers.images import read_images
    from graticule.data.store import describe_run, replace_atomically, write_table
    from graticule.data.tables import METRICS
    from graticule.evaluation.shift.transfer import TransferConfig, compare_transfer
    from graticule.report.explanation.models_page import ModelsPage, write_models

    images = read_images(request.images)
    predictions = _read_all(request.predictions)
    config = TransferConfig(
        by=request.by,
        source=request.source,
        target=request.target,
        home=_read_homes(request.home),
        fit=request.fit,
        group=request.group,
        n_bootstraps=request.bootstraps,
        seed=request.seed,
    )
    found = compare_transfer(images, predictions, config=config)
    output = request.output
    settings = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(request).items()}
    files = {Path(file).name: Path(file) for file in (str(request.images), *request.predictions)}
    made = describe_run("compare-models", config=settings, inputs=files, seed=request.seed)
    write_table(found.metrics, output / "metrics.parquet", METRICS, provenance=made)
    tables = {"metrics.csv": found.metrics, "transfer.csv": list_transfer(found.metrics, found.home)}
    for name, table in tables.items():
        with replace_atomically(output / name) as temporary:
            table.write_csv(temporary)
    page = write_models(
        output,
        ModelsPage(
            metrics=found.metrics,
            models=found.models,
            regions=found.regions,
            home=found.home,
            by=request.by,
            source=request.source or "",
            target=request.target or "",
            fit=request.fit,
            headline=found.headline,
            title=request.title or f"{len(found.models)} models by {request.by}",
            version=__version__,
        ),
    )
    return [*found.headline, f"Numbers: {output / 'metrics.csv'}", f"Page:    {page}"]


def list_transfer(metrics: pl.DataFrame, home: Mapping[str, str]) -> pl.DataFrame:
    """Return a row a model and region: top-1 and top-5 accuracy and the drops from home, as GeoNet's table 2 has it."""
    import polars as pl

    wide = {"accuracy": "top1", "top5_accuracy": "top5", "transfer_drop": "drop", "transfer_drop_top5": "drop_top5"}
    is_whole = pl.col("label").is_null() & pl.col("region").is_not_null()
    rows = metrics.filter(pl.col("metric").is_in(list(wide)) & is_whole)
    table = rows.pivot(on="metric", index=["model", "region"], values="value", aggregate_function="first")
    renamed = table.rename({old: new for old, new in wide.items() if old in table.columns})
    trained = [home.get(model, "") for model in renamed["model"].to_list()]
    return renamed.select(
        "model", pl.Series("trained_in", trained), pl.col("region").alias("tested_in"), pl.exclude("model", "region")
    )


def _read_all(files: tuple[str, ...]) -> list[Predictions]:
    """Return every file's predictions, each with a name of its own."""
    from graticule.data.readers.predictions import read_predictions

    found = [read_predictions(file) for file in files]
    names = [model.model for model in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not twice:
        return found
    stems = [Path(file).stem for file in files]
    if len(set(stems)) < len(stems):
        raise ConfigError(
            f"--predictions: several files are of a model called {shown(twice)}, and their files are named alike too; "
            "expected a name of its own for each. Rename the files."
        )
    return [
        read_predictions(file, name=stem) if model.model in twice else model
        for file, stem, model in zip(files, stems, found, strict=True)
    ]


def _read_homes(pairs: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        model, equals, region = pair.rpartition("=")
        if not equals or not model or not region:
            raise ConfigError(f"--home {pair}: expected MODEL=REGION, as in --home usa=USA.")
        found[model] = region
    return found
