"""Files that the commands of ``graticule value`` read and write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from graticule.data.query import describe_no_match, select_rows
from graticule.data.readers.images import read_images
from graticule.data.store import describe_run, read_table, replace_atomically, write_table
from graticule.data.tables import FEATURES, METRICS
from graticule.errors import ConfigError
from graticule.evaluation.value.compare import Pair, join_sets
from graticule.evaluation.value.labelled import Labelled, label_features
from graticule.report.value.page import Section, write_value_page


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Labelled images of one features file, and their rows of the images table in the same order."""

    labelled: Labelled
    rows: pl.DataFrame

    def find(self, query: str, *, where: str) -> np.ndarray:
        """Return which images a query picks, as rows of the pool.

        Raises
        ------
        ConfigError
            It cannot be read, or picks none.
        """
        picked = select_rows(self.rows, query, where=where)
        if picked.is_empty():
            raise ConfigError(
                f"{where}: no image of {self.rows.height} with features, label and region matches {query!r}; expected "
                f"some. {describe_no_match(self.rows, query, where=where) or 'No image has all of these values.'}"
            )
        return np.flatnonzero(self.rows["image_id"].is_in(picked["image_id"].to_list()).to_numpy())


def read_pool(features: Path, images: Path, *, by: str | None, group: str | None, is_shared: bool = False) -> Pool:
    """Return the labelled images of a features file; a shared images table lists those of other files too."""
    vectors = read_table(features, FEATURES)
    table = read_images(images)
    if is_shared:
        table = table.join(vectors.select("image_id"), on="image_id", how="semi")
    labelled = label_features(vectors, table, by=by, group=group, where=str(features))
    order = pl.DataFrame({"image_id": list(labelled.image_ids)})
    return Pool(labelled=labelled, rows=order.join(table, on="image_id", how="left", maintain_order="left"))


def read_pair(features: tuple[Path, Path], images: Sequence[Path], *, by: str | None, group: str | None) -> Pair:
    """Return two data sets, coded alike and named after their files.

    Raises
    ------
    ConfigError
        There are more than two images tables.
    """
    if len(images) > len(features):
        raise ConfigError(
            f"--images: {len(images)} tables, expected one for each FEATURES ({len(features)}) or one for both. Give "
            "them in the order of the features."
        )
    tables = images if len(images) == len(features) else [images[0]] * len(features)
    sets = [
        read_pool(place, table, by=by, group=group, is_shared=len(images) == 1).labelled
        for place, table in zip(features, tables, strict=True)
    ]
    stems = [place.stem for place in features]
    names = (
        (stems[0], stems[1])
        if stems[0] != stems[1]
        else (f"{features[0].parent.name}/{stems[0]}", f"{features[1].parent.name}/{stems[1]}")
    )
    if names[0] == names[1]:
        raise ConfigError(f"{features[0]}: given twice, expected two data sets. Give another file as the second.")
    return join_sets(sets[0], sets[1], names=names)


def write_run(
    output: Path,
    metrics: pl.DataFrame,
    sections: Sequence[Section],
    *,
    command: str,
    config: Mapping[str, Any],
    inputs: Sequence[Path],
    seed: int,
    title: str,
    headline: Sequence[str],
    notes: Sequence[str],
) -> list[str]:
    """Write the tables and the page of a run, and return what to print."""
    from graticule import __version__

    made = describe_run(
        f"value {command}", config=dict(config), inputs={str(place): place for place in inputs}, seed=seed
    )
    write_table(metrics, output / "metrics.parquet", METRICS, provenance=made)
    with replace_atomically(output / "metrics.csv") as temporary:
        metrics.write_csv(temporary)
    page = write_value_page(output, sections, title=title, headline=headline, notes=notes, version=__version__)
    noted = [f"note: {note}" for note in notes]
    return [*headline, *noted, "", f"Page:    {page}", f"Numbers: {output / 'metrics.csv'}"]


def note_axes(kept_share: float) -> str:
    """Return how much of the features the probes see."""
    return f"Probes see {100 * kept_share:.1f}% of the features' variance, along their first principal axes."
