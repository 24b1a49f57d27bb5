"""The tables that the stages exchange, each declared once.

A declaration says what a row is and, for every column, its type, unit, meaning and range. Validation
(`graticule.data.validate`), the reader (`graticule.data.store`) and the reference page all follow from it. Columns that
are not declared are kept and passed along.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

TEXT = pl.String()
FLOAT = pl.Float64()
COUNT = pl.Int64()
FLAG = pl.Boolean()
TIME = pl.Datetime("us", "UTC")
VECTOR = pl.Array(pl.Float32, 0)
"""A fixed-size list of floats whose width is not known beforehand (features, scores)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: what it holds and what is accepted."""

    dtype: pl.DataType
    meaning: str
    unit: str = ""
    required: bool = False
    nullable: bool = True
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: what a row is, its columns, and which of them name a row."""

    name: str
    row: str
    columns: dict[str, Column]
    key: tuple[str, ...] = ()
    either: tuple[tuple[str, ...], ...] = field(default=())
    """Groups of columns of which at least one must be there."""


def _key(meaning: str) -> Column:
    return Column(dtype=TEXT, meaning=meaning, required=True, nullable=False)


def _text(meaning: str, *, required: bool = False) -> Column:
    return Column(dtype=TEXT, meaning=meaning, required=required, nullable=not required)


IMAGES = Table(
    name="images",
    row="an image",
    key=("image_id",),
    columns={
        "image_id": _key("name of the image, unique in the table"),
        "path": _text("file, relative to this table's file, or a URI"),
        "label": _text("what the image shows, as the data set says"),
        "dataset": _text("data set that the image belongs to"),
        "split": _text("train, validation or test"),
        "region": _text("region of the world, as a region scheme names it"),
        "country": _text("country, ISO 3166-1 alpha-3"),
        "latitude": Column(dtype=FLOAT, unit="degrees north", low=-90, high=90, meaning="where the photo was taken"),
        "longitude": Column(dtype=FLOAT, unit="degrees east", low=-180, high=180, meaning="where the photo was taken"),
        "captured_at": Column(dtype=TIME, unit="UTC", meaning="when the photo was taken"),
        "width": Column(dtype=COUNT, unit="pixels", low=1, meaning="width as shown, after EXIF orientation"),
        "height": Column(dtype=COUNT, unit="pixels", low=1, meaning="height as shown, after EXIF orientation"),
        "sha256": _text("SHA-256 of the file's bytes, in hexadecimal"),
        "tags": Column(dtype=pl.List(pl.String()), meaning="words that came with the photo"),
        "source_id": _text("the image's name where it came from (a Flickr id, say)"),
    },
)

REJECTS = Table(
    name="rejects",
    row="a file or a row that was left out",
    columns={
        "path": _key("file, or the row's image_id where there is no file"),
        "reason": _key("why it was left out, in words"),
    },
)

FEATURES = Table(
    name="features",
    row="an image",
    key=("image_id",),
    columns={
        "image_id": _key("name of the image"),
        "features": Column(dtype=VECTOR, required=True, nullable=False, meaning="feature vector (fixed-size list)"),
    },
)

PREDICTIONS = Table(
    name="predictions",
    row="an image",
    key=("image_id",),
    either=(("scores", "top_labels"),),
    columns={
        "image_id": _key("name of the image"),
        "scores": Column(
            dtype=VECTOR, meaning="a score a label (fixed-size list), in the order of the metadata's labels"
        ),
        "top_labels": Column(
            dtype=pl.List(pl.String()), meaning="where there are no scores: predicted labels, best first"
        ),
        "top_scores": Column(dtype=pl.List(pl.Float32()), meaning="scores of top_labels, where they are known"),
    },
)

ANSWERS = Table(
    name="answers",
    row="one answer of one worker",
    columns={
        "answer_id": _text("name of the answer"),
        "task_id": _key("task that was answered"),
        "kind": _text("contains or classify"),
        "worker_id": _key("who answered"),
        "image_id": _key("image that was asked about"),
        "label": _key("label that was asked about or chosen"),
        "selected": Column(
            dtype=FLAG, meaning="whether the worker selected the label; true when the column is missing"
        ),
        "object": Column(dtype=COUNT, meaning="number of the object that the label names (CLASSIFY)", low=0),
        "is_main": Column(dtype=FLAG, meaning="whether the label names the main object (CLASSIFY)"),
        "is_control": Column(dtype=FLAG, meaning="whether the right answer is known"),
        "assigned_at": Column(dtype=TIME, unit="UTC", meaning="when the worker got the task"),
        "answered_at": Column(dtype=TIME, unit="UTC", meaning="when the worker sent the answer"),
    },
)

CANDIDATES = Table(
    name="candidates",
    row="an image × a label that is worth asking people about",
    key=("image_id", "label"),
    columns={
        "image_id": _key("name of the image"),
        "label": _key("a label that may hold: the given one, or one that a model puts among its best"),
        "is_given": Column(dtype=FLAG, required=True, nullable=False, meaning="whether the data set gives this label"),
        "models": Column(dtype=pl.List(pl.String()), meaning="models that put the label among their best"),
        "ranks": Column(dtype=pl.List(pl.Int64()), meaning="its rank with each of them, 1 the best, in the same order"),
        "n_models": Column(dtype=COUNT, low=0, meaning="how many models put the label among their best"),
        "best_rank": Column(dtype=COUNT, low=1, meaning="its best rank with any model; null where only given"),
        "selection_frequency": Column(dtype=FLOAT, low=0, high=1, meaning="share of workers who selected the label"),
        "n_workers": Column(dtype=COUNT, low=0, meaning="workers who were asked"),
        "distance": Column(dtype=FLOAT, unit="nodes", low=0, meaning="distance from the given label"),
        "kept_for": _text("why pruning kept it: given, selected, distant or filled"),
    },
)

TASKS = Table(
    name="tasks",
    row="a question of a task: an image and a label",
    key=("task_id", "image_id", "label"),
    columns={
        "task_id": _key("name of the task: a grid (CONTAINS) or an image (CLASSIFY)"),
        "kind": _key("contains or classify"),
        "position": Column(dtype=COUNT, required=True, nullable=False, low=0, meaning="place in the task, from 0"),
        "image_id": _key("image that is shown"),
        "label": _key("label that is asked about (CONTAINS) or offered (CLASSIFY)"),
        "description": _text("what the label means, in words"),
        "is_control": Column(dtype=FLAG, meaning="whether the right answer is known; never shown to workers"),
        "n_workers": Column(dtype=COUNT, low=1, meaning="different workers who are to answer the task"),
    },
)

AGREEMENT = Table(
    name="agreement",
    row="a coefficient of agreement between workers",
    columns={
        "statistic": _key("krippendorff_alpha, fleiss_kappa or control_accuracy"),
        "kind": _text("contains or classify"),
        "label": _text("label; null means all"),
        "worker_id": _text("worker against all others; null means all among each other"),
        "value": Column(dtype=FLOAT, meaning="the coefficient; NaN where undefined"),
        "low": Column(dtype=FLOAT, meaning="lower end of its 95 % interval; NaN where there is none"),
        "high": Column(dtype=FLOAT, meaning="upper end of its 95 % interval; NaN where there is none"),
        "n_images": Column(dtype=COUNT, low=0, meaning="images that it rests on"),
        "n_workers": Column(dtype=COUNT, low=0, meaning="workers that it rests on"),
        "n_answers": Column(dtype=COUNT, low=0, meaning="answers that it rests on"),
    },
)

LABELS = Table(
    name="labels",
    row="an image × a label that people accept",
    key=("image_id", "label"),
    columns={
        "image_id": _key("name of the image"),
        "label": _key("a label that people accept"),
        "probability": Column(dtype=FLOAT, low=0, high=1, meaning="probability that the label is right"),
        "selection_frequency": Column(dtype=FLOAT, low=0, high=1, meaning="share of workers who selected the label"),
        "object": Column(dtype=COUNT, low=0, meaning="number of the object that the label names"),
        "is_main": Column(dtype=FLAG, meaning="whether the label names the main object"),
        "n_workers": Column(dtype=COUNT, low=0, meaning="workers who were asked"),
    },
)

METRICS = Table(
    name="metrics",
    row="a number",
    columns={
        "metric": _key("what was measured"),
        "model": _text("model that was measured; null where none is concerned"),
        "region": _text("region; null means all"),
        "label": _text("label; null means all"),
        "group": _text("a further division: a predicted label, a bin, a reading, another model"),
        "value": Column(dtype=FLOAT, meaning="the number; NaN where undefined"),
        "low": Column(dtype=FLOAT, meaning="lower end of its 95 % interval; NaN where there is none"),
        "high": Column(dtype=FLOAT, meaning="upper end of its 95 % interval; NaN where there is none"),
        "n": Column(dtype=COUNT, unit="images", low=0, meaning="images that it rests on"),
        "method": _text("how value and interval were computed"),
    },
)

EMBEDDING = Table(
    name="embedding",
    row="an image",
    key=("image_id",),
    columns={
        "image_id": _key("name of the image"),
        "x": Column(dtype=FLOAT, meaning="first axis of the projection"),
        "y": Column(dtype=FLOAT, meaning="second axis of the projection"),
    },
)

FAILURES = Table(
    name="failures",
    row="an image that a model got wrong, picked for the gallery",
    columns={
        "image_id": _key("name of the image"),
        "path": _text("file, relative to the images table's folder, or a URI"),
        "model": _key("model that was wrong"),
        "region": _text("region of the image"),
        "label": _key("label of the image"),
        "predicted": _key("label that the model gave"),
        "predicted_probability": Column(dtype=FLOAT, meaning="the model's probability of what it predicted"),
        "label_probability": Column(dtype=FLOAT, meaning="the model's probability of the image's label"),
        "picked": _key("random (a fair sample of the cell's errors) or worst (the most confident errors)"),
    },
)

DUPLICATES = Table(
    name="duplicates",
    row="an image that is a near-duplicate of another",
    key=("image_id",),
    columns={
        "image_id": _key("name of the image"),
        "path": _text("file, relative to this table's file, or a URI"),
        "cluster": _key("name of its cluster: the image_id of the cluster's first choice"),
        "is_kept": Column(dtype=FLAG, required=True, nullable=False, meaning="whether the image stays"),
        "reason": _key("rule that links it to the nearest: sha256, pixels, perceptual, geonet or embedding"),
        "distance": Column(dtype=FLOAT, low=0, meaning="distance to the nearest, as the rule measures it"),
        "nearest": _key("image_id of the image for whose sake it goes, or, where it stays, of the nearest one"),
        "n_images": Column(dtype=COUNT, unit="images", low=2, meaning="images of the cluster"),
        "largest_distance": Column(
            dtype=FLOAT, low=0, meaning="largest distance within the cluster; far above the threshold in a chain"
        ),
        "largest_by": _text("rule that measured it: the least sure one that links the cluster"),
    },
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        IMAGES,
        REJECTS,
        FEATURES,
        PREDICTIONS,
        CANDIDATES,
        TASKS,
        ANSWERS,
        AGREEMENT,
        LABELS,
        METRICS,
        EMBEDDING,
        FAILURES,
        DUPLICATES,
    )
}


def get_table(name: str) -> Table:
    """Return the declaration called ``name``."""
    from graticule.errors import unknown_choice

    if name not in TABLES:
        raise unknown_choice("table", name, TABLES)
    return TABLES[name]
