"""Which images must stand on the same side of a split: those of one worker, one place or one cluster of duplicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Int64, UInt64

from graticule.curation.hashing import hash_names
from graticule.errors import TableError, shown
from graticule.geo.cells import NO_CELL, find_cells


def find_groups(
    images: pl.DataFrame, columns: Sequence[str], *, place_degrees: float | None = None
) -> Int64[np.ndarray, " n"]:
    """Return the number of each image's group, from 0.

    Parameters
    ----------
    images
        An images table.
    columns
        Images that share a value in any of these belong together, and so do those that a chain of such images links. An
        empty value links nothing.
    place_degrees
        Images in the same cell of a grid of so many degrees belong together too; None looks at no place.

    Raises
    ------
    TableError
        There is no such column.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = [_number_values(images, name) for name in columns]
    if place_degrees is not None:
        links.append(_number_cells(images, degrees=place_degrees))
    first, rows, values = images.height, [], []
    for codes in links:
        known = np.flatnonzero(codes >= 0)
        rows.append(known)
        values.append(codes[known] + first)
        first += int(codes.max(initial=-1)) + 1
    if not links:
        return np.arange(images.height)
    pairs = (np.concatenate(rows), np.concatenate(values))
    graph = coo_array((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=(first, first))
    _, component = connected_components(graph, directed=False)
    return np.unique(component[: images.height], return_inverse=True)[1].astype(np.int64)


def hash_groups(
    images: pl.DataFrame,
    columns: Sequence[str],
    groups: Int64[np.ndarray, " n"],
    *,
    key: str,
    seed: int,
    place_degrees: float | None = None,
) -> UInt64[np.ndarray, " n"]:
    """Return each image's number for the draw: one for all images of a group.

    Notes
    -----
    An image alone has that of its ``key``. Where groups are made by one column, or by place alone, a group has that of
    the column's value or of the grid cell, so that images that join it later get the same. Groups of several columns
    have the smallest number among their images, which one that joins later may change.
    """
    own = _hash(images[key].cast(pl.String).fill_null("").to_list(), seed=seed)
    if not columns and place_degrees is None:
        return own
    if len(columns) == 1 and place_degrees is None:
        values = images[columns[0]].cast(pl.String)
        named = _hash([f"{columns[0]}={value}" for value in values.fill_null("").to_list()], seed=seed)
        return np.where(values.is_not_null().to_numpy(), named, own)
    if not columns and place_degrees is not None:
        cells = _find_cells(images, degrees=place_degrees)
        named = _hash([f"{place_degrees:g} degrees {cell}" for cell in cells.tolist()], seed=seed)
        return np.where(cells != NO_CELL, named, own)
    least = np.full(int(groups.max(initial=-1)) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, groups, own)
    return least[groups]


def _hash(names: Sequence[str], *, seed: int) -> UInt64[np.ndarray, " n"]:
    return hash_names(names, purpose="split", seed=seed)


def _number_values(images: pl.DataFrame, name: str) -> Int64[np.ndarray, " n"]:
    if name not in images.columns:
        raise TableError(
            f"images: no column '{name}' to group by; the columns are {shown(images.columns, limit=12)}. "
            "Name one of these, or leave --group out."
        )
    codes = images[name].cast(pl.String).rank("dense") - 1
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def _number_cells(images: pl.DataFrame, *, degrees: float) -> Int64[np.ndarray, " n"]:
    cells = _find_cells(images, degrees=degrees)
    return np.where(cells == NO_CELL, -1, np.unique(cells, return_inverse=True)[1])


def _find_cells(images: pl.DataFrame, *, degrees: float) -> Int64[np.ndarray, " n"]:
    missing = [name for name in ("latitude", "longitude") if name not in images.columns]
    if missing:
        raise TableError(
            f"images: no column {' and no column '.join(missing)}, expected both to keep a place together. "
            "Leave --place-degrees out, or add coordinates with `graticule scan`."
        )
    north = images["latitude"].fill_null(float("nan")).to_numpy()
    east = images["longitude"].fill_null(float("nan")).to_numpy()
    return find_cells(north, east, degrees=degrees)
