"""A data set of a fixed size in which part of one source is replaced by another, label by label.

GeoDE (section 6) puts images of its own in the place of as many of ImageNet's, and keeps the number of images and the
balance of the labels: what changes is where the images come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.curation.balance import rank_in_cells
from graticule.curation.selection import Selection, divide_images
from graticule.curation.split_sizes import spread_evenly
from graticule.errors import ConfigError, TableError, shown

STEP = "mix"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixConfig:
    """How two sources are mixed."""

    share: float = 0.5
    """Of the second source, in every label."""
    budget: int | None = None
    """Images in all; None takes as many as the first source has."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or (self.budget is not None and self.budget < 1):
            raise ConfigError(
                f"share is {self.share} and budget {self.budget}, expected a share from 0 to 1 and at least one image."
            )


def mix_images(first: pl.DataFrame, second: pl.DataFrame, *, config: MixConfig | None = None) -> Selection:
    """Return images of both sources, with as many of each label as the first source has in proportion.

    Parameters
    ----------
    first
        The source whose labels' shares are kept.
    second
        The source that replaces part of it.
    config
        How much of it, and how many images in all.

    Raises
    ------
    TableError
        There is no label column, images of both have the same name, or both sources together lack images of a label.

    Notes
    -----
    In a label of which the second source has too few, all of them are taken and the first fills up; the other way round
    too. Images are drawn by a hash of their names, so the images of a smaller share lie in those of a larger one.
    """
    settings = config or MixConfig()
    everything = _stack(first, second)
    counts = _count_labels(everything, n_first=first.height)
    plan = _plan(counts, settings)
    rows = pl.DataFrame(
        {
            "region": ["1"] * first.height + ["2"] * second.height,
            "label": everything["label"].cast(pl.String),
        }
    ).with_row_index("row")
    ranked = rank_in_cells(rows, everything["image_id"], purpose=STEP, seed=settings.seed).join(
        plan, on="label", how="left", maintain_order="left"
    )
    taken = pl.when(pl.col("region") == "1").then("n_first").otherwise("n_second")
    reason = (
        pl.when(pl.col("label").is_null())
        .then(pl.lit("no label"))
        .when(pl.col("n_first").is_null())
        .then(pl.format("the first source has no image of '{}'", "label"))
        .when(pl.col("rank") >= taken)
        .then(pl.format("not drawn: {} images of '{}' are taken from this source", taken, "label"))
    )
    findings = ranked.select("row", reason.alias("reason")).drop_nulls("reason")
    selection = divide_images(everything, findings.with_columns(pl.lit(STEP).alias("step")))
    n_second = int(plan["n_second"].sum())
    n_all = n_second + int(plan["n_first"].sum())
    short = plan.filter(pl.col("n_second") < pl.col("wanted"))["label"].sort().to_list()
    notes = (
        f"{n_second} of {n_all} images ({n_second / n_all:.1%}) come from the second source.",
        *((f"The second source has too few images of {shown(short)}; the first fills up.",) if short else ()),
    )
    return Selection(kept=selection.kept, rejects=selection.rejects, notes=notes)


def _stack(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    for name, images in (("first", first), ("second", second)):
        if "label" not in images.columns or images["label"].null_count() == images.height:
            raise TableError(f"the {name} source: no label in any row, expected a column 'label' in both sources.")
    both = first.select("image_id").join(second.select("image_id"), on="image_id")["image_id"].to_list()
    if both:
        raise TableError(
            f"{len(both)} images stand in both sources: {shown(both)}. Give the images of one of them other names."
        )
    return pl.concat([first, second], how="diagonal_relaxed")


def _count_labels(everything: pl.DataFrame, *, n_first: int) -> pl.DataFrame:
    in_first = pl.col("row") < n_first
    return (
        everything.select(pl.col("label").cast(pl.String))
        .with_row_index("row")
        .drop_nulls("label")
        .group_by("label")
        .agg(in_first.sum().cast(pl.Int64).alias("has_first"), (~in_first).sum().cast(pl.Int64).alias("has_second"))
        .filter(pl.col("has_first") > 0)
        .sort("label")
    )


def _plan(counts: pl.DataFrame, config: MixConfig) -> pl.DataFrame:
    """Return how many images of each label are taken from each source: label, wanted, n_first, n_second."""
    has_first, has_second = counts["has_first"].to_numpy(), counts["has_second"].to_numpy()
    budget = config.budget if config.budget is not None else int(has_first.sum())
    wanted = spread_evenly(budget, has_first)
    thin = [
        f"{label} ({has} of {needed})"
        for label, has, needed in zip(counts["label"], has_first + has_second, wanted, strict=True)
        if has < needed
    ]
    if thin:
        raise TableError(
            f"both sources together have too few images of {len(thin)} labels for {budget} images in all: "
            f"{shown(thin)}. Ask for a smaller --budget."
        )
    asked = spread_evenly(round(config.share * budget), wanted)
    from_second = np.maximum(np.minimum(asked, has_second), wanted - has_first)
    return pl.DataFrame(
        {"label": counts["label"], "wanted": asked, "n_first": wanted - from_second, "n_second": from_second}
    )
