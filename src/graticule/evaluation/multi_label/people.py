"""What people see in each image, as codes: labels that they accept, the main one, objects, and every selection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from graticule.data.tables import LABELS
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown
from graticule.evaluation.coded_images import CodedImages, compose

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleTables:
    """What people said, as tables.

    Parameters
    ----------
    labels
        A `LABELS` table: a row an image and label that people accept. With ``object`` the objects are told apart, and
        each counts with its most selected label (of equally selected ones the first by name); with ``is_main`` the main
        label is known. Images that are not in it are images of which nothing is known.
    selections
        How often each label of each image was selected, accepted or not (image_id, label, selection_frequency). Where
        it has ``is_main`` that is the main label, which need not be its object's most selected one. None takes both
        from ``labels``, so that labels which are not accepted count as never selected.
    superclasses
        Label → its group, for confusions within and between groups; empty where there are none.
    """

    labels: pl.DataFrame
    selections: pl.DataFrame | None = None
    superclasses: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """What people see in ``n`` images of ``r`` regions, with ``k`` labels in all.

    Parameters
    ----------
    regions, labels
        Names of the regions and of the labels; the images' own labels come first.
    region, given
        Code of each image's region and given label, shape ``(n,)``; negative where it has none.
    is_labelled
        Whether people accepted any label of the image, shape ``(n,)``.
    n_objects
        Number of objects that people see, shape ``(n,)``; 0 where unknown.
    main
        Code of the main label, shape ``(n,)``; -1 where unknown.
    accepted
        Image and label of every accepted label as ``image * k + label``, ascending, shape ``(a,)``.
    selected, frequency
        The same of every label that was selected or asked about, and the share of workers who selected it, shape
        ``(s,)``; None where no frequency is known.
    is_asked
        Whether any frequency is known of the image, shape ``(n,)``.
    has_all_selections
        Whether frequencies of labels that are not accepted are known too.
    superclasses, superclass
        Names of the superclasses, and the code of each label's, shape ``(k,)``; -1 where it has none.
    """

    regions: tuple[str, ...]
    labels: tuple[str, ...]
    region: Int[np.ndarray, " n"]
    given: Int[np.ndarray, " n"]
    is_labelled: Bool[np.ndarray, " n"]
    n_objects: Int[np.ndarray, " n"]
    main: Int[np.ndarray, " n"]
    accepted: Int[np.ndarray, " a"]
    selected: Int[np.ndarray, " s"] | None
    frequency: Float[np.ndarray, " s"] | None
    is_asked: Bool[np.ndarray, " n"]
    has_all_selections: bool
    superclasses: tuple[str, ...]
    superclass: Int[np.ndarray, " k"]

    def accept(self, rows: Int[np.ndarray, " m"], codes: Int[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
        """Return whether people accept a label of an image; false for a negative code."""
        keys = rows.astype(np.int64) * len(self.labels) + codes
        return (codes >= 0) & _contains(self.accepted, keys)

    def find_frequency(self, rows: Int[np.ndarray, " m"], codes: Int[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """Return the share of workers who selected a label of an image; NaN where the image was not asked about."""
        if self.selected is None or self.frequency is None:
            return np.full(len(rows), np.nan)
        keys = rows.astype(np.int64) * len(self.labels) + codes
        known = (codes >= 0) & _contains(self.selected, keys)
        found = np.zeros(len(rows))
        found[known] = self.frequency[np.searchsorted(self.selected, keys[known])]
        return np.where(self.is_asked[rows], found, np.nan)


def read_people(images: CodedImages, tables: PeopleTables, *, known_labels: Collection[str]) -> People:
    """Return what people said, joined to the images by name.

    Parameters
    ----------
    images
        The images as codes.
    tables
        The tables; rows of images that are not in the images table are left aside.
    known_labels
        Labels that a model can predict, composed.

    Raises
    ------
    TableError
        A table is empty, breaks its declaration, or shares no image with the images table; a label is neither a given
        one nor one that a model predicts; an image has two main labels, or one that nobody selected.
    """
    own = images.labels
    given_names = {compose(name) for name in images.table["label"].cast(pl.String).drop_nulls().unique()}
    vocabulary = (*own, *sorted({*known_labels, *given_names} - set(own)))
    labels = _code_table(tables.labels, images, vocabulary, where="labels")
    selections = (
        labels if tables.selections is None else _code_table(tables.selections, images, vocabulary, where="selections")
    )
    n_images, n_labels = images.table.height, len(vocabulary)
    n_objects = _count_objects(labels, n_images)
    accepted = _name_objects(labels)
    main = _find_mains(selections if _names_main(selections) else labels, n_images)
    is_labelled = np.zeros(n_images, dtype=bool)
    is_labelled[accepted["row"].to_numpy()] = True
    selected, frequency, is_asked = _find_selections(selections, n_images, n_labels)
    superclasses, superclass = _code_superclasses(tables.superclasses or {}, vocabulary)
    return People(
        regions=images.regions,
        labels=vocabulary,
        region=images.region,
        given=_code_given(images, vocabulary),
        is_labelled=is_labelled,
        n_objects=n_objects,
        main=main,
        accepted=np.sort(accepted["row"].to_numpy().astype(np.int64) * n_labels + accepted["code"].to_numpy()),
        selected=selected,
        frequency=frequency,
        is_asked=is_asked,
        has_all_selections=tables.selections is not None,
        superclasses=superclasses,
        superclass=superclass,
    )


def _contains(keys: Int[np.ndarray, " a"], wanted: Int[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
    if not len(keys):
        return np.zeros(len(wanted), dtype=bool)
    return keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted


def _code_table(table: pl.DataFrame, images: CodedImages, vocabulary: tuple[str, ...], *, where: str) -> pl.DataFrame:
    """Return the rows of images that are listed, with ``row`` of the image and ``code`` of the label."""
    checked = validate_table(table, LABELS, where=where)
    if checked.is_empty():
        raise TableError(f"{where}: the table is empty; expected a row an image and label that people accept.")
    names = {name: compose(name) for name in checked["label"].unique()}
    places = {name: place for place, name in enumerate(vocabulary)}
    codes = pl.DataFrame(
        {"label": list(names), "code": [places.get(name, UNKNOWN) for name in names.values()]},
        schema={"label": pl.String, "code": pl.Int64},
    )
    listed = images.table.select("image_id").with_row_index("row")
    coded = (
        checked.with_row_index("line", offset=1)
        .join(listed, on="image_id", how="inner", maintain_order="left")
        .join(codes, on="label", how="left", maintain_order="left")
    )
    if coded.is_empty():
        raise TableError(
            f"{where}: none of its images is in the images table; it names {shown(checked['image_id'].head(3))}, the "
            f"images table {shown(listed['image_id'].head(3))}. Name the images alike in both."
        )
    unknown = coded.filter(pl.col("code") < 0)
    if not unknown.is_empty():
        rows = [f"row {line}: {label}" for line, label in unknown.select("line", "label").iter_rows()]
        raise TableError(
            f"{where}: {unknown.height} rows have a label that no image is given and no model predicts: {shown(rows)}. "
            "Write the labels as the images and the predictions do."
        )
    return coded


def _names_main(table: pl.DataFrame) -> bool:
    return "is_main" in table.columns and bool(table["is_main"].any())


def _count_objects(labels: pl.DataFrame, n_images: int) -> Int[np.ndarray, " n"]:
    n_objects = np.zeros(n_images, dtype=np.int64)
    if "object" in labels.columns:
        counts = labels.drop_nulls("object").group_by("row").agg(pl.col("object").n_unique())
        n_objects[counts["row"].to_numpy()] = counts["object"].to_numpy()
    return n_objects


def _name_objects(labels: pl.DataFrame) -> pl.DataFrame:
    """Return the accepted labels, of those that name one object only the most selected.

    A main label that is not its object's most selected one is no further answer to what is there (Tsipras et al. 2020,
    section 4.1: any object's label counts). Of images whose objects nobody told apart every label counts.
    """
    if "object" not in labels.columns:
        return labels
    frequency = pl.col("selection_frequency") if "selection_frequency" in labels.columns else pl.lit(None)
    best_first = labels.sort(
        "row", "object", frequency, "label", descending=[False, False, True, False], nulls_last=True
    )
    named = best_first.drop_nulls("object").unique(["row", "object"], keep="first", maintain_order=True)
    return pl.concat([named, labels.join(named, on="row", how="anti")])


def _find_mains(table: pl.DataFrame, n_images: int) -> Int[np.ndarray, " n"]:
    main = np.full(n_images, UNKNOWN, dtype=np.int64)
    if _names_main(table):
        mains = table.filter("is_main")
        _check_mains(mains)
        main[mains["row"].to_numpy()] = mains["code"].to_numpy()
    return main


def _check_mains(mains: pl.DataFrame) -> None:
    twice = mains.filter(pl.col("row").is_duplicated())
    if not twice.is_empty():
        rows = [f"row {line}: {image_id}" for line, image_id in twice.select("line", "image_id").iter_rows()]
        raise TableError(
            f"labels: {twice['image_id'].n_unique()} images have more than one main label: {shown(rows)}; expected one "
            "at most. Set is_main to true for the main object only."
        )
    if "selection_frequency" in mains.columns:
        unseen = mains.filter(pl.col("selection_frequency") == 0)
        if not unseen.is_empty():
            rows = [f"row {line}: {image_id}" for line, image_id in unseen.select("line", "image_id").iter_rows()]
            raise TableError(
                f"labels: {unseen.height} main labels were selected by nobody: {shown(rows)}. A main label is one of "
                "the selected ones; aggregate the answers again."
            )


def _find_selections(
    selections: pl.DataFrame, n_images: int, n_labels: int
) -> tuple[Int[np.ndarray, " s"] | None, Float[np.ndarray, " s"] | None, Bool[np.ndarray, " n"]]:
    is_asked = np.zeros(n_images, dtype=bool)
    if "selection_frequency" not in selections.columns:
        return None, None, is_asked
    known = selections.drop_nulls("selection_frequency")
    if known.is_empty():
        return None, None, is_asked
    rows = known["row"].to_numpy().astype(np.int64)
    is_asked[rows] = True
    keys = rows * n_labels + known["code"].to_numpy()
    order = np.argsort(keys)
    return keys[order], known["selection_frequency"].to_numpy()[order], is_asked


def _code_given(images: CodedImages, vocabulary: tuple[str, ...]) -> Int[np.ndarray, " n"]:
    places = {name: place for place, name in enumerate(vocabulary)}
    given = images.table["label"].cast(pl.String)
    codes = {name: places[compose(name)] for name in given.drop_nulls().unique() if compose(name)}
    return given.replace_strict(codes, default=UNKNOWN, return_dtype=pl.Int64).fill_null(UNKNOWN).to_numpy()


def _code_superclasses(
    superclasses: Mapping[str, str], vocabulary: tuple[str, ...]
) -> tuple[tuple[str, ...], Int[np.ndarray, " k"]]:
    composed = {compose(label): group for label, group in superclasses.items()}
    names = tuple(sorted({composed[label] for label in vocabulary if label in composed}))
    places = {name: place for place, name in enumerate(names)}
    codes = [places[composed[label]] if label in composed else UNKNOWN for label in vocabulary]
    return names, np.array(codes, dtype=np.int64)
