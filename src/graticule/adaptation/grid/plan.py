"""What a benchmark runs, read from a TOML file and checked before anything starts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.problem import Queries
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.data.readers.images import read_images
from graticule.errors import ConfigError, FileError, TableError, unknown_choice

TOP_KEYS = ("algorithms", "seeds", "datasets", "trainer", "options", "select", "scale", "threshold")
DATASET_KEYS = ("name", "images", "backbones", "by", "train", "test", "tasks", "allow_unknown")
IN_A_GRID: dict[str, Any] = {"checkpoint_every": 0}
"""What differs from a single run's defaults: a run of a benchmark is short, and begun again when it was stopped."""
TASK_KEYS = ("name", "source", "target", "test", "validation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run of a benchmark.

    Parameters
    ----------
    dataset, backbone, task
        Names of the data set, of its features and of the pair of regions.
    features, images
        Files.
    queries
        Which images are what.
    config
        Algorithm and settings.
    seed
        Decides everything random.
    """

    dataset: str
    backbone: str
    task: str
    features: Path
    images: Path
    queries: Queries
    config: AdaptConfig
    seed: int

    @property
    def folder(self) -> Path:
        """Where it goes, below the benchmark's folder of runs."""
        parts = (self.dataset, self.backbone, self.task, self.config.algorithm, f"seed-{self.seed}")
        return Path(*(_make_file_name(part) for part in parts))


def read_plan(path: str | Path) -> tuple[Cell, ...]:
    """Return the runs of a benchmark, in the order of the file.

    Parameters
    ----------
    path
        A TOML file; files in it are relative to its folder.

    Raises
    ------
    ConfigError
        A key is unknown or missing, or a value has no meaning.
    FileError
        The file, or one that it names, is not there.
    """
    place = Path(path)
    try:
        told = tomllib.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{place}: cannot be read ({error}). Is the path right?") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{place}: not TOML ({error}). See 'graticule benchmark --help' for an example.") from error
    _check_keys(told, TOP_KEYS, where=str(place), required=("algorithms", "datasets"))
    configs = _make_configs(told, where=str(place))
    seeds = _read_seeds(told.get("seeds", 1), where=str(place))
    cells: list[Cell] = []
    for number, dataset in enumerate(_listed(told["datasets"], where=f"{place}: datasets")):
        cells += _list_cells(dataset, configs, seeds, folder=place.parent, where=f"{place}: data set {number + 1}")
    folders = [cell.folder for cell in cells]
    doubled = sorted({str(folder) for folder in folders if folders.count(folder) > 1})
    if doubled:
        raise ConfigError(f"{place}: {doubled[0]} is asked for twice; expected names that differ. Rename one.")
    return tuple(cells)


def _make_configs(told: Mapping[str, Any], *, where: str) -> list[AdaptConfig]:
    names = _listed(told["algorithms"], where=f"{where}: algorithms")
    for name in names:
        if name not in ALGORITHMS:
            raise unknown_choice("algorithm", str(name), ALGORITHMS, where=where)
    options = told.get("options", {})
    for name in options:
        if name not in names:
            raise unknown_choice("algorithm", str(name), names, where=f"{where}: options")
    trainer_keys = [field.name for field in fields(TrainerConfig)]
    trainer: dict[str, Any] = dict(told.get("trainer", {}))
    _check_keys(trainer, trainer_keys, where=f"{where}: trainer")
    more = {key: told[key] for key in ("select", "scale", "threshold") if key in told}
    return [
        AdaptConfig(
            algorithm=name,
            options=dict(options.get(name, {})),
            trainer=TrainerConfig(**(IN_A_GRID | trainer)),
            **more,
        )
        for name in names
    ]


def _read_seeds(given: object, *, where: str) -> list[int]:
    seeds = list(range(given)) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int and seed >= 0 for seed in seeds):  # pyright: ignore[reportUnknownVariableType]
        raise ConfigError(
            f"{where}: seeds is {given!r}, expected how many or a list, as in seeds = 5 or seeds = [0, 7]."
        )
    return seeds  # pyright: ignore[reportUnknownVariableType]


def _list_cells(dataset: Any, configs: list[AdaptConfig], seeds: list[int], *, folder: Path, where: str) -> list[Cell]:
    _check_keys(dataset, DATASET_KEYS, where=where, required=("name", "images", "backbones"))
    images = _find(folder, dataset["images"], where=where)
    backbones = dataset["backbones"]
    if not isinstance(backbones, dict) or not backbones:
        raise ConfigError(
            f'{where}: backbones is {backbones!r}, expected names and files, as in {{lite0 = "f.parquet"}}.'
        )
    tasks = _list_tasks(dataset, images, where=where)
    allow_unknown = bool(dataset.get("allow_unknown", False))
    return [
        Cell(
            dataset=str(dataset["name"]),
            backbone=str(backbone),
            task=task,
            features=_find(folder, features, where=where),
            images=images,
            queries=queries,
            config=replace(config, allow_unknown=allow_unknown),
            seed=seed,
        )
        for backbone, features in backbones.items()  # pyright: ignore[reportUnknownVariableType]
        for task, queries in tasks.items()
        for config in configs
        for seed in seeds
    ]


def _list_tasks(dataset: Mapping[str, Any], images: Path, *, where: str) -> dict[str, Queries]:
    """Return the tasks that are written out, or all ordered pairs of the values of a column."""
    if ("tasks" in dataset) == ("by" in dataset):
        raise ConfigError(f"{where}: expected either 'tasks' or 'by' (a column, as in by = \"region\"), and not both.")
    if "tasks" in dataset:
        found: dict[str, Queries] = {}
        for number, task in enumerate(_listed(dataset["tasks"], where=f"{where}: tasks")):
            at = f"{where}, task {number + 1}"
            _check_keys(task, TASK_KEYS, where=at, required=("source", "target"))
            name = str(task.get("name", f"{task['source']} → {task['target']}"))
            found[name] = Queries(**{key: str(value) for key, value in task.items() if key != "name"})
        return found
    column = str(dataset["by"])
    table = read_images(images)
    if column not in table.columns:
        raise unknown_choice("column", column, table.columns, where=f"{where}: by")
    if table[column].dtype != pl.String:
        raise TableError(f"{where}: column '{column}' holds {table[column].dtype}, expected text. Write out 'tasks'.")
    values = table[column].drop_nulls().unique().sort().to_list()
    train, test = dataset.get("train"), dataset.get("test")
    pairs: dict[str, Queries] = {}
    for one in values:
        for other in values:
            if one == other:
                continue
            pairs[f"{one} → {other}"] = Queries(
                source=_join(column, one, train),
                target=_join(column, other, train),
                test=_join(column, other, test) if test else None,
                validation=_join(column, one, test) if test else None,
            )
    return pairs


def _join(column: str, value: str, more: str | None) -> str:
    written = value.replace("\\", "\\\\").replace('"', '\\"')
    plain = f'`{column}` == "{written}"'
    return f"{plain} and ({more})" if more else plain


def _listed(value: Any, *, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{where}: {value!r}, expected a list with at least one entry.")
    return value  # pyright: ignore[reportUnknownVariableType]


def _find(folder: Path, name: Any, *, where: str) -> Path:
    place = folder / str(name)
    if not place.exists():
        raise FileError(f"{where}: {place} is not there. Paths are relative to the TOML file's folder.")
    return place


def _check_keys(given: Any, known: tuple[str, ...] | list[str], *, where: str, required: tuple[str, ...] = ()) -> None:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: {given!r}, expected a table of keys and values ({', '.join(known)}).")
    for key in given:  # pyright: ignore[reportUnknownVariableType]
        if key not in known:
            raise unknown_choice("key", str(key), known, where=where)
    for key in required:
        if key not in given:
            raise ConfigError(f"{where}: no '{key}', expected one. See 'graticule benchmark --help' for an example.")


def _make_file_name(text: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text.replace(" → ", "_to_"))
    return kept.strip(".-")[:80] or "unnamed"
