"""Names of labels and areas → a table of Flickr's photos, and photos' ids → their positions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import polars as pl

from graticule.curation.concepts.translations import read_concepts
from graticule.curation.curated_files import check_output, read_pile
from graticule.data.flickr.answers import Answers, open_answers
from graticule.data.flickr.box import Box, read_boxes
from graticule.data.flickr.client import FlickrClient, FlickrConfig, read_key
from graticule.data.flickr.licenses import list_licenses
from graticule.data.flickr.photo import COLUMNS
from graticule.data.flickr.positions import find_positions
from graticule.data.flickr.search import Query, divide_words, search_photos
from graticule.data.moved_paths import move_paths
from graticule.data.scan_files import name_rejects
from graticule.data.store import describe_run, write_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.errors import ConfigError, TableError

NO_PICTURE = "Flickr gives no address of a picture: its owner shares none"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlickrRequest:
    """Which photos are looked for, and how Flickr is asked."""

    areas: tuple[str, ...] = ()
    """West, south, east and north in degrees, with commas between them; none is the whole world."""
    licenses: tuple[int, ...] = ()
    """Flickr's numbers of licences; empty takes all."""
    accuracy: int = 1
    """Least accuracy of positions, 1 (the world) to 16 (a street)."""
    config: FlickrConfig = field(default_factory=FlickrConfig)


def search_flickr(
    names: str | Path, output: str | Path, *, request: FlickrRequest | None = None, progress: bool = True
) -> tuple[str, ...]:
    """Write a table of the photos on Flickr that any name of a label is a tag of; return what to print.

    Parameters
    ----------
    names
        Names of labels in any languages, as `graticule.curation.concepts.translations.read_concepts` takes them.
    output
        The table of images: ``path`` is the address of the picture. Photos without one stand in
        ``OUTPUT.rejects.parquet``. ``OUTPUT.partial/`` keeps the answers until the table is written.
    request
        Areas, licences, and how Flickr is asked; the key comes from the environment.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError
        The key is missing or refused, an area is none, or no photo was found.
    FileError, TableError
        Names cannot be read, or Flickr does not answer; what came so far is kept, and the next run goes on.
    """
    asked = request or FlickrRequest()
    place = check_output(Path(output))
    queries = plan_queries(read_concepts(names), asked)
    client = FlickrClient(key=read_key(), config=asked.config)
    answers = open_answers(place.with_name(f"{place.name}.partial"))
    licenses = list_licenses(client=client, answers=answers)
    parts: list[pl.DataFrame] = []
    n_nameless = n_beyond = 0
    for found in search_photos(queries, client=client, answers=answers, progress=progress):
        n_nameless += found.n_nameless
        n_beyond += found.n_beyond
        if found.photos:
            page = pl.DataFrame(found.photos, schema=COLUMNS)
            parts.append(page.with_columns(pl.lit(found.query.label).alias("label")))
    if not parts:
        answers.remove()
        raise ConfigError(
            f"{names}: Flickr has no photo with such a tag there, expected one or more. Are the areas "
            "west,south,east,north? Add names in the languages of the place, or ask for more licences."
        )
    photos = _join_labels(pl.concat(parts)).with_columns(pl.col("license").replace(licenses))
    has_picture = pl.col("path").is_not_null()
    images = photos.filter(has_picture)
    lost = photos.filter(~has_picture).select(pl.col("image_id").alias("path"), pl.lit(NO_PICTURE).alias("reason"))
    lines = _write(images, lost, place, command="curate flickr", request=asked, inputs=Path(names), client=client)
    n_several = images["label"].null_count()
    answers.remove()
    notes: list[str] = []
    if n_several:
        notes.append(f"  {n_several} bear the tags of several labels, and have none")
    if n_nameless:
        notes.append(f"  {n_nameless} entries of Flickr's had no photo's id and were passed over")
    if n_beyond:
        notes.append(f"  {n_beyond} photos more are said to be there that Flickr does not list: too many at one place")
    return (lines[0], *notes, *lines[1:])


def place_flickr(
    source: str | Path, output: str | Path, *, config: FlickrConfig | None = None, progress: bool = True
) -> tuple[str, ...]:
    """Write a table of images with the positions that Flickr has of them; return what to print.

    Parameters
    ----------
    source
        A table of images whose ``source_id``, or else ``image_id``, is Flickr's number. Those that have a position
        keep it and are not asked for; those without an answer stand in ``OUTPUT.rejects.parquet``.
    output
        The table to write.
    config
        How Flickr is asked; the key comes from the environment.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError
        The key is missing or refused, or no photo has a position.
    FileError, TableError
        The table cannot be read, or Flickr does not answer; what came so far is kept, and the next run goes on.
    """
    asked = FlickrRequest(config=config or FlickrConfig())
    place = check_output(Path(output))
    pile = read_pile(source)
    images = pile.images
    empty = pl.lit(None, dtype=pl.Float64)
    number = pl.coalesce("source_id", "image_id") if "source_id" in images.columns else pl.col("image_id")
    images = images.with_columns(
        *(empty.alias(name) for name in ("latitude", "longitude") if name not in images.columns),
        number.alias("__number"),
    )
    has_place = pl.col("latitude").is_not_null() & pl.col("longitude").is_not_null()
    ids = images.filter(~has_place)["__number"].unique(maintain_order=True).to_list()
    client = FlickrClient(key=read_key(), config=asked.config)
    answers = open_answers(place.with_name(f"{place.name}.partial"))
    found = _ask_positions(ids, client, answers, progress=progress)
    joined = images.join(found, left_on="__number", right_on="source_id", how="left", maintain_order="left")
    joined = joined.with_columns(
        pl.when(has_place).then(pl.col(name)).otherwise(pl.col(f"__{name}")).alias(name)
        for name in ("latitude", "longitude")
    )
    if "position_accuracy" not in joined.columns:
        joined = joined.with_columns(pl.lit(None, dtype=pl.Int64).alias("position_accuracy"))
    joined = joined.with_columns(pl.coalesce("position_accuracy", "__accuracy").alias("position_accuracy"))
    kept = joined.filter(pl.col("latitude").is_not_null())
    own = ("__number", "__latitude", "__longitude", "__accuracy", "__reason")
    lost = joined.filter(pl.col("latitude").is_null()).select(
        pl.col("image_id").alias("path"), pl.col("__reason").alias("reason")
    )
    if kept.is_empty():
        answers.remove()
        raise TableError(
            f"{source}: Flickr has no position of any of its {images.height} images; expected numbers of photos in "
            "source_id or image_id. Are they Flickr's?"
        )
    kept = move_paths(kept.drop(own), pile.base, place.parent)
    lines = _write(
        kept, lost, place, command="curate flickr-positions", request=asked, inputs=Path(source), client=client
    )
    answers.remove()
    return lines


def plan_queries(concepts: pl.DataFrame, request: FlickrRequest) -> list[Query]:
    """Return the searches that find every label in every area.

    Parameters
    ----------
    concepts
        Columns label, name, folded.
    request
        Areas, licences and accuracy.

    Raises
    ------
    ConfigError
        An area is none.
    """
    boxes = [box for area in request.areas for box in read_boxes(area)] or [Box()]
    queries: list[Query] = []
    for (label,), rows in concepts.group_by(["label"], maintain_order=True):
        for words in divide_words(str(label), [*rows["name"].to_list(), *rows["folded"].to_list()]):
            queries += [
                Query(label=str(label), words=words, box=box, licenses=request.licenses, accuracy=request.accuracy)
                for box in boxes
            ]
    return queries


def _join_labels(photos: pl.DataFrame) -> pl.DataFrame:
    """Return each photo once, with its label where a single one found it."""
    labels = photos.group_by("image_id").agg(pl.col("label").unique().alias("__labels"))
    single = pl.when(pl.col("__labels").list.len() == 1).then(pl.col("__labels").list.first())
    return (
        photos.unique("image_id", keep="first", maintain_order=True)
        .join(labels, on="image_id", how="left", maintain_order="left")
        .with_columns(
            single.alias("label"),
            pl.col("captured_at").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_zone="UTC"),
        )
        .drop("__labels")
    )


def _ask_positions(ids: list[str], client: FlickrClient, answers: Answers, *, progress: bool) -> pl.DataFrame:
    rows = [
        (found.source_id, found.latitude, found.longitude, found.accuracy, found.reason)
        for found in find_positions(ids, client=client, answers=answers, progress=progress)
    ]
    schema = {
        "source_id": pl.String(),
        "__latitude": pl.Float64(),
        "__longitude": pl.Float64(),
        "__accuracy": pl.Int64(),
        "__reason": pl.String(),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _write(
    images: pl.DataFrame,
    rejects: pl.DataFrame,
    place: Path,
    *,
    command: str,
    request: FlickrRequest,
    inputs: Path,
    client: FlickrClient,
) -> tuple[str, ...]:
    made = describe_run(command, config=asdict(request), inputs={inputs.name: inputs})
    beside = name_rejects(place)
    write_table(rejects, beside, REJECTS, provenance=made)
    write_table(images, place, IMAGES, provenance=made)
    return (
        f"{images.height} photos with a position, from {client.n_asked} questions to Flickr in this run.",
        f"Kept:    {place}",
        f"Rejects: {beside} ({rejects.height})",
    )
