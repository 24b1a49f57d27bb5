"""Train, validation and test: by region and label, by a seed, with groups that never stand on two sides.

There are two ways, for two needs that exclude each other. ``hash`` decides on every image by itself, from its name and
the seed: whatever is added later, no image moves, and nothing has to be remembered; the sizes are those of a draw.
``exact`` makes the sizes come out exactly, so what an image gets depends on the others; it moves none either as long as
it is given the earlier splits, which every table that was split once holds in its column ``split``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from jaxtyping import Int64, UInt64

from graticule.curation.selection import Selection, divide_images
from graticule.curation.split_exact import UNDECIDED, Cells, deal_exactly, find_targets
from graticule.curation.split_groups import find_groups, hash_groups
from graticule.curation.split_sizes import SplitSizes, make_sizes
from graticule.errors import ConfigError, TableError, shown, unknown_choice

METHODS = {
    "hash": "every image by its own hash: nothing moves when images are added, sizes are those of a draw",
    "exact": "sizes exact in every region and even over labels; nothing moves as long as earlier splits are given",
}
STEP = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitConfig:
    """How images are split."""

    sizes: SplitSizes = field(default_factory=lambda: make_sizes({"train": "0.85", "test": "0.15"}))
    """GeoNet holds out roughly 15 % of each domain (section 3.2); GeoDE's evaluation takes 60, 20 and 20 %."""
    method: str | None = None
    """One of `METHODS`; None is ``hash`` for shares and ``exact`` for counts."""
    by: str | None = None
    """Column in whose every value the sizes hold; None is ``region`` where there is one."""
    stratify: str | None = None
    """Column whose values are spread evenly; None is ``label`` where there is one."""
    groups: tuple[str, ...] = ()
    """Columns whose equal values keep images on one side: worker_id, a cluster of duplicates …"""
    place_degrees: float | None = None
    """Width of the grid cells whose images stay on one side; None looks at no place."""
    key: str = "image_id"
    """Column that names an image to the draw: ``sha256`` survives renaming."""
    overwrite: bool = False
    """Whether images that have a split already are dealt anew."""
    seed: int = 0

    @property
    def chosen_method(self) -> str:
        """The method in use."""
        return self.method or ("exact" if self.sizes.counts else "hash")

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS, where="--method")
        if self.method == "hash" and self.sizes.counts:
            raise ConfigError(
                "--method hash with sizes in images: a hash knows no counts; expected shares, as in train=0.85 "
                "test=0.15. Give shares, or --method exact."
            )


def split_images(
    images: pl.DataFrame, *, config: SplitConfig | None = None, previous: pl.DataFrame | None = None
) -> Selection:
    """Return the images with the column ``split``, and those that no split can take, with the reason.

    Parameters
    ----------
    images
        An images table. Those that have a split keep it, unless the config says otherwise.
    config
        How to split.
    previous
        Earlier splits: image_id and split. They win over the images' own.

    Raises
    ------
    ConfigError
        A split that an image has is not among the sizes.
    TableError
        A column is missing, a cell has fewer images than counts ask for, or images of one group have different
        splits already.

    Notes
    -----
    Left out is what counts do not ask for where no split takes the rest, and a new image that ties together groups
    which stand in different splits already.
    """
    settings = config or SplitConfig()
    key = _require(images, settings.key, why="names an image to the draw (--key)")
    by = _pick(images, settings.by, usual="region", flag="--by")
    stratify = _pick(images, settings.stratify, usual="label", flag="--stratify")
    earlier = _find_earlier(images, previous, settings)
    groups = find_groups(images, settings.groups, place_degrees=settings.place_degrees)
    numbers = hash_groups(
        images, settings.groups, groups, key=key, seed=settings.seed, place_degrees=settings.place_degrees
    )
    decided, conflicts = _follow(earlier, groups, images=images, config=settings)
    if settings.chosen_method == "hash":
        dealt = np.where(decided == UNDECIDED, _cut_numbers(numbers, settings.sizes), decided)
    else:
        cells = _find_cells(images, by=by, stratify=stratify)
        targets = find_targets(cells, settings.sizes)
        _check_counts(cells, targets, settings.sizes)
        dealt = deal_exactly(cells, targets, groups=groups, numbers=numbers, decided=decided)
    dealt = np.where(conflicts, UNDECIDED, dealt)
    names = np.array([*settings.sizes.names, None], dtype=object)
    named = images.with_columns(pl.Series("split", names[dealt].tolist(), dtype=pl.String))
    selection = divide_images(named, _explain(dealt, conflicts))
    n_kept = int((earlier != UNDECIDED).sum())
    notes = (f"{n_kept} images keep the split that they had.",) if n_kept else ()
    return Selection(kept=selection.kept, rejects=selection.rejects, notes=notes)


def describe_splits(images: pl.DataFrame, *, by: str | None = None) -> tuple[str, ...]:
    """Return the sizes of the splits in sentences: in all, and in each value of ``by``."""
    sentences = [f"All: {_list_sizes(images)}"]
    if by and by in images.columns:
        for (value,), group in images.sort(by, nulls_last=True).group_by([by], maintain_order=True):
            sentences.append(f"{value or 'no ' + by}: {_list_sizes(group)}")
    return tuple(sentences)


def _list_sizes(images: pl.DataFrame) -> str:
    counts = images["split"].value_counts().sort("count", descending=True)
    return ", ".join(f"{split} {n} ({n / max(images.height, 1):.1%})" for split, n in counts.iter_rows())


def _require(images: pl.DataFrame, name: str, *, why: str) -> str:
    if name not in images.columns:
        raise TableError(
            f"images: no column '{name}', which {why}; the columns are {shown(images.columns, limit=12)}. Name one of "
            "these."
        )
    return name


def _find_earlier(images: pl.DataFrame, previous: pl.DataFrame | None, config: SplitConfig) -> Int64[np.ndarray, " n"]:
    """Return the split that each image has already, -1 for none."""
    nothing = pl.Series("split", [None] * images.height, dtype=pl.String)
    own = nothing if config.overwrite or "split" not in images.columns else images["split"].cast(pl.String)
    if previous is not None:
        known = previous.select(pl.col("image_id").cast(pl.String), pl.col("split").cast(pl.String).alias("__split"))
        joined = images.select("image_id").join(
            known.unique("image_id"), on="image_id", how="left", maintain_order="left"
        )
        own = joined["__split"].zip_with(joined["__split"].is_not_null(), own)
    names = {name: number for number, name in enumerate(config.sizes.names)}
    strange = sorted(set(own.drop_nulls().unique().to_list()) - set(names))
    if strange:
        raise ConfigError(
            f"images have the split {shown(strange)} already, expected {shown(names)} as --sizes name them. Add it to "
            "--sizes, or give --overwrite to split all images anew."
        )
    return own.replace_strict(names, default=UNDECIDED, return_dtype=pl.Int64).fill_null(UNDECIDED).to_numpy()


def _follow(
    earlier: Int64[np.ndarray, " n"], groups: Int64[np.ndarray, " n"], *, images: pl.DataFrame, config: SplitConfig
) -> tuple[Int64[np.ndarray, " n"], np.ndarray]:
    """Return the splits, with those of groups that have one already, and which new images tie different ones."""
    if not config.groups and config.place_degrees is None:
        return earlier, np.zeros(len(earlier), dtype=bool)
    old = np.flatnonzero(earlier != UNDECIDED)
    n_groups = int(groups.max(initial=-1)) + 1
    low = np.full(n_groups, len(config.sizes.names), dtype=np.int64)
    high = np.full(n_groups, UNDECIDED, dtype=np.int64)
    np.minimum.at(low, groups[old], earlier[old])
    np.maximum.at(high, groups[old], earlier[old])
    is_torn = (high > low)[groups]
    if is_torn.any():
        _check_old_groups(images, old, earlier, config)
    decided = np.where((earlier == UNDECIDED) & ~is_torn, high[groups], earlier)
    return decided, is_torn & (earlier == UNDECIDED)


def _check_old_groups(
    images: pl.DataFrame, old: Int64[np.ndarray, " m"], earlier: Int64[np.ndarray, " n"], config: SplitConfig
) -> None:
    groups = find_groups(images[old], config.groups, place_degrees=config.place_degrees)
    pairs = np.unique(np.stack([groups, earlier[old]]), axis=1)[0]
    torn = int((np.bincount(pairs) > 1).sum()) if len(pairs) else 0
    if torn:
        what = " and ".join((*config.groups, *(["place"] if config.place_degrees is not None else [])))
        raise TableError(
            f"images: {torn} groups by {what} stand in more than one split already, expected each on one side. "
            "Give --overwrite to split all images anew, or group by something else."
        )


def _cut_numbers(numbers: UInt64[np.ndarray, " n"], sizes: SplitSizes) -> Int64[np.ndarray, " n"]:
    shares = list(sizes.shares.values())
    ends = [int(sum(shares[: split + 1]) * (1 << 64)) for split in range(len(shares) - 1)]
    return np.searchsorted(np.array(ends, dtype=np.uint64), numbers, side="right").astype(np.int64)


def _find_cells(images: pl.DataFrame, *, by: str | None, stratify: str | None) -> Cells:
    block = images[by].cast(pl.String).fill_null("") if by else pl.Series([""] * images.height, dtype=pl.String)
    label = images[stratify].cast(pl.String).fill_null("") if stratify else block
    frame = pl.DataFrame({"block": block, "label": label}).with_row_index("row")
    listed = frame.select("block", "label").unique().sort("block", "label").with_row_index("cell")
    cell = frame.join(listed, on=["block", "label"], maintain_order="left")["cell"].cast(pl.Int64).to_numpy()
    numbers = (listed["block"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    names = tuple(f"{region or '–'} × {name or '–'}" for _, region, name in listed.iter_rows())
    return Cells(cell=cell, block=numbers, names=names)


def _pick(images: pl.DataFrame, name: str | None, *, usual: str, flag: str) -> str | None:
    if name is None:
        return usual if usual in images.columns else None
    return _require(images, name, why=f"was named by {flag}")


def _check_counts(cells: Cells, targets: Int64[np.ndarray, "s c"], sizes: SplitSizes) -> None:
    if not sizes.counts:
        return
    n_images = np.bincount(cells.cell, minlength=len(cells.block))
    wanted = sum(sizes.counts.values())
    thin = [f"{cells.names[cell]} ({n_images[cell]})" for cell in np.flatnonzero(n_images < wanted)]
    if thin:
        raise TableError(
            f"images: {len(thin)} cells have fewer than the {wanted} images that the sizes ask for: {shown(thin)}. "
            "Ask for fewer, or leave thin labels out first: graticule curate filter --use min_images."
        )


def _explain(dealt: Int64[np.ndarray, " n"], conflicts: np.ndarray) -> pl.DataFrame:
    rows = np.flatnonzero(dealt == UNDECIDED)
    tied = "ties together groups that stand in different splits already; taking it would need to move one of them"
    surplus = "its label in its region has all images that the sizes ask for, and no split takes the rest"
    reasons = [tied if conflicts[row] else surplus for row in rows]
    schema = {"row": pl.UInt32(), "reason": pl.String()}
    return pl.DataFrame({"row": rows, "reason": reasons}, schema=schema).with_columns(pl.lit(STEP).alias("step"))
