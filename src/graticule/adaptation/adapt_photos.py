"""Photos and a network → the network adapted to the target, and its predictions there."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from graticule.adaptation.adapt import AdaptResult, adapt_problem
from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.backbone import make_backbone
from graticule.adaptation.memory import keep_freed_memory
from graticule.adaptation.photos import PhotoFiles, PhotoInputs
from graticule.adaptation.problem import Queries, divide_images
from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown
from graticule.models.processors import count_workers
from graticule.models.registry import load_network


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChoice:
    """The network that is adapted.

    Parameters
    ----------
    model
        Its name, as in ``timm/tf_efficientnet_lite0``.
    weights
        Where its weights come from; None takes an installed package or the hub.
    mirrors
        Whether training photos are mirrored; not for signs and letters.
    """

    model: str
    weights: str | None = None
    mirrors: bool = True


def adapt_photos(
    images: pl.DataFrame,
    *,
    base: str | Path,
    network: NetworkChoice,
    queries: Queries,
    config: AdaptConfig | None = None,
    seed: int = 0,
    checkpoints: Path | None = None,
    shown_progress: bool = False,
) -> AdaptResult:
    """Return what a network that is adapted end to end predicts of the target's photos.

    Parameters
    ----------
    images
        An images table with paths and labels; labels of target images are used for the metrics alone.
    base
        Folder that relative paths start from.
    network
        The network; it learns at a tenth of the rate of the new layers.
    queries, config, seed, checkpoints
        As of `graticule.adaptation.adapt.adapt_features`.
    shown_progress
        Whether to draw a progress bar.

    Raises
    ------
    GraticuleError
        As of `graticule.adaptation.adapt.adapt_features`; a photo cannot be read, or the network not be trained.
    """
    settings = config or AdaptConfig()
    images = validate_table(images, IMAGES, where="images")
    if "path" not in images.columns:
        raise TableError(
            f"images: no column 'path'; the columns are {shown(images.columns, limit=12)}. A network needs the photos: "
            "name the column that holds their files 'path', or adapt features."
        )
    images = images.sort("image_id")
    division = divide_images(images.select("image_id"), images, queries=queries, allow_unknown=settings.is_universal)
    loaded = load_network(network.model, weights=network.weights)
    _, n_features = make_backbone(loaded)
    keep_freed_memory()
    with ThreadPoolExecutor(count_workers(), thread_name_prefix="decode") as pool:
        inputs = PhotoInputs(
            files=PhotoFiles(paths=images["path"].to_list(), base=Path(base), transform=loaded.transform),
            model=network.model,
            weights=network.weights,
            n_features=n_features,
            mirrors=network.mirrors,
            pool=pool,
        )
        facts: Mapping[str, Any] = {
            "network": {**asdict(network), "weights_from": asdict(loaded.weights)},
            "transform": loaded.transform.describe(),
        }
        return adapt_problem(
            division.feed(inputs),
            queries=queries,
            config=settings,
            seed=seed,
            checkpoints=checkpoints,
            inputs_info=facts,
            shown=shown_progress,
        )
