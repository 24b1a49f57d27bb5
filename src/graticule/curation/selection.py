"""What a step of curation returns: the images that it keeps, and a row with the reason for each that it does not."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

FINDINGS = {"row": pl.UInt32(), "reason": pl.String()}
"""Columns of what a filter finds: the row's number, from 0, and why it is left out."""
ADDED = ("path", "reason", "step")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """Images that a step kept, and those that it left out."""

    kept: pl.DataFrame
    """The images that stay, in their order."""
    rejects: pl.DataFrame
    """A `REJECTS` table: path (the image_id where there is none), reason, step, then the image's other columns, so that
    whoever disagrees has the whole row."""
    notes: tuple[str, ...] = ()
    """What else there is to say, in sentences."""


def no_findings() -> pl.DataFrame:
    """Return an empty result of a filter."""
    return pl.DataFrame(schema=FINDINGS)


def list_findings(images: pl.DataFrame, is_left_out: pl.Expr, reason: pl.Expr) -> pl.DataFrame:
    """Return the rows for which a condition holds: row, reason. A condition that is null does not hold."""
    numbered = images.with_row_index("__row")
    return (
        numbered.filter(is_left_out)
        .select(pl.col("__row").alias("row"), reason.alias("reason").cast(pl.String))
        .cast({"row": pl.UInt32()})
    )


def divide_images(images: pl.DataFrame, findings: pl.DataFrame, *, notes: tuple[str, ...] = ()) -> Selection:
    """Return the images without those that were found, and those with their reasons.

    Parameters
    ----------
    images
        An images table.
    findings
        Columns row (from 0, each once), reason and step.
    notes
        What else there is to say.
    """
    numbered = images.with_row_index("__row")
    found = findings.select(pl.col("row").cast(pl.UInt32).alias("__row"), "reason", "step")
    kept = numbered.join(found, on="__row", how="anti", maintain_order="left").drop("__row")
    path = pl.coalesce("path", "image_id") if "path" in images.columns else pl.col("image_id")
    others = [name for name in images.columns if name not in ADDED]
    rejects = (
        numbered.drop("reason", "step", strict=False)
        .join(found, on="__row", how="inner")
        .sort("__row")
        .select(path.alias("path"), "reason", "step", *others)
    )
    return Selection(kept=kept, rejects=rejects, notes=notes)
