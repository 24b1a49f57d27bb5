"""Tags of photos, in any script → the labels that they name."""

from __future__ import annotations

import unicodedata

import polars as pl

SEPARATORS = ("Zs", "Pd", "Pc", "Cf", "Cc")
"""Unicode categories that do not count when names are compared: spaces, dashes, underscores and invisible signs. Flickr
runs the words of a tag together (runningtrack), people write hot-pot, hot pot and hotpot."""
APOSTROPHES = "'’ʼ`´.·・"
VARIATION_SELECTORS = range(0xFE00, 0xFE10)


def fold_tag(text: str) -> str:
    """Return a tag in the form in which tags are compared.

    Notes
    -----
    Unicode's NFKC normalisation and full case folding, twice because folding can undo normalisation; without spaces,
    dashes, underscores, apostrophes, dots and signs that cannot be seen. Accents, vowel signs and tones stay: they tell
    words apart.

    Examples
    --------
    >>> fold_tag("Hot-Pot"), fold_tag("STRASSE") == fold_tag("Straße"), fold_tag("ﾊﾞｽ") == fold_tag("バス")
    ('hotpot', True, True)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = unicodedata.normalize("NFKC", folded.casefold())
    kept = "".join(
        sign
        for sign in folded
        if unicodedata.category(sign) not in SEPARATORS
        and sign not in APOSTROPHES
        and ord(sign) not in VARIATION_SELECTORS
    )
    return unicodedata.normalize("NFKC", kept)  # what stood apart may now belong together


def match_tags(tags: pl.Series, concepts: pl.DataFrame) -> pl.DataFrame:
    """Return the labels that each image's tags name: row (from 0), label, each pair once.

    Parameters
    ----------
    tags
        Lists of text; null where an image has none.
    concepts
        Columns label and folded: the names of each label as `fold_tag` gives them.
    """
    rows = pl.DataFrame({"tag": tags}).with_row_index("row").explode("tag").drop_nulls("tag")
    words = rows["tag"].unique().to_list()
    folded = pl.DataFrame(
        {"tag": words, "folded": [fold_tag(word) for word in words]}, schema={"tag": pl.String, "folded": pl.String}
    ).filter(pl.col("folded") != "")
    names = concepts.select("label", "folded").unique()
    return (
        rows.join(folded.join(names, on="folded"), on="tag")
        .select("row", "label")
        .unique(["row", "label"])
        .sort("row", "label")
    )


def fill_labels(images: pl.DataFrame, concepts: pl.DataFrame) -> pl.DataFrame:
    """Return the images with the label that their tags name, where they have none and the tags name exactly one."""
    if "tags" not in images.columns:
        return images
    single = (
        match_tags(images["tags"], concepts)
        .group_by("row")
        .agg(pl.col("label").first().alias("__named"), pl.len().alias("n"))
        .filter(pl.col("n") == 1)
        .select("row", "__named")
    )
    joined = images.with_row_index("row").join(single, on="row", how="left", maintain_order="left")
    own = pl.col("label").cast(pl.String) if "label" in images.columns else pl.lit(None, dtype=pl.String)
    return joined.with_columns(pl.coalesce(own, "__named").alias("label")).drop("row", "__named")
