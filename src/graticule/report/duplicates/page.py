"""The page of near-duplicates: pairs side by side, the least sure first; one file, without a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import polars as pl
from markupsafe import Markup

from graticule.data.store import write_text
from graticule.report.drawing.symbols import define_hatch, define_symbols
from graticule.report.render import load_templates, read_style, write_policy
from graticule.report.thumbnails import Thumbnail, make_thumbnails

PAIRS_SHOWN = 120
"""Pairs of each rule on the page; all stand in the table."""
CHAINS_SHOWN = 24
LINKS_SHOWN = 8
"""Images of a chain that are shown."""
RULES = {
    "sha256": ("The same file", "Byte for byte equal."),
    "pixels": ("The same pixels", "The decoded pictures are equal; something else in the files differs."),
    "perceptual": ("The same picture", "Recompressed, resized, brighter, turned, or a little cropped."),
    "geonet": ("The same scene", "Taken near each other, and near in colours and in small pictures."),
    "embedding": ("Alike to the network", "The features point nearly the same way."),
}
"""Rule → its heading, and what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One image of a pair."""

    image_id: str
    thumbnail: Thumbnail
    is_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An image that goes, and the one for whose sake."""

    stays: Side
    goes: Side
    distance: str
    cluster: str
    n_images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The pairs of one rule."""

    rule: str
    title: str
    meaning: str
    pairs: tuple[Pair, ...]
    n_all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A cluster whose ends are not alike."""

    sides: tuple[Side, ...]
    n_images: int
    n_kept: int
    distance: str


def write_pairs(
    page: Path,
    clusters: pl.DataFrame,
    *,
    base: Path | None,
    chains: frozenset[str],
    n_images: int,
    version: str,
) -> Path:
    """Write the page of pairs, and return its path.

    Parameters
    ----------
    page
        The file to write.
    clusters
        A `DUPLICATES` table.
    base
        Folder that the images' paths start from; None if they are not at hand.
    chains
        Clusters whose ends are farther apart than the threshold.
    n_images
        Images that were looked at.
    version
        Graticule's version, for the foot of the page.
    """
    gone = clusters.filter(~pl.col("is_kept")).sort(["distance", "image_id"], descending=[True, False])
    kept = clusters.filter(pl.col("is_kept"))
    shown = {rule: gone.filter(pl.col("reason") == rule) for rule in RULES}
    chained = clusters.filter(pl.col("cluster").is_in(list(chains)))
    thumbnails = make_thumbnails(_order_paths(clusters, shown, chained), base=base)
    faces = _Faces(paths=dict(clusters.select("image_id", "path").iter_rows()), thumbnails=thumbnails)
    sections = tuple(_make_section(rule, rows, faces) for rule, rows in shown.items() if rows.height)
    style = Markup(read_style() + _read_own_style())
    text = load_templates().get_template("duplicates.html").render(
        title="Near-duplicates",
        n_images=n_images,
        n_gone=gone.height,
        n_kept=kept.height,
        n_clusters=clusters["cluster"].n_unique(),
        sections=sections,
        chains=_make_chains(chained, faces),
        n_chains=chained["cluster"].n_unique(),
        version=version,
        style=style,
        policy=write_policy(style=style, script=""),
        symbols=define_symbols(),
        hatch=define_hatch(),
    )  # fmt: skip
    return write_text(text, page)


def _read_own_style() -> str:
    return files("graticule.report").joinpath("templates", "duplicates.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faces:
    """What to show of an image."""

    paths: Mapping[str, str | None]
    thumbnails: Mapping[str, Thumbnail]

    def show(self, image_id: str, *, is_kept: bool) -> Side | None:
        """Return one image; None where the page has no room for it."""
        path = self.paths.get(image_id) or ""
        if path not in self.thumbnails:
            return None
        return Side(image_id=image_id, thumbnail=self.thumbnails[path], is_kept=is_kept)


def _order_paths(clusters: pl.DataFrame, shown: Mapping[str, pl.DataFrame], chained: pl.DataFrame) -> list[str]:
    """Return the paths of what is shown, chains first, then the rules' pairs in turns: the budget cuts all alike."""
    paths = dict(clusters.select("image_id", "path").iter_rows())
    names = [
        name
        for _, rows in list(chained.group_by("cluster", maintain_order=True))[:CHAINS_SHOWN]
        for name in rows["image_id"].head(LINKS_SHOWN)
    ]
    for place in range(PAIRS_SHOWN):
        for rows in shown.values():
            if place < rows.height:
                names += [rows["nearest"][place], rows["image_id"][place]]
    return [paths.get(name) or "" for name in names]


def _make_section(rule: str, rows: pl.DataFrame, faces: _Faces) -> Section:
    pairs: list[Pair] = []
    for row in rows.head(PAIRS_SHOWN).iter_rows(named=True):
        stays, goes = faces.show(row["nearest"], is_kept=True), faces.show(row["image_id"], is_kept=False)
        if stays is not None and goes is not None:
            pairs.append(
                Pair(
                    stays=stays,
                    goes=goes,
                    distance=write_distance(rule, row["distance"]),
                    cluster=row["cluster"],
                    n_images=row["n_images"],
                )
            )
    title, meaning = RULES[rule]
    return Section(rule=rule, title=title, meaning=meaning, pairs=tuple(pairs), n_all=rows.height)


def _make_chains(chained: pl.DataFrame, faces: _Faces) -> tuple[Chain, ...]:
    chains: list[Chain] = []
    for _, rows in list(chained.group_by("cluster", maintain_order=True))[:CHAINS_SHOWN]:
        names: Sequence[tuple[str, bool]] = rows.select("image_id", "is_kept").head(LINKS_SHOWN).rows()
        sides = [faces.show(name, is_kept=is_kept) for name, is_kept in names]
        chains.append(
            Chain(
                sides=tuple(side for side in sides if side is not None),
                n_images=rows.height,
                n_kept=int(rows["is_kept"].sum()),
                distance=write_distance(rows["largest_by"][0], rows["largest_distance"][0]),
            )
        )
    return tuple(chains)


def write_distance(rule: str, distance: float) -> str:
    """Return a rule's distance in words.

    Examples
    --------
    >>> write_distance("perceptual", 1.0), write_distance("geonet", 0.0312), write_distance("sha256", 0.0)
    ('1 of 63 bits differs', 'pixel distance 0.031', 'equal')
    """
    if rule == "perceptual":
        return f"{distance:.0f} of 63 bits {'differs' if distance == 1 else 'differ'}"
    if rule in ("sha256", "pixels"):
        return "equal"
    return f"{'pixel' if rule == 'geonet' else 'cosine'} distance {distance:.3f}"
