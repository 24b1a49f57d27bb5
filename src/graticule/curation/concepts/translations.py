"""The names of each label in several languages, from a table that people can write.

GeoNet expanded its 205 English scene names into Hindi, Korean, Japanese, Chinese, Russian and Hebrew (section 3.1),
because people in Asia tag their photos in their own languages.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.curation.concepts.tags import fold_tag
from graticule.data.readers.columns import normalise_name
from graticule.data.readers.rows import read_rows
from graticule.errors import TableError, shown

LONG_COLUMNS = ("language", "name")
SEPARATOR = "|"
OTHER_NAMES = r"\s*[|;]\s*"
"""Between several names in one field."""


def read_concepts(source: str | Path) -> pl.DataFrame:
    """Return the names of labels: label, language, name, folded (as tags are compared).

    Parameters
    ----------
    source
        A table (CSV, TSV, JSON Lines, Parquet) in one of two forms. Wide: a column ``label`` and one a language, whose
        fields hold names with ``|`` or ``;`` between them. Long: the columns ``label``, ``language`` and ``name``. The
        label itself, with spaces for underscores, is always a name of it.

    Raises
    ------
    FileError
        The file cannot be read.
    TableError
        There is no column of labels, a label is empty, or no label has a name.
    """
    place = Path(source)
    rows = read_rows(place)
    rows = rows.rename({name: normalise_name(name) for name in rows.columns})
    if "label" not in rows.columns:
        raise TableError(
            f"{place}: no column 'label'; the columns are {shown(rows.columns, limit=12)}. Expected label and one "
            "column a language (en, hi, ko …), or label, language and name."
        )
    rows = rows.with_columns(pl.col("label").cast(pl.String).str.strip_chars())
    empty = rows.with_row_index("row", offset=2).filter(pl.col("label").fill_null("") == "")["row"].to_list()
    if empty:
        raise TableError(f"{place}: no label in row {shown(empty)}; expected one in every row.")
    named = rows if set(LONG_COLUMNS) <= set(rows.columns) else _melt(rows)
    return make_concepts(named.select("label", "language", "name"))


def make_concepts(names: pl.DataFrame) -> pl.DataFrame:
    """Return names of labels with their folded form, and each label as a name of itself.

    Parameters
    ----------
    names
        Columns label, language, name; a name may hold several with ``|`` or ``;`` between them.
    """
    own = names.select(
        pl.col("label"), pl.lit("label").alias("language"), pl.col("label").str.replace_all("_", " ").alias("name")
    ).unique(maintain_order=True)
    split = (
        names.drop_nulls("name")
        .with_columns(pl.col("name").cast(pl.String).str.replace_all(OTHER_NAMES, SEPARATOR).str.split(SEPARATOR))
        .explode("name")
        .with_columns(pl.col("name").str.strip_chars(), pl.col("language").cast(pl.String))
        .filter(pl.col("name") != "")
    )
    listed = pl.concat([split, own])
    folded = pl.Series("folded", [fold_tag(name) for name in listed["name"].to_list()], dtype=pl.String)
    listed = listed.with_columns(folded)
    return listed.filter(pl.col("folded") != "").unique(["label", "folded"], keep="first", maintain_order=True)


def find_shared_names(concepts: pl.DataFrame) -> pl.DataFrame:
    """Return the names that several labels have: name, labels. A tag that is such a name never tells one label."""
    return (
        concepts.group_by("folded")
        .agg(pl.col("name").first(), pl.col("label").unique().sort().alias("labels"))
        .filter(pl.col("labels").list.len() > 1)
        .select("name", "labels")
        .sort("name")
    )


def _melt(rows: pl.DataFrame) -> pl.DataFrame:
    languages = [name for name in rows.columns if name != "label"]
    if not languages:
        return rows.select("label", pl.lit("label").alias("language"), pl.lit(None, dtype=pl.String).alias("name"))
    return rows.with_columns(pl.col(languages).cast(pl.String)).unpivot(
        on=languages, index="label", variable_name="language", value_name="name"
    )
