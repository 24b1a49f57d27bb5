"""Near-duplicates among images: clusters, what is left out and why, by one rule or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import polars as pl
from jaxtyping import Float32, Int64

from graticule.curation.duplicates import RULES
from graticule.curation.duplicates.clusters import group_links
from graticule.curation.duplicates.rows import RuledLinks, describe_clusters, give_reasons
from graticule.curation.duplicates.rule import DuplicateConfig, Evidence, Links, Rule, require_columns
from graticule.curation.duplicates.signature_store import recall_signatures
from graticule.curation.duplicates.signatures import Reading
from graticule.curation.selection import Selection, divide_images
from graticule.errors import ConfigError, TableError, shown, unknown_choice

USUAL = ("sha256", "pixels", "perceptual")
OPENS_FILES = ("pixels", "perceptual", "geonet")
UNREADABLE = "unreadable"
DUPLICATE = "dedup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """Sides of a data set between which near-duplicates are looked for, and the side that loses them."""

    column: str = "split"
    remove: str = "train"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duplicates:
    """What was found."""

    selection: Selection
    """Images that stay, with the column ``cluster``; the others, unreadable ones among them, with their reasons."""
    clusters: pl.DataFrame
    """A `DUPLICATES` table."""


def find_duplicates(
    images: pl.DataFrame,
    rules: Sequence[str] = USUAL,
    *,
    config: DuplicateConfig | None = None,
    features: pl.DataFrame | None = None,
    across: Across | None = None,
    reading: Reading | None = None,
) -> Duplicates:
    """Return the images without their near-duplicates, the near-duplicates with reasons, and all clusters.

    Parameters
    ----------
    images
        An images table.
    rules
        Names of `graticule.curation.duplicates.RULES`.
    config
        Thresholds.
    features
        A features table, for the rule ``embedding``.
    across
        Look for pairs between the sides of a data set only, and leave out the images of one; None looks at all pairs.
    reading
        Where the files lie, and how they are read.

    Raises
    ------
    ConfigError
        There is no rule of that name, none was named, or one lacks what it needs.
    TableError
        A column or an image's features are missing.
    """
    settings, chosen = config or DuplicateConfig(), _choose(rules)
    sides = None if across is None else _read_sides(images, across)
    known = None if "embedding" not in chosen else _align_features(images, features)
    signatures = _read(images, chosen, reading or Reading())
    rank = _rank(images, signatures, sides)
    evidence = Evidence(
        images=images,
        rank=rank,
        signatures=signatures,
        features=known,
        base="." if reading is None else reading.base,
    )
    links = _link(evidence, settings, chosen, sides)
    may_go = np.ones(images.height, dtype=bool) if sides is None else sides == 1
    grouping = group_links(links.links, links.order, rank, may_go=may_go)
    clusters = describe_clusters(evidence, settings, grouping, links)
    return Duplicates(selection=_select(evidence, clusters, across=across, rules=chosen), clusters=clusters.drop("row"))


def load_rule(name: str) -> Rule:
    """Return the rule of a name."""
    module, _, attribute = RULES[name][0].partition(":")
    return getattr(import_module(module), attribute)


def _choose(rules: Sequence[str]) -> list[str]:
    for name in rules:
        if name not in RULES:
            raise unknown_choice("rule", name, RULES)
    if not rules:
        raise ConfigError(f"no rule was named, expected one or more of: {', '.join(RULES)}.")
    return [name for name in RULES if name in rules]


def _read_sides(images: pl.DataFrame, across: Across) -> Int64[np.ndarray, " n"]:
    """Return 1 for images of the side that loses near-duplicates, 0 for the others, -1 for those on no side."""
    if across.column not in images.columns:
        raise TableError(
            f"images: no column '{across.column}' (--across); the columns are {shown(images.columns, limit=12)}. "
            "`graticule curate split` adds 'split'."
        )
    values = images[across.column].cast(pl.String)
    names = values.drop_nulls().unique().sort().to_list()
    if across.remove not in names or len(names) < 2:
        raise ConfigError(
            f"--remove-from {across.remove}: the column '{across.column}' holds {shown(names)}, expected "
            f"'{across.remove}' and at least one other. Name one of its values."
        )
    return values.eq(across.remove).cast(pl.Int64).fill_null(-1).to_numpy()


def _align_features(images: pl.DataFrame, features: pl.DataFrame | None) -> Float32[np.ndarray, "n d"]:
    """Return the images' features, in the order of the images."""
    if features is None:
        raise ConfigError(
            "the rule 'embedding' compares features, and none were given. Add --features FILE, as `graticule embed` "
            "writes it, or leave the rule out."
        )
    joined = images.select("image_id").join(
        features.select("image_id", "features"), on="image_id", how="left", maintain_order="left"
    )
    missing = joined.filter(pl.col("features").is_null())["image_id"].to_list()
    if missing:
        raise TableError(
            f"features: {len(missing)} of {images.height} images have none ({shown(missing)}). "
            "Run `graticule embed` on this table of images, or leave the rule 'embedding' out."
        )
    values = joined["features"].to_numpy().astype(np.float32)
    broken = joined["image_id"].gather(np.flatnonzero(~np.isfinite(values).all(axis=1))).to_list()
    if broken:
        raise TableError(
            f"features: {len(broken)} images have a value that is not a number ({shown(broken)}). "
            "Expected finite ones: run `graticule embed` again, or leave these images out."
        )
    return values


def _read(images: pl.DataFrame, rules: Sequence[str], reading: Reading) -> pl.DataFrame | None:
    """Return what the files hold, if any rule asks for it."""
    is_hashed = "sha256" in images.columns and images["sha256"].null_count() == 0
    opening = [name for name in rules if name in OPENS_FILES or (name == "sha256" and not is_hashed)]
    if not opening:
        return None
    require_columns(images, "path", rule=opening[0], remedy="It opens every image: add paths, or choose other --rules.")
    wanted = replace(reading, pictures=bool(set(rules) & set(OPENS_FILES)), colours="geonet" in rules)
    return recall_signatures(images["path"].to_list(), reading=wanted)


def _rank(
    images: pl.DataFrame, signatures: pl.DataFrame | None, sides: Int64[np.ndarray, " n"] | None
) -> Int64[np.ndarray, " n"]:
    """Return each image's place in the order of preference: the side that stays, then most pixels, then its name."""
    known = images if signatures is None else pl.concat([images, signatures], how="horizontal")
    size = pl.lit(0)
    for width, height in (("width", "height"), ("seen_width", "seen_height")):
        if width in known.columns and height in known.columns:
            size = pl.coalesce(pl.col(width) * pl.col(height), size)
    order = known.select(
        (pl.lit(0) if sides is None else pl.Series(sides == 1)).alias("goes"), size.alias("size"), "image_id"
    )
    numbered = order.with_row_index("row").sort(["goes", "size", "image_id"], descending=[False, True, False])
    rank = np.empty(images.height, dtype=np.int64)
    rank[numbered["row"].to_numpy()] = np.arange(images.height)
    return rank


def _link(
    evidence: Evidence, config: DuplicateConfig, rules: Sequence[str], sides: Int64[np.ndarray, " n"] | None
) -> RuledLinks:
    """Return the links of all rules, the surest first."""
    is_read = np.ones(evidence.images.height, dtype=bool)
    if evidence.signatures is not None:
        is_read = evidence.signatures["trouble"].is_null().to_numpy()
    parts: list[Links] = []
    numbers: list[Int64[np.ndarray, " m"]] = []
    for name in rules:
        found = load_rule(name)(evidence, config)
        wanted = is_read[found.first] & is_read[found.second]
        if sides is not None:
            one, other = sides[found.first], sides[found.second]
            wanted &= (one >= 0) & (other >= 0) & (one != other)
        parts.append(Links(first=found.first[wanted], second=found.second[wanted], distance=found.distance[wanted]))
        numbers.append(np.full(int(wanted.sum()), list(RULES).index(name), dtype=np.int64))
    links = Links(
        first=np.concatenate([part.first for part in parts]),
        second=np.concatenate([part.second for part in parts]),
        distance=np.concatenate([part.distance for part in parts]),
    )
    rule = np.concatenate(numbers)
    ranks = np.sort(np.stack([evidence.rank[links.first], evidence.rank[links.second]]), axis=0)
    order = np.empty(len(rule), dtype=np.int64)
    order[np.lexsort((ranks[1], ranks[0], links.distance, rule))] = np.arange(len(rule))
    return RuledLinks(links=links, rule=rule, order=order)


def _select(evidence: Evidence, clusters: pl.DataFrame, *, across: Across | None, rules: Sequence[str]) -> Selection:
    """Return the images that stay, with their clusters, and the others with reasons."""
    images = evidence.images.drop("cluster", strict=False)
    notes = ["the table's earlier column 'cluster' was replaced."] if "cluster" in evidence.images.columns else []
    names = clusters.select(pl.col("row"), "cluster")
    numbered = images.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    named = numbered.join(names, on="row", how="left", maintain_order="left").drop("row")
    reasons = give_reasons(clusters, across=None if across is None else across.remove)
    findings = [reasons.with_columns(pl.lit(DUPLICATE).alias("step"))]
    if evidence.signatures is not None:
        trouble = evidence.signatures.with_row_index("row").filter(pl.col("trouble").is_not_null())
        findings.append(
            trouble.select(
                pl.col("row").cast(pl.Int64), pl.col("trouble").alias("reason"), pl.lit(UNREADABLE).alias("step")
            )
        )
    if "geonet" in rules:
        n_lost = evidence.images.filter(pl.col("latitude").is_null() | pl.col("longitude").is_null()).height
        if n_lost:
            notes.append(f"{n_lost} images have no coordinates, so the rule 'geonet' compared them with none.")
    return divide_images(named, pl.concat(findings), notes=tuple(notes))
