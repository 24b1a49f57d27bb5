"""An adaptation from files to a folder: predictions, metrics, settings and checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graticule.adaptation.adapt import AdaptResult, adapt_features
from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.problem import Queries
from graticule.adaptation.toml_text import write_toml
from graticule.data.readers.images import read_images
from graticule.data.store import describe_run, read_info, read_table, write_table, write_text
from graticule.data.tables import FEATURES, METRICS, PREDICTIONS
from graticule.errors import FileError

if TYPE_CHECKING:
    from graticule.adaptation.adapt_photos import NetworkChoice

PREDICTIONS_FILE = "predictions.parquet"
METRICS_FILE = "metrics.parquet"
CONFIG_FILE = "config.toml"
CHECKPOINTS_FOLDER = "checkpoints"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdaptFiles:
    """What an adaptation found, and the folder that holds it."""

    result: AdaptResult
    folder: Path


def adapt_to_folder(
    features: str | Path,
    folder: str | Path,
    *,
    images: str | Path,
    queries: Queries,
    config: AdaptConfig | None = None,
    seed: int = 0,
    shown: bool = True,
) -> AdaptFiles:
    """Write predictions, metrics, settings and checkpoints of an adaptation to a folder, and return them.

    Parameters
    ----------
    features
        A features artefact.
    folder
        Folder to write; where it holds checkpoints of the same run, the run goes on from them.
    images
        An images table, in any form that `graticule.data.readers.images` reads.
    queries, config, seed, shown
        As of `graticule.adaptation.adapt.adapt_features`.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.adaptation.adapt.adapt_features`.
    """
    settings = config or AdaptConfig()
    place = _check_folder(folder)
    vectors = read_table(features, FEATURES)
    table = read_images(images)
    result = adapt_features(
        vectors,
        table,
        queries=queries,
        config=settings,
        seed=seed,
        checkpoints=place / CHECKPOINTS_FOLDER,
        features_info=read_info(features),
        shown=shown,
    )
    told = {"seed": seed, "queries": asdict(queries), "adaptation": asdict(settings)}
    return _write(result, place, told=told, inputs={Path(file).name: Path(file) for file in (features, images)})


def adapt_photos_to_folder(
    photos: str | Path,
    folder: str | Path,
    *,
    network: NetworkChoice,
    queries: Queries,
    layout: str | None = None,
    config: AdaptConfig | None = None,
    seed: int = 0,
    shown: bool = True,
) -> AdaptFiles:
    """Write predictions, metrics, settings and checkpoints of a network adapted end to end, and return them.

    Parameters
    ----------
    photos
        A folder of photos, or an images table with paths.
    folder
        Folder to write; where it holds checkpoints of the same run, the run goes on from them.
    network
        The network that is adapted.
    layout
        What the folders mean, as in ``{region}/{label}``.
    queries, config, seed, shown
        As of `graticule.adaptation.adapt.adapt_features`.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.adaptation.adapt_photos.adapt_photos`.
    """
    from graticule.adaptation.adapt_photos import adapt_photos

    settings = config or AdaptConfig()
    place, source = _check_folder(folder), Path(photos)
    images = read_images(source, layout=layout)
    result = adapt_photos(
        images,
        base=source.parent if source.is_file() else source,
        network=network,
        queries=queries,
        config=settings,
        seed=seed,
        checkpoints=place / CHECKPOINTS_FOLDER,
        shown_progress=shown,
    )
    told = {
        "seed": seed,
        "queries": asdict(queries),
        "network": {**asdict(network), "layout": layout},
        "adaptation": asdict(settings),
    }
    return _write(result, place, told=told, inputs={source.name: source})


def _check_folder(folder: str | Path) -> Path:
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise FileError(f"{place}: a file, expected a folder or nothing. Choose another place with -o.")
    return place


def _write(result: AdaptResult, place: Path, *, told: Mapping[str, Any], inputs: Mapping[str, Path]) -> AdaptFiles:
    provenance = describe_run("adapt", config=told, inputs=inputs, seed=told["seed"])
    notes = {"notes": list(result.notes)}
    write_text(write_toml(told), place / CONFIG_FILE)
    write_table(result.predictions, place / PREDICTIONS_FILE, PREDICTIONS, info=result.info, provenance=provenance)
    write_table(result.metrics, place / METRICS_FILE, METRICS, info=notes, provenance=provenance)
    return AdaptFiles(result=result, folder=place)
