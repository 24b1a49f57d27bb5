"""Questions whose right answer is known: read from a table, or presumed from what models and the data set agree on."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.data.tables import FLAG, TEXT, Column, Table
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown

MIN_FIRST_SHARE = 0.5
"""A given label is presumed right where more than this share of the models put it first."""

CONTROLS = Table(
    name="controls",
    row="an image × a label of which it is known whether it holds",
    key=("image_id", "label"),
    columns={
        "image_id": Column(dtype=TEXT, required=True, nullable=False, meaning="name of the image"),
        "label": Column(dtype=TEXT, required=True, nullable=False, meaning="the label in question"),
        "selected": Column(dtype=FLAG, meaning="whether the label is right; true when the column is missing"),
    },
)


def check_controls(table: pl.DataFrame, *, where: str) -> pl.DataFrame:
    """Return the controls as image_id, label and selected (the right answer).

    Parameters
    ----------
    table
        A row an image and label; ``selected`` is true for all of them when the column is missing.
    where
        The file it came from, for the message.

    Raises
    ------
    TableError
        The table is empty or breaks its declaration, a row has no right answer, or two rows name the same pair.
    """
    checked = validate_table(table, CONTROLS, where=where)
    if checked.is_empty():
        raise TableError(f"{where}: the table of controls is empty; expected a row a question of known answer.")
    if "selected" not in checked.columns:
        checked = checked.with_columns(pl.lit(value=True).alias("selected"))
    unknown = checked.with_row_index("row", offset=1).filter(pl.col("selected").is_null())
    if not unknown.is_empty():
        pairs = [
            f"row {row}: {image_id} / {label}"
            for row, image_id, label in unknown.select("row", "image_id", "label").iter_rows()
        ]
        raise TableError(
            f"{where}: {unknown.height} controls without a right answer: {shown(pairs)}; expected 'selected' true or "
            "false in every row. Fill it in, or leave the rows out."
        )
    return checked.select("image_id", "label", "selected")


def presume_controls(candidates: pl.DataFrame) -> pl.DataFrame:
    """Return presumed positive controls: given labels that most models put first, the most agreed ones in front.

    Parameters
    ----------
    candidates
        A `CANDIDATES` table; with ``ranks`` and ``models`` the models' agreement is known, else every given label is
        presumed right.

    Returns
    -------
    pl.DataFrame
        image_id, label, and ``strength``: the share of the models that put the label first.

    Notes
    -----
    A presumed control is not known to be right. It keeps careless workers apart from careful ones, who agree with it
    nearly always; it must not be taken for a truth when labels are judged.
    """
    given = candidates.filter("is_given")
    if not {"models", "ranks"} <= set(candidates.columns):
        return given.select("image_id", "label", pl.lit(1.0).alias("strength")).sort("image_id", "label")
    n_models = candidates["models"].explode().drop_nulls().n_unique()
    if n_models == 0:
        return given.select("image_id", "label", pl.lit(1.0).alias("strength")).sort("image_id", "label")
    firsts = pl.col("ranks").list.count_matches(1).fill_null(0) / n_models
    return (
        given.select("image_id", "label", firsts.alias("strength"))
        .filter(pl.col("strength") > MIN_FIRST_SHARE)
        .sort("strength", "image_id", "label", descending=[True, False, False])
    )


def deal(pool: list[str], *, n_hands: int, size: int) -> list[list[str]]:
    """Return ``n_hands`` hands of up to ``size`` different cards, each card used as rarely as the pool allows.

    Examples
    --------
    >>> deal(["a", "b", "c"], n_hands=2, size=2)
    [['a', 'b'], ['c', 'a']]
    """
    if not pool:
        return [[] for _ in range(n_hands)]
    width = min(size, len(pool))
    places = (np.arange(n_hands * width) % len(pool)).reshape(n_hands, width)
    return [[pool[place] for place in hand] for hand in places.tolist()]
