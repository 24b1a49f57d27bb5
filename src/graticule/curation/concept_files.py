"""A table of images and their features on disk → the images of labels that look different, and the table of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import polars as pl

from graticule.curation.concepts.concept import ConceptConfig
from graticule.curation.concepts.prune import prune_labels, read_drops, read_merges
from graticule.curation.concepts.rank import rank_concepts
from graticule.curation.concepts.tags import fill_labels, match_tags
from graticule.curation.concepts.translations import find_shared_names, read_concepts
from graticule.curation.curated_files import check_output, read_pile, write_selection
from graticule.curation.selection import Selection
from graticule.data.store import read_table, replace_atomically
from graticule.data.tables import FEATURES
from graticule.errors import ConfigError, TableError

LABELS_SHOWN = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptRequest:
    """What is to be done with the labels of a table; at least one of features, names, drop and merge."""

    features: Path | None = None
    names: Path | None = None
    """Names of labels: images without a label get the one that their tags name."""
    drop: Path | None = None
    merge: Path | None = None
    heuristics: Sequence[str] = ()
    keep: str = "any"
    by: str = "region"
    config: ConceptConfig = field(default_factory=ConceptConfig)

    @property
    def inputs(self) -> dict[str, Path]:
        """The files that were given, by name."""
        given = (self.features, self.names, self.drop, self.merge)
        return {path.name: path for path in given if path is not None}


def concepts_file(
    source: str | Path, output: str | Path, *, request: ConceptRequest, layout: str | None = None
) -> tuple[str, ...]:
    """Write the images of the labels that are kept, and what was found out about labels; return what to print.

    Writes ``OUTPUT.rejects.parquet`` too; with features ``OUTPUT.concepts.csv`` (the table of labels), with names
    ``OUTPUT.names.csv`` (each name and how many images it brought).

    Raises
    ------
    GraticuleError
        A file cannot be read or written, nothing is to be done, or a step refuses its input; nothing is written.
    """
    if not request.inputs:
        raise ConfigError(
            "nothing to do: expected --features (which labels look different), --names (labels from tags), --drop or "
            "--merge. See graticule curate concepts --help."
        )
    place = check_output(Path(output))
    pile = read_pile(source, layout=layout)
    images, lines = pile.images, list[str]()
    tables: dict[str, pl.DataFrame] = {}
    if request.names is not None:
        images, tables["names"], said = _name_by_tags(images, request.names)
        lines += said
    selection = Selection(kept=images, rejects=_no_rejects(images))
    if request.features is not None:
        ranking = rank_concepts(
            images,
            read_table(request.features, FEATURES),
            heuristics=request.heuristics or None,
            keep=request.keep,
            by=request.by,
            config=request.config,
        )
        tables["concepts"] = ranking.table
        selection = ranking.selection
        lines += describe_ranking(ranking.table)
    drops = read_drops(request.drop) if request.drop else ()
    merges = read_merges(request.merge) if request.merge else {}
    if drops or merges:
        kept = set(selection.kept["label"].drop_nulls().to_list())
        gone = set(images["label"].drop_nulls().to_list()) - kept
        pruned = prune_labels(
            selection.kept,
            drops=[label for label in drops if label not in gone],
            merges={variant: label for variant, label in merges.items() if variant not in gone},
        )
        rejects = pl.concat([selection.rejects, pruned.rejects], how="diagonal_relaxed")
        selection = Selection(kept=pruned.kept, rejects=rejects, notes=(*selection.notes, *pruned.notes))
    lines += write_selection(
        selection,
        place,
        pile=pile,
        command="curate concepts",
        config={**asdict(request.config), "keep": request.keep, "heuristics": list(request.heuristics)},
        inputs=request.inputs,
        seed=request.config.seed,
    )
    for word, table in tables.items():
        path = place.with_name(f"{place.stem}.{word}.csv")
        with replace_atomically(path) as temporary:
            table.write_csv(temporary)
        lines.append(f"{word.capitalize() + ':':<9}{path}")
    return tuple(lines)


def describe_ranking(table: pl.DataFrame) -> list[str]:
    """Return the first labels of a ranking as lines of text."""
    names = [name.removesuffix("_kept") for name in table.columns if name.endswith("_kept") and name != "is_kept"]
    lines = [f"{'rank':>5} {'label':<28}{'images':>8}  " + "  ".join(f"{name:>22}" for name in names)]
    for row in table.head(LABELS_SHOWN).iter_rows(named=True):
        cells = "  ".join(_write_score(row, name) for name in names)
        lines.append(f"{row['rank'] or '–':>5} {row['label'][:27]:<28}{row['n_images']:>8}  {cells}")
    more = table.height - LABELS_SHOWN
    return [*lines, "(* kept; intervals of 95 %)", *([f"{more} more in the table."] if more > 0 else [])]


def _write_score(row: dict[str, object], name: str) -> str:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if not isinstance(value, float) or math.isnan(value):
        return f"{'–':>22}"
    return f"{f'{value:.2f} [{low:.2f}, {high:.2f}]':>20} {'*' if row[f'{name}_kept'] else ' '}"


def _no_rejects(images: pl.DataFrame) -> pl.DataFrame:
    return images.clear().select(
        pl.lit(None, dtype=pl.String).alias("path"),
        pl.lit(None, dtype=pl.String).alias("reason"),
        pl.lit(None, dtype=pl.String).alias("step"),
        pl.exclude("path", "reason", "step"),
    )


def _name_by_tags(images: pl.DataFrame, source: Path) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Return the images with labels from tags, how many images each name matches, and what to print."""
    concepts = read_concepts(source)
    if "tags" not in images.columns:
        raise TableError("images: no column 'tags', which --names looks at. Leave --names out, or add tags.")
    filled = fill_labels(images, concepts)
    by_name = concepts.with_columns(pl.col("folded").alias("__one"))
    matches = match_tags(images["tags"], by_name.select(pl.col("__one").alias("label"), "folded"))
    counts = matches.group_by(pl.col("label").alias("folded")).agg(pl.len().alias("n_images"))
    table = concepts.join(counts, on="folded", how="left", maintain_order="left").with_columns(
        pl.col("n_images").fill_null(0)
    )
    had = images["label"].is_not_null().sum() if "label" in images.columns else 0
    n_new = int(filled["label"].is_not_null().sum()) - int(had)
    languages = table.group_by("language").agg(pl.col("n_images").sum()).sort("n_images", descending=True)
    shared = find_shared_names(concepts).height
    lines = [
        f"{n_new} images without a label get the one that their tags name.",
        "Tags found by language: " + ", ".join(f"{name} {n}" for name, n in languages.iter_rows()),
        *([f"{shared} names stand for several labels and tell none."] if shared else []),
    ]
    return filled, table, lines
