"""Fewer candidates: those that people selected when asked about one label at a time (CONTAINS).

The rule is that of Tsipras et al. 2020, appendix B.1.2, in this order:

1. keep the given label, whatever people say of it;
2. keep labels that at least half of the workers selected;
3. keep labels that anyone selected and that are more than 5 WordNet nodes from the given one: another object, perhaps;
4. while fewer than 5 are kept, add the most selected of the rest;
5. cut to 6: of the labels beyond the sixth those that fewer than half of the workers selected go, and where at most one
   worker in eight selected the given label, all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.annotation.distance import FAR_NODES, Distance
from graticule.data.tables import CANDIDATES, LABELS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown

GIVEN, SELECTED, DISTANT, FILLED = "given", "selected", "distant", "filled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneConfig:
    """Thresholds of the pruning; the defaults are the paper's (appendix B.1.2)."""

    min_frequency: float = 0.5
    """Labels that at least this share of the workers selected are kept."""
    far_nodes: float = FAR_NODES
    """Labels farther than this from the given one are kept if anyone selected them."""
    fill_to: int = 5
    cut_to: int = 6
    weak_given_frequency: float = 1 / 8
    """Where the given label's frequency is not above this, the cut spares no label but the given one."""

    def __post_init__(self) -> None:
        if not 1 <= self.fill_to <= self.cut_to:
            raise ConfigError(f"fill_to is {self.fill_to} and cut_to {self.cut_to}; expected 1 ≤ fill_to ≤ cut_to.")
        for name in ("min_frequency", "weak_given_frequency"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} is {value}, expected a share from 0 to 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """Candidates after pruning."""

    kept: pl.DataFrame
    """A `CANDIDATES` table with selection_frequency, n_workers, distance and kept_for."""
    rejects: pl.DataFrame
    """What was dropped: path (the image_id), label, selection_frequency, reason."""
    n_unasked: int
    """Candidates that nobody was asked about; they count as selected by nobody."""


def prune_candidates(
    candidates: pl.DataFrame, frequencies: pl.DataFrame, *, distance: Distance, config: PruneConfig | None = None
) -> Pruned:
    """Return the candidates that are worth a CLASSIFY task.

    Parameters
    ----------
    candidates
        What `graticule.annotation.candidates.find_candidates` returned.
    frequencies
        A row an image and label: selection_frequency, and n_workers where it is known (a `LABELS` table, as the
        aggregation by selection frequency returns it). Pairs that are no candidates (controls, say) are ignored.
    distance
        How far labels are from one another.
    config
        The thresholds.

    Raises
    ------
    TableError
        A table breaks its declaration, or the two have no image and label in common.

    Notes
    -----
    Ties in selection frequency go to the label that more models proposed, then to the better best rank, then to the
    label's name. The paper does not say how it breaks them.
    """
    config = config or PruneConfig()
    joined = _join_frequencies(candidates, frequencies)
    n_unasked = joined["selection_frequency"].null_count()
    judged = _judge(_measure(joined, distance, config=config), config=config)
    kept = judged.filter("is_kept")
    dropped = judged.filter(~pl.col("is_kept"))
    columns = [name for name in (*CANDIDATES.columns, *candidates.columns) if name in judged.columns]
    return Pruned(
        kept=kept.select(list(dict.fromkeys(columns))),
        rejects=dropped.select(
            pl.col("image_id").alias("path"), "label", "selection_frequency", _reason(config).alias("reason")
        ),
        n_unasked=n_unasked,
    )


def _join_frequencies(candidates: pl.DataFrame, frequencies: pl.DataFrame) -> pl.DataFrame:
    asked = validate_table(candidates, CANDIDATES, where="candidates")
    answered = validate_table(frequencies, LABELS, where="selection frequencies")
    if asked.is_empty():
        raise TableError("candidates: the table is empty; expected at least one candidate to prune.")
    if "selection_frequency" not in answered.columns:
        raise TableError(
            f"selection frequencies: no column 'selection_frequency'; the columns are {shown(answered.columns)}. "
            "Aggregate the answers with the method selection_frequency."
        )
    if "n_workers" not in answered.columns:
        answered = answered.with_columns(pl.lit(None, dtype=pl.Int64).alias("n_workers"))
    old = [name for name in ("selection_frequency", "n_workers", "distance", "kept_for") if name in asked.columns]
    pairs = answered.select("image_id", "label", "selection_frequency", "n_workers")
    joined = asked.drop(old).join(pairs, on=["image_id", "label"], how="left", maintain_order="left")
    if joined["selection_frequency"].null_count() == joined.height:
        raise TableError(
            "selection frequencies: none of them is of a candidate; they name images and labels such as "
            f"{shown(pairs.select('image_id', 'label').head(2).rows())}, the candidates "
            f"{shown(asked.select('image_id', 'label').head(2).rows())}. Use the same names."
        )
    return joined


def _measure(joined: pl.DataFrame, distance: Distance, *, config: PruneConfig) -> pl.DataFrame:
    """Add the distance from the given label where the rule asks for it: rarely selected, but selected."""
    given = joined.filter("is_given").select("image_id", pl.col("label").alias("given"))
    doubtful = (
        joined.lazy()
        .filter(~pl.col("is_given"), pl.col("selection_frequency").is_between(0, config.min_frequency, closed="none"))
        .join(given.lazy(), on="image_id", how="inner")
        .select("image_id", "label", "given")
        .collect()
    )
    pairs = doubtful.select("given", "label").unique(maintain_order=True)
    measured = pairs.with_columns(
        pl.Series("distance", distance.measure(pairs["given"].to_list(), pairs["label"].to_list()), dtype=pl.Float64)
    )
    far = doubtful.join(measured, on=["given", "label"], how="left").select("image_id", "label", "distance")
    return joined.join(far, on=["image_id", "label"], how="left", maintain_order="left")


def _judge(joined: pl.DataFrame, *, config: PruneConfig) -> pl.DataFrame:
    """Add `kept_for` (before the cut) and `is_kept`; rows come back in the order they had."""
    frequency = pl.col("selection_frequency").fill_null(0.0)
    ties = [pl.col(name) for name in ("n_models", "best_rank") if name in joined.columns]
    descending = [False, True, True] + [
        name == "n_models" for name in ("n_models", "best_rank") if name in joined.columns
    ]
    chosen = (
        pl.when("is_given")
        .then(pl.lit(GIVEN))
        .when(frequency >= config.min_frequency)
        .then(pl.lit(SELECTED))
        .when((frequency > 0) & (pl.col("distance") > config.far_nodes))
        .then(pl.lit(DISTANT))
    )
    ordered = (
        joined.with_row_index("row")
        .with_columns(chosen.alias("kept_for"), frequency.alias("frequency"))
        .sort("image_id", "is_given", "frequency", *ties, "label", descending=[*descending, False], nulls_last=True)
    )
    by_image = "image_id"
    room = (config.fill_to - pl.col("kept_for").is_not_null().sum().cast(pl.Int64)).over(by_image)
    place = pl.col("kept_for").is_null().cum_sum().over(by_image)
    filled = ordered.with_columns(
        pl.when(pl.col("kept_for").is_null() & (place.cast(pl.Int64) <= room))
        .then(pl.lit(FILLED))
        .otherwise("kept_for")
        .alias("kept_for")
    )
    is_chosen = pl.col("kept_for").is_not_null()
    beyond = is_chosen.cum_sum().over(by_image) > config.cut_to
    given_frequency = pl.col("frequency").filter("is_given").max().over(by_image).fill_null(0.0)
    is_weak = (pl.col("frequency") < config.min_frequency) | (given_frequency <= config.weak_given_frequency)
    return filled.with_columns(
        (is_chosen & ~(beyond & is_weak & ~pl.col("is_given"))).alias("is_kept"), is_chosen.alias("was_chosen")
    ).sort("row")


def _reason(config: PruneConfig) -> pl.Expr:
    return (
        pl.when("was_chosen")
        .then(pl.format("beyond the {} most selected labels", pl.lit(config.cut_to)))
        .otherwise(
            pl.format(
                "selected by fewer than {} of the workers, not far from the given label, and {} others are kept",
                pl.lit(f"{config.min_frequency:g}"),
                pl.lit(f"at least {config.fill_to}"),
            )
        )
    )
