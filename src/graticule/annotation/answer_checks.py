"""What makes a table of answers impossible to aggregate, each found to the end of the table and said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from jaxtyping import Bool

from graticule.errors import TableError, shown, unknown_choice

REPEATS = ("error", "keep")


def find_kind(rows: pl.DataFrame, *, where: str) -> str:
    """Return ``contains`` or ``classify``, as the rows say or, where they do not, as they look.

    Without a kind, rows that name a main label or an object, and rows that are all selected, are CLASSIFY's.

    Raises
    ------
    TableError
        A kind is neither, or the rows are of both.
    """
    odd = rows.filter(~pl.col("kind").is_in(["contains", "classify"]))
    if not odd.is_empty():
        named = [f"row {row}: {kind!r}" for row, kind in odd.select("row", "kind").iter_rows()]
        raise TableError(
            f"{where}: {odd.height} answers of an unknown kind: {shown(named)}; expected contains or classify."
        )
    kinds = rows["kind"].drop_nulls().unique().sort().to_list()
    if len(kinds) > 1:
        counts = ", ".join(f"{rows.filter(pl.col('kind') == kind).height} {kind}" for kind in kinds)
        raise TableError(
            f"{where}: answers of two kinds ({counts}); expected one. Filter the table by 'kind' and aggregate each "
            "part on its own."
        )
    if kinds:
        return kinds[0]
    looks_classified = rows["is_main"].any() or rows["has_object"].any()
    return "classify" if looks_classified or not (~rows["selected"] | rows["is_unsure"]).any() else "contains"


def check_main(rows: pl.DataFrame, *, where: str) -> None:
    """Check that what a worker names as main is selected, and is one label an image.

    Raises
    ------
    TableError
        A main label is not selected, or a worker names two of one image.
    """
    main = rows.filter("is_main")
    outside = main.filter(~pl.col("selected") | pl.col("is_unsure"))
    answer = pl.struct("task_id", "worker_id", "image_id")
    twice = main.filter(answer.is_duplicated() & ~answer.is_first_distinct())
    faults: list[str] = []
    if not outside.is_empty():
        faults.append(f"{outside.height} answers name a main label that is not selected: {_name(outside)}")
    if not twice.is_empty():
        faults.append(f"{twice.height} answers name a second main label of one image: {_name(twice)}")
    if faults:
        raise TableError(
            f"{where}: " + "\n  ".join(faults) + "; expected one main label, selected, an image and worker. "
            "Leave the answers out (graticule annotate quality does)."
        )


def find_repeats(
    codes: Mapping[str, np.ndarray], asked: Sequence[str], *, among: Bool[np.ndarray, " a"]
) -> Bool[np.ndarray, " a"]:
    """Return which of the rows ``among`` name the same of ``asked`` as another of them, shape ``(a,)``."""
    key = np.zeros(len(among), dtype=np.int64)
    for column in asked:
        key = key * (int(codes[column].max(initial=0)) + 1) + codes[column]
    repeated = np.zeros(len(among), dtype=bool)
    rows = np.flatnonzero(among)
    in_order = np.sort(key[rows])
    if not (in_order[1:] == in_order[:-1]).any():
        return repeated
    rows = rows[np.argsort(key[rows], kind="stable")]
    same = key[rows[1:]] == key[rows[:-1]]
    repeated[rows[1:][same]] = True
    repeated[rows[:-1][same]] = True
    return repeated


def check_repeats(
    rows: pl.DataFrame, repeated: Bool[np.ndarray, " a"], *, asked: Sequence[str], repeats: str, where: str
) -> None:
    """Check that no worker answered a question twice.

    Raises
    ------
    TableError
        Somebody did, and ``repeats`` is ``error``. A control may come again in another task.
    ConfigError
        ``repeats`` is neither ``error`` nor ``keep``.
    """
    if repeats not in REPEATS:
        raise unknown_choice("rule for repeated answers", repeats, REPEATS)
    if repeats == "keep" or not repeated.any():
        return
    within = pl.struct("task_id", *asked)
    again = rows.filter(pl.Series(repeated)).filter(
        ~within.is_first_distinct() | (~pl.struct(asked).is_first_distinct() & ~pl.col("is_control"))
    )
    if not again.is_empty():
        raise TableError(
            f"{where}: {again.height} answers to a question that the worker has answered before: {_name(again)}; "
            "expected one answer a worker and question. Drop them (graticule annotate quality does), or count every "
            "one with repeats='keep'."
        )


def _name(rows: pl.DataFrame) -> str:
    columns = rows.select("row", "worker_id", "image_id", "label").sort("row").iter_rows()
    return shown(f"row {row}: {worker} on {image} ({label})" for row, worker, image, label in columns)
