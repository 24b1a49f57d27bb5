"""What is to be adapted: which images are source, target and test, checked before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.adaptation.inputs import FeatureInputs, Inputs
from graticule.data.query import describe_no_match, select_rows
from graticule.data.tables import FEATURES, IMAGES
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown
from graticule.models.feature_scaling import find_scaling
from graticule.models.probe_training import TrainingImages, pick_training_images, read_features

NO_LABEL = -1
"""Code of an image without a label."""
UNKNOWN = -2
"""Code of an image whose label the source does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """Which images are what, as queries on the images table.

    Parameters
    ----------
    source
        Labelled images to learn from.
    target
        Images of the new geography; their labels are not trained on.
    test
        Images that the metrics are of; None takes the target's.
    validation
        Labelled source images that are held out, for the drop and for model selection; None has none.
    """

    source: str
    target: str
    test: str | None = None
    validation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picked:
    """Images that a query picks and that have features, sorted by their names.

    Parameters
    ----------
    image_ids
        Their names.
    positions
        Their rows in the features, shape ``(n,)``.
    codes
        Indices of their labels among the source's; `NO_LABEL` or `UNKNOWN`, shape ``(n,)``.
    labels
        Their labels as written, None where there is none.
    """

    image_ids: tuple[str, ...]
    positions: Int[np.ndarray, " n"]
    codes: Int[np.ndarray, " n"]
    labels: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Features or photos, and which of them are what.

    Parameters
    ----------
    inputs
        Features or photos; positions are rows of them.
    labels
        The source's labels, in alphabetical order.
    source
        The training images.
    target, test
        The target's images to adapt to, and those to measure on.
    validation
        Held-out source images; None if there are none.
    notes
        What the person who asked should know, a sentence each.
    """

    inputs: Inputs
    labels: tuple[str, ...]
    source: TrainingImages
    target: Picked
    test: Picked
    validation: Picked | None
    notes: tuple[str, ...]

    @property
    def has_unknown(self) -> bool:
        """Whether a test image has a label that the source has not."""
        return bool((self.test.codes == UNKNOWN).any())


def make_problem(
    features: pl.DataFrame, images: pl.DataFrame, *, queries: Queries, allow_unknown: bool, scale: str = "overall"
) -> Problem:
    """Return the problem that queries pose.

    Parameters
    ----------
    features
        A features table.
    images
        An images table with labels.
    queries
        Which images are what.
    allow_unknown
        Whether the target may have labels that the source has not.
    scale
        What is done to features first, one of `graticule.models.feature_scaling.SCALES`, learned from the source's and
        the target's features.

    Raises
    ------
    ConfigError
        A query cannot be read or picks nothing, source and target share images, or their labels do not match.
    TableError
        No picked image has features or a label, all have the same label, or features are not finite.
    """
    features = validate_table(features, FEATURES, where="features")
    images = validate_table(images, IMAGES, where="images")
    vectors = read_features(features)
    found = divide_images(features, images, queries=queries, allow_unknown=allow_unknown)
    used = np.concatenate([found.source.positions, found.target.positions])
    scaled = find_scaling(vectors[used], scale).apply(vectors)
    if scale != "none":
        scaled *= np.float32(np.sqrt(vectors.shape[1]))
    return found.feed(FeatureInputs(vectors=scaled))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Division:
    """Which images are what, before it is known what is fed of them; fields as of `Problem`."""

    labels: tuple[str, ...]
    source: TrainingImages
    target: Picked
    test: Picked
    validation: Picked | None
    notes: tuple[str, ...]

    def feed(self, inputs: Inputs) -> Problem:
        """Return the problem with what is fed."""
        return Problem(
            inputs=inputs,
            labels=self.labels,
            source=self.source,
            target=self.target,
            test=self.test,
            validation=self.validation,
            notes=self.notes,
        )


def divide_images(features: pl.DataFrame, images: pl.DataFrame, *, queries: Queries, allow_unknown: bool) -> Division:
    """Return which images are source, target, test and validation.

    Parameters
    ----------
    features
        A table with the column image_id: the rows of what is fed.
    images, queries, allow_unknown
        As of `make_problem`.

    Raises
    ------
    ConfigError, TableError
        As of `make_problem`.
    """
    source = pick_training_images(features, images, train=queries.source, group=None, where="--source")
    target = _pick(features, images, queries.target, labels=source.labels, where="--target")
    test = target
    if queries.test is not None:
        test = _pick(features, images, queries.test, labels=source.labels, where="--test")
    validation = None
    if queries.validation is not None:
        validation = _pick(features, images, queries.validation, labels=source.labels, where="--validation")
    for name, other in (("--target", target), ("--test", test), ("--validation", validation)):
        if other is not None:
            _refuse_shared(source, other, where=name)
    notes = _check_labels(source, test, allow_unknown=allow_unknown)
    return Division(
        labels=source.labels,
        source=source,
        target=target,
        test=test,
        validation=validation,
        notes=notes,
    )


def _pick(features: pl.DataFrame, images: pl.DataFrame, query: str, *, labels: tuple[str, ...], where: str) -> Picked:
    picked = select_rows(images, query, where=where)
    if picked.is_empty():
        raise ConfigError(
            f"{where}: no image of {images.height} matches {query!r}; expected some. "
            f"{describe_no_match(images, query, where=where) or 'Each value exists, and no image has them all.'}"
        )
    rows = features.select("image_id").with_row_index("position")
    found = picked.join(rows, on="image_id", how="inner", maintain_order="left").sort("image_id")
    if found.is_empty():
        raise TableError(
            f"features: none of the {picked.height} images that match {query!r} ({where}) is among them. Their names "
            f"are {shown(picked['image_id'], limit=2)}; the features have {shown(features['image_id'], limit=2)}. "
            "Embed this images table, or give the one that was embedded with --images."
        )
    written = found["label"].to_list() if "label" in found.columns else [None] * found.height
    index = {label: code for code, label in enumerate(labels)}
    codes = [NO_LABEL if label is None else index.get(label, UNKNOWN) for label in written]
    return Picked(
        image_ids=tuple(found["image_id"]),
        positions=found["position"].to_numpy().astype(np.int64),
        codes=np.array(codes, dtype=np.int64),
        labels=tuple(written),
    )


def _refuse_shared(source: TrainingImages, other: Picked, *, where: str) -> None:
    shared = sorted(set(source.image_ids) & set(other.image_ids))
    if shared:
        raise ConfigError(
            f"{where}: {len(shared)} of its {len(other.image_ids)} images are among the source's, as "
            f"{shown(shared, limit=2)}; expected images that are not trained on with their labels. "
            "Narrow one of the queries."
        )


def _check_labels(source: TrainingImages, test: Picked, *, allow_unknown: bool) -> tuple[str, ...]:
    """Return notes on labels that only one side has.

    Raises
    ------
    ConfigError
        The target has labels that the source has not and may not, or they share none.
    """
    there = {label for label in test.labels if label is not None}
    if not there:
        return ("No test image has a label: predictions without accuracy.",)
    missing = sorted(there - set(source.labels))
    if len(missing) == len(there):
        raise ConfigError(
            f"labels: source and target share none; the source has {shown(source.labels)}, the target "
            f"{shown(missing)}. Expected the same names on both sides. Are they written in two ways?"
        )
    if missing and not allow_unknown:
        raise ConfigError(
            f"labels: the target has {len(missing)} that the source has not, as {shown(missing)}; expected the "
            "source's labels only. Leave them out with --target, or allow them with --unknown or a universal "
            "algorithm (unida, dance, ovanet)."
        )
    only_source = sorted(set(source.labels) - there)
    notes: list[str] = []
    if missing:
        notes.append(f"{len(missing)} labels of the target are not the source's and count as unknown.")
    if only_source:
        notes.append(f"{len(only_source)} of {len(source.labels)} labels of the source are not in the target.")
    return tuple(notes)
