"""Scores against what people see: each number against a count by hand, by region, and every bad table named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions
from graticule.data.tables import METRICS
from graticule.data.validate import validate_table
from graticule.errors import TableError
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label import NAMES
from graticule.evaluation.multi_label.measure import score_labels
from graticule.evaluation.multi_label.people import PeopleTables

LABELS = ("cat", "dog", "fox", "owl")
CONFIG = AuditConfig(n_bootstraps=100, min_images=2)
ANIMALS = {"cat": "mammal", "dog": "mammal", "fox": "mammal", "owl": "bird"}

IMAGES = pl.DataFrame(
    {
        "image_id": ["a", "b", "c", "d", "e", "f"],
        "label": ["cat", "cat", "dog", "dog", "owl", "fox"],
        "region": ["north", "south", "north", "south", "north", "south"],
    }
)
TOP = [["cat", "dog"], ["dog", "cat"], ["dog", "cat"], ["fox", "owl"], ["owl", "cat"], ["cat", "fox"]]
# image, label, object, is_main, frequency; nothing is known of f
ACCEPTED = [
    ("a", "cat", 0, True, 1.0),
    ("b", "cat", 0, False, 0.6),
    ("b", "dog", 1, True, 0.8),
    ("c", "dog", 0, True, 0.9),
    ("d", "fox", 0, True, 0.7),
    ("e", "owl", 0, True, 1.0),
]
OTHERS = [("a", "dog", 0.2), ("c", "fox", 0.9), ("d", "dog", 0.0), ("d", "cat", 0.3)]


def make_model(name="m", top=TOP):
    codes = [[LABELS.index(label) for label in row] + [-1] * (5 - len(row)) for row in top]
    return Predictions(
        model=name,
        image_ids=IMAGES["image_id"].to_numpy(),
        labels=LABELS,
        kind="labels",
        top=np.array(codes),
        scores=None,
        info={},
    )


def make_labels(rows=ACCEPTED):
    schema = ["image_id", "label", "object", "is_main", "selection_frequency"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def make_selections():
    schema = ["image_id", "label", "selection_frequency"]
    return pl.concat([make_labels().select(schema), pl.DataFrame(OTHERS, schema=schema, orient="row")])


def measure(*, labels=None, selections=None, superclasses=None, images=IMAGES, models=None, config=CONFIG):
    tables = PeopleTables(
        labels=make_labels() if labels is None else labels, selections=selections, superclasses=superclasses
    )
    return score_labels(images, models or [make_model()], tables, config=config)


def value(metrics, metric, **where):
    """One number and its n; a column that is not named must be null."""
    found = metrics.filter(pl.col("metric") == metric)
    for column in ("model", "region", "label", "group"):
        default = "m" if column == "model" else None
        found = found.filter(pl.col(column).eq_missing(where.get(column, default)))
    assert found.height == 1, found
    return found["value"].item(), found["n"].item()


@pytest.fixture(scope="module")
def metrics():
    return measure(selections=make_selections(), superclasses=ANIMALS).metrics


def test_a_prediction_is_right_if_people_accept_it_and_images_they_did_not_label_take_no_part(metrics):
    assert value(metrics, "multi_label_accuracy") == (1.0, 5)
    assert value(metrics, "given_label_accuracy") == (3 / 5, 5)
    assert value(metrics, "multi_label_accuracy", region="south") == (1.0, 2)
    assert value(metrics, "given_label_accuracy", region="south") == (0.0, 2)
    assert value(metrics, "multi_label_accuracy", label="dog") == (1.0, 2)


def test_objects_are_counted_by_their_numbers(metrics):
    assert value(metrics, "single_object_accuracy", group="top1") == (3 / 4, 4)
    assert value(metrics, "multi_object_accuracy", group="top1") == (0.0, 1)
    assert value(metrics, "multi_object_accuracy", group="top5") == (1.0, 1)
    assert value(metrics, "multi_object_accuracy", group="multi_label") == (1.0, 1)
    assert value(metrics, "multi_object_drop", group="top1")[0] == 0.75
    assert value(metrics, "multi_object_accuracy", group="top1", region="north")[1] == 0


def test_two_labels_of_one_object_are_one_object():
    labels = make_labels([*ACCEPTED, ("a", "dog", 0, False, 0.2)])
    assert value(measure(labels=labels).metrics, "single_object_accuracy", group="top1") == (3 / 4, 4)


def test_the_main_label_is_looked_for_where_it_is_known(metrics):
    assert value(metrics, "main_label_accuracy") == (1.0, 5)
    assert value(metrics, "main_label_accuracy", model=None) == (3 / 5, 5)
    assert value(metrics, "other_main_accuracy", group="main") == (1.0, 1)
    assert value(metrics, "other_main_accuracy", group="given") == (0.0, 1)
    flat = measure(labels=make_labels().drop("object")).metrics
    assert value(flat, "other_main_accuracy", group="main") == (1.0, 2)


def test_main_labels_of_the_selections_go_before_those_of_the_labels():
    selections = make_selections().with_columns(
        is_main=(pl.col("image_id") == "b") & (pl.col("label") == "cat"),
    )
    assert value(measure(selections=selections).metrics, "main_label_accuracy") == (0.0, 1)


def test_selection_frequency_is_that_of_the_prediction_and_of_the_given_label(metrics):
    assert value(metrics, "selection_frequency") == (pytest.approx((1.0 + 0.8 + 0.9 + 0.7 + 1.0) / 5), 5)
    assert value(metrics, "selection_frequency", model=None) == (pytest.approx((1.0 + 0.6 + 0.9 + 0.0 + 1.0) / 5), 5)
    accepted_only = measure().metrics.filter(pl.col("region").is_null(), pl.col("model").is_null())
    method = accepted_only.filter(metric="selection_frequency")["method"].item()
    assert "count as never selected" in method


def test_top5_corrections_are_split_by_what_people_see(metrics):
    assert value(metrics, "multi_object_corrections") == (1 / 2, 2)  # b, and f of which nothing is known
    assert value(metrics, "multi_object_corrections", group="labelled") == (1.0, 1)


def test_a_label_is_ambiguous_where_another_is_selected_as_often(metrics):
    assert value(metrics, "label_ambiguity", model=None) == (3 / 5, 5)  # b, c and d
    assert value(metrics, "label_ambiguity", model=None, label="dog") == (1.0, 2)
    assert value(metrics, "label_ambiguity", model=None, label="cat", region="north") == (0.0, 1)


def test_pairs_are_listed_from_two_images_on_with_the_share_of_the_first_labels_images():
    rows = [(f"i{n}", "cat", 0.5) for n in range(4)] + [(f"i{n}", "dog", 0.6) for n in range(3)] + [("i3", "fox", 0.9)]
    selections = pl.DataFrame(rows, schema=["image_id", "label", "selection_frequency"], orient="row")
    images = pl.DataFrame({"image_id": [f"i{n}" for n in range(4)], "label": "cat", "region": ["x", "x", "x", "y"]})
    model = Predictions(
        model="m", image_ids=images["image_id"].to_numpy(), labels=LABELS, kind="labels",
        top=np.zeros((4, 1), dtype=np.int64), scores=None, info={},
    )  # fmt: skip
    found = measure(labels=selections, selections=selections, images=images, models=[model]).metrics
    pairs = found.filter(metric="ambiguous_pair").select("region", "label", "group", "value", "n").rows()
    assert pairs == [(None, "cat", "dog", 3 / 4, 4), ("x", "cat", "dog", 1.0, 3)]
    together = found.filter(pl.col("region").is_null(), metric="co_occurring_pair").select(
        "label", "group", "value", "n"
    )
    assert set(together.rows()) == {("cat", "dog", 3 / 4, 4), ("dog", "cat", 1.0, 3)}


def test_images_whose_given_label_nobody_saw_are_counted_and_listed():
    fidelity = measure(selections=make_selections())
    assert value(fidelity.metrics, "suspected_mislabelled", model=None) == (1 / 5, 5)
    assert value(fidelity.metrics, "suspected_mislabelled", model=None, region="south") == (1 / 2, 2)
    assert fidelity.suspects.rows() == [("d", "dog", "south", "fox")]
    accepted_only = measure()
    assert accepted_only.suspects["image_id"].to_list() == ["d"]
    assert "not among the accepted" in accepted_only.metrics.filter(metric="suspected_mislabelled")["method"][0]


def test_confusions_are_split_by_superclass(metrics):
    assert value(metrics, "within_superclass_confusion") == (3 / 6, 6)
    assert value(metrics, "between_superclass_confusion") == (0.0, 6)
    assert value(metrics, "within_superclass_confusion", model=None) == (2 / 5, 5)
    assert value(metrics, "superclass_confusion", label="mammal", group="mammal") == (1.0, 5)
    assert "superclass_confusion" not in set(measure().metrics["metric"])


def test_regions_are_a_partition_of_the_whole(metrics):
    for metric in ("given_label_accuracy", "main_label_accuracy", "selection_frequency"):
        rows = metrics.filter(pl.col("metric") == metric, pl.col("model") == "m")
        parts, whole = rows.filter(pl.col("region").is_not_null()), rows.filter(pl.col("region").is_null())
        assert parts["n"].sum() == whole["n"].item()
        assert (parts["value"] * parts["n"]).sum() == pytest.approx((whole["value"] * whole["n"]).item())


def test_rows_are_a_metrics_table_with_known_names_and_intervals_around_their_values(metrics):
    validate_table(metrics, METRICS, where="metrics")
    assert set(metrics["metric"]) <= set(NAMES)
    defined = metrics.filter(pl.col("value").is_not_nan(), pl.col("low").is_not_nan())
    assert (defined["low"] <= defined["value"] + 1e-12).all()
    assert (defined["value"] <= defined["high"] + 1e-12).all()
    undefined = metrics.filter(pl.col("value").is_nan())
    assert (undefined["n"] == 0).all()


def test_order_of_rows_changes_nothing(metrics):
    again = measure(
        labels=make_labels()[::-1],
        selections=make_selections().sample(fraction=1, shuffle=True, seed=2),
        superclasses=ANIMALS,
        images=IMAGES.sample(fraction=1, shuffle=True, seed=1),
    ).metrics
    key = ["metric", "model", "region", "label", "group"]
    assert metrics.sort(key).equals(again.sort(key))


def test_labels_alone_give_what_they_can():
    bare = measure(labels=make_labels().select("image_id", "label"))
    names = set(bare.metrics["metric"])
    assert {"multi_label_accuracy", "remaining_gap", "co_occurring_pair", "suspected_mislabelled"} - names <= {
        "co_occurring_pair"
    }
    assert not names & {"single_object_accuracy", "main_label_accuracy", "selection_frequency", "label_ambiguity"}
    assert bare.n_labelled == 5


def test_names_are_compared_composed():
    images = IMAGES.with_columns(label=pl.col("label").replace("cat", "cafe\u0301"))
    model = make_model()
    model = Predictions(
        model="m", image_ids=model.image_ids, labels=("café", *LABELS[1:]), kind="labels", top=model.top,
        scores=None, info={},
    )  # fmt: skip
    labels = make_labels().with_columns(label=pl.col("label").replace("cat", "café"))
    assert value(measure(images=images, models=[model], labels=labels).metrics, "multi_label_accuracy") == (1.0, 5)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (make_labels().head(0), "the table is empty"),
        (make_labels().with_columns(image_id=pl.lit("q") + pl.col("image_id")), "none of its images"),
        (make_labels([*ACCEPTED, ("a", "elk", 1, False, 0.5)]), r"1 rows have a label .* 'row 7: elk'"),
        (
            make_labels([*ACCEPTED, ("a", "dog", 1, True, 0.5)]),
            r"1 images have more than one main label: 'row 1: a', 'row 7",
        ),
        (make_labels([("a", "cat", 0, True, 0.0)]), r"1 main labels were selected by nobody: 'row 1: a'"),
        (make_labels([*ACCEPTED, ACCEPTED[0]]), "row 7"),
    ],
    ids=["empty", "other images", "unknown label", "two mains", "main unselected", "repeated"],
)
def test_bad_tables_are_named_by_their_rows(labels, message):
    with pytest.raises(TableError, match=message):
        measure(labels=labels)
