"""Features joined to their images' labels and regions, coded as numbers: what every question of value starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.data.query import describe_no_match, select_rows
from graticule.data.tables import FEATURES, IMAGES
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown, unknown_choice
from graticule.models.probe_training import read_features


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Images with features and a label, sorted by their names.

    Parameters
    ----------
    image_ids
        Their names.
    vectors
        Their features, shape ``(n, d)``.
    labels, targets
        The labels in alphabetical order, and the index of each image's, shape ``(n,)``.
    regions, region
        The regions in alphabetical order, and the index of each image's, shape ``(n,)``; one region without a name
        where none was asked for.
    groups
        Index of what each image shows, shape ``(n,)``; its own where no column was named.
    notes
        What was left out, a sentence each.
    """

    image_ids: tuple[str, ...]
    vectors: Float[np.ndarray, "n d"]
    labels: tuple[str, ...]
    targets: Int[np.ndarray, " n"]
    regions: tuple[str, ...]
    region: Int[np.ndarray, " n"]
    groups: Int[np.ndarray, " n"]
    notes: tuple[str, ...]

    def count_cells(self) -> Int[np.ndarray, "r k"]:
        """Return the images of each region and label."""
        counts = np.zeros((len(self.regions), len(self.labels)), dtype=np.int64)
        np.add.at(counts, (self.region, self.targets), 1)
        return counts

    def take(self, rows: Int[np.ndarray, " m"]) -> Labelled:
        """Return some of the images; the codes of labels and regions stay."""
        return Labelled(
            image_ids=tuple(self.image_ids[row] for row in rows),
            vectors=self.vectors[rows],
            labels=self.labels,
            targets=self.targets[rows],
            regions=self.regions,
            region=self.region[rows],
            groups=self.groups[rows],
            notes=self.notes,
        )


def label_features(
    features: pl.DataFrame,
    images: pl.DataFrame,
    *,
    by: str | None = None,
    group: str | None = None,
    query: str | None = None,
    where: str = "features",
) -> Labelled:
    """Return the images that have features, a label and, where one is asked for, a region.

    Parameters
    ----------
    features
        A features table.
    images
        An images table.
    by
        Column that holds the region; None if regions do not matter.
    group
        Column whose values name what an image shows.
    query
        Picks some of the images (`graticule.data.query`).
    where
        What the tables are called in messages.

    Raises
    ------
    ConfigError
        There is no such column, or the query picks nothing.
    TableError
        No image has features, a label and a region, there is one label only, or features are not finite.
    """
    features = validate_table(features, FEATURES, where=where)
    images = validate_table(images, IMAGES, where=f"images of {where}")
    vectors = read_features(features)
    _check_columns(images, by=by, group=group, where=where)
    picked = images if query is None else select_rows(images, query, where=where)
    if query is not None and picked.is_empty():
        raise ConfigError(
            f"{where}: no image of {images.height} matches {query!r}; expected some. "
            f"{describe_no_match(images, query, where=where) or 'Each value exists, and no image has them all.'}"
        )
    needed = ["label", *([by] if by else [])]
    has_all = pl.all_horizontal(pl.col(name).cast(pl.String).str.strip_chars().str.len_bytes() > 0 for name in needed)
    complete = picked.filter(has_all.fill_null(value=False))
    rows = features.select("image_id").with_row_index("__position")
    found = complete.join(rows, on="image_id", how="inner", maintain_order="left").sort("image_id")
    if found.is_empty():
        raise TableError(
            f"{where}: of {features.height} vectors none belongs to one of the {complete.height} images with "
            f"{' and '.join(needed)}; expected some. The features' names are {shown(features['image_id'], limit=2)}, "
            f"the images' {shown(images['image_id'], limit=2)}. Give the table that was embedded with --images."
        )
    labels, targets = _code(found["label"])
    if len(labels) < 2:
        raise TableError(
            f"{where}: all {found.height} images have the label {''.join(labels)!r}; expected at least two labels to "
            "tell apart. Take more labels."
        )
    regions, region = _code(found[by]) if by else (("",), np.zeros(found.height, dtype=np.int64))
    return Labelled(
        image_ids=tuple(found["image_id"]),
        vectors=vectors[found["__position"].to_numpy()],
        labels=labels,
        targets=targets,
        regions=regions,
        region=region,
        groups=_number_groups(found, group),
        notes=_note(picked, complete, found, needed=needed, where=where),
    )


def _check_columns(images: pl.DataFrame, *, by: str | None, group: str | None, where: str) -> None:
    if "label" not in images.columns:
        raise TableError(
            f"{where}: the images have no column 'label'; the columns are {shown(images.columns, limit=12)}. "
            "Scan again with --layout, or give a table with labels with --images."
        )
    if by is not None and by not in images.columns:
        raise TableError(
            f"{where}: the images have no column {by!r} (--by); the columns are {shown(images.columns, limit=12)}. "
            "`graticule locate` adds country and region."
        )
    if group is not None and group not in images.columns:
        raise unknown_choice("column", group, images.columns, where="--group")


def _code(column: pl.Series) -> tuple[tuple[str, ...], Int[np.ndarray, " n"]]:
    names, codes = np.unique(column.cast(pl.String).to_numpy().astype(str), return_inverse=True)
    return tuple(names.tolist()), codes.astype(np.int64)


def _number_groups(found: pl.DataFrame, group: str | None) -> Int[np.ndarray, " n"]:
    own = np.arange(found.height, dtype=np.int64)
    if group is None:
        return own
    ranks = found[group].rank("dense").cast(pl.Int64)
    return ranks.zip_with(ranks.is_not_null(), pl.Series(own) + found.height).to_numpy().astype(np.int64)


def _note(
    picked: pl.DataFrame, complete: pl.DataFrame, found: pl.DataFrame, *, needed: list[str], where: str
) -> tuple[str, ...]:
    notes: list[str] = []
    if complete.height < picked.height:
        n = picked.height - complete.height
        notes.append(f"{where}: {n} of {picked.height} images have no {' or no '.join(needed)} and were left out.")
    if found.height < complete.height:
        n = complete.height - found.height
        notes.append(f"{where}: {n} of {complete.height} images have no features and were left out.")
    return tuple(notes)
