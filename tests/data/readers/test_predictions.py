"""Predictions in every form that people write, and each way to get them wrong."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graticule.data.predictions import Predictions
from graticule.data.readers.best_labels import find_best_labels
from graticule.data.readers.predictions import read_predictions
from graticule.data.store import write_table
from graticule.data.tables import PREDICTIONS
from graticule.errors import GraticuleError, TableError


@pytest.fixture
def write(tmp_path):
    """Return a function that writes text to a file and reads predictions from it."""

    def read(text: str, *, name: str = "resnet.csv", **options: str) -> Predictions:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return read_predictions(tmp_path / name, **options)

    return read


def best(found: Predictions) -> dict[str, list[str]]:
    """Return image → labels, best first."""
    rows = zip(found.image_ids, found.top, strict=True)
    return {image: [found.labels[index] for index in row if index >= 0] for image, row in rows}


@pytest.mark.parametrize("column", ["prediction", "predicted", "Predicted Label", "pred", "top1", "top_1", "label"])
@pytest.mark.parametrize("key", ["image_id", "path", "file_name", "image"])
def test_a_top_1_table_under_its_usual_names(write, column, key):
    found = write(f"{key},{column}\na/1.jpg,dog\na/2.jpg,cat\n")
    assert best(found) == {"a/1.jpg": ["dog"], "a/2.jpg": ["cat"]}
    assert (found.model, found.kind, found.labels, found.scores) == ("resnet", "labels", ("cat", "dog"), None)


def test_confidences_are_kept_beside_the_best_label(write):
    found = write("image_id,prediction,confidence\n1,dog,0.9\n2,cat,0.6\n")
    assert found.top_scores is not None
    assert found.top_scores[:, 0].tolist() == pytest.approx([0.9, 0.6])


@pytest.mark.parametrize(
    "header",
    [
        "image_id,top1,top2,top3,score1,score2,score3",
        "image_id,top_1,top_2,top_3,top1_score,top2_score,top3_score",
        "image_id,pred_0,pred_1,pred_2,prob_0,prob_1,prob_2",
        "image_id,prediction,top2,top3,score,score2,score3",
        "image_id,Top 1 label,Top 2 label,Top 3 label,Top 1 probability,Top 2 probability,Top 3 probability",
    ],
)
def test_a_top_k_table_under_its_usual_names(write, header):
    found = write(f"{header}\n1,dog,cat,fox,.5,.3,.1\n2,fox,dog,,.9,.05,\n")
    assert best(found) == {"1": ["dog", "cat", "fox"], "2": ["fox", "dog"]}
    assert found.top_scores is not None
    assert found.top_scores[0].tolist() == pytest.approx([0.5, 0.3, 0.1])
    assert np.isnan(found.top_scores[1, 2])


def test_the_truth_beside_the_prediction_is_not_taken_for_it(write):
    assert best(write("image_id,label,prediction\n1,cat,dog\n")) == {"1": ["dog"]}
    assert best(write("image_id,label,top1,top2\n1,cat,dog,fox\n")) == {"1": ["dog", "fox"]}


def test_a_column_a_label_is_a_table_of_scores(write):
    found = write("image_id,cat,dog,fox\n1,.2,.5,.3\n2,.6,.2,.2\n")
    assert found.kind == "probabilities"
    assert found.labels == ("cat", "dog", "fox")
    assert best(found) == {"1": ["dog", "fox", "cat"], "2": ["cat", "dog", "fox"]}
    assert found.scores is not None
    assert found.scores.dtype == np.float32


def test_the_kind_of_scores_follows_from_their_values(write):
    assert write("image_id,cat,dog\n1,-3,7\n").kind == "logits"
    assert write("image_id,cat,dog\n1,.2,-.1\n").kind == "similarity"


def test_scores_beside_the_prediction_they_give_are_kept(write):
    assert write("image_id,label,prediction,cat,dog\n1,cat,dog,.4,.6\n").scores is not None
    assert write("image_id,prediction,loss,age\n1,dog,.4,.6\n").scores is None


def test_numbers_as_labels_are_labels(write):
    found = write("image_id,prediction\n1,281\n2,007\n")
    assert found.labels == ("007", "281")
    assert best(write("image_id,top1,top2\n1,281,5\n"))["1"] == ["281", "5"]


def test_a_row_an_image_and_label_with_scores(write):
    found = write("image_id,label,score\n1,dog,.2\n1,cat,.8\n2,dog,.5\n2,cat,.5\n")
    assert best(found) == {"1": ["cat", "dog"], "2": ["cat", "dog"]}
    assert found.scores is not None
    assert found.scores.tolist() == pytest.approx(np.array([[0.8, 0.2], [0.5, 0.5]]))


def test_a_row_an_image_and_label_with_gaps_or_ranks(write):
    gaps = write("image_id,label,score\n2,dog,.2\n1,cat,.8\n2,fox,.5\n")
    assert best(gaps) == {"2": ["fox", "dog"], "1": ["cat"]}
    assert gaps.scores is None
    assert best(write("image_id,label,rank\n1,dog,2\n1,cat,1\n")) == {"1": ["cat", "dog"]}
    assert best(write("image_id,prediction,score\n1,dog,.1\n1,cat,.9\n")) == {"1": ["cat", "dog"]}


def test_only_the_best_five_are_kept_and_ties_go_by_label_order(write):
    found = write("image_id,a,b,c,d,e,f,g\n1,1,1,1,1,1,1,1\n2,0,5,5,0,0,0,9\n")
    assert found.top.tolist() == [[0, 1, 2, 3, 4], [6, 1, 2, 0, 3]]


def test_an_artefact_with_scores(tmp_path):
    scores = np.array([[0.1, 0.9], [2.0, -1.0]], np.float32)
    frame = pl.DataFrame({"image_id": ["1", "2"], "scores": pl.Series(scores, dtype=pl.Array(pl.Float32, 2))})
    write_table(
        frame, tmp_path / "p.parquet", PREDICTIONS, info={"model": "m", "labels": ["cat", "dog"], "kind": "logits"}
    )
    found = read_predictions(tmp_path / "p.parquet")
    assert (found.model, found.kind, found.labels) == ("m", "logits", ("cat", "dog"))
    assert best(found) == {"1": ["dog", "cat"], "2": ["cat", "dog"]}
    assert found.scores is not None
    assert np.array_equal(found.scores, scores)
    assert read_predictions(tmp_path / "p.parquet", name="other").model == "other"


def test_an_artefact_with_lists_of_labels(tmp_path):
    frame = pl.DataFrame(
        {"image_id": ["1", "2"], "top_labels": [["dog", "cat"], ["fox"]], "top_scores": [[0.7, 0.1], [0.4]]}
    )
    write_table(frame, tmp_path / "p.parquet", PREDICTIONS, info={"model": "m", "labels": ["fox", "dog", "cat", "cow"]})
    found = read_predictions(tmp_path / "p.parquet")
    assert found.labels == ("fox", "dog", "cat", "cow")
    assert best(found) == {"1": ["dog", "cat"], "2": ["fox"]}
    assert found.top_scores is not None
    assert found.top_scores[0].tolist() == pytest.approx([0.7, 0.1])


@pytest.mark.parametrize(
    ("columns", "info", "message"),
    [
        ({"scores": [[0.1, 0.9]]}, {}, r"scores of 2 labels, and 0 labels"),
        ({"scores": [[0.1, 0.9]]}, {"labels": ["cat"]}, r"scores of 2 labels, and 1 labels"),
        ({"scores": [[0.1, 0.9]]}, {"labels": ["cat", "cat"]}, "'cat' stand twice"),
        ({"scores": [[0.1, float("nan")]]}, {"labels": ["cat", "dog"]}, r"NaN or infinite in row 1 \('1'\)"),
        ({"scores": [[0.1, float("inf")]]}, {"labels": ["cat", "dog"]}, r"NaN or infinite in row 1 \('1'\)"),
        ({"scores": [[0.1, 0.9]]}, {"labels": ["cat", "dog"], "kind": "odds"}, "kind of scores is 'odds'"),
        ({"top_labels": [["cat"]]}, {"labels": ["dog"]}, "'cat' are not among the 1"),
        ({"top_labels": [[]]}, {}, "no prediction in row 1"),
        ({"top_labels": [["cat", "cat"]]}, {}, "a label stands twice in row 1"),
    ],
)
def test_artefacts_that_do_not_hold_together(tmp_path, columns, info, message):
    schema = {"scores": pl.List(pl.Float32), "top_labels": pl.List(pl.String)}
    frame = pl.DataFrame({"image_id": ["1"], **columns}, schema_overrides={name: schema[name] for name in columns})
    write_table(frame, tmp_path / "p.parquet", PREDICTIONS, info=info)
    with pytest.raises(TableError, match=message):
        read_predictions(tmp_path / "p.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image_id,foo\n1,x\n", r"no predictions in the columns.*expected one of: image_id \+ prediction"),
        ("foo,prediction\n1,x\n", "no column 'image_id' or 'path'"),
        ("image_id,prediction\n1,x\n1,y\n", r"earlier row too, in row 3 \('1'\)"),
        ("image_id,prediction\n1,\n2,y\n", r"no prediction in row 2 \('1'\)"),
        ("image_id,prediction\n,x\n2,y\n", "image_id is empty in rows 2"),
        ("image_id,prediction,confidence\n1,x,nan\n2,y,.5\n", r"a score that is missing, NaN or infinite in row 2"),
        ("image_id,top1,top2\n1,x,x\n", "a label stands twice in row 2"),
        ("image_id,cat,dog\n1,.5,\n2,nan,.7\n3,inf,.7\n", r"row 2 \('1'\), row 3 \('2'\), row 4 \('3'\)"),
        ("image_id,label,score\n1,x,.5\n1,x,.6\n", r"the image has this label in an earlier row.*row 3"),
        ("image_id,label,score\n1,x,.5\n1,y,inf\n", r"the score is missing, NaN or infinite.*row 3"),
        ("image_id,label,score\n1,,.5\n1,y,1\n", r"the label is empty.*row 2"),
        ("image_id,label,region\n1,x,Africa\n", "looks like a table of images"),
        ("image_id,model,prediction\n1,A,x\n1,B,y\n", "rows of 2 models, 'A', 'B'"),
    ],
)
def test_bad_tables_of_predictions_are_named(write, text, message):
    with pytest.raises(TableError, match=message):
        write(text)


def test_one_model_of_several_is_taken_by_name(write):
    text = "image_id,model,prediction\n1,A,x\n1,B,y\n"
    found = write(text, model="B")
    assert (found.model, best(found)) == ("B", {"1": ["y"]})
    with pytest.raises(TableError, match=r"no rows of model 'C'; the models are 'A', 'B'"):
        write(text, model="C")


def test_json_lines_with_lists(write):
    found = write(
        '{"image_id": "1", "top_labels": ["dog", "cat"]}\n{"image_id": "2", "top_labels": ["cat"]}\n', name="p.jsonl"
    )
    assert best(found) == {"1": ["dog", "cat"], "2": ["cat"]}


@given(
    arrays(
        np.float32, st.tuples(st.integers(0, 20), st.integers(1, 9)), elements=st.sampled_from([-2.0, 0.0, 0.5, 1.0])
    )
)
def test_the_best_labels_are_those_of_a_stable_sort(scores):
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    assert np.array_equal(find_best_labels(scores), expected)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "image_id",
                    "path",
                    "prediction",
                    "label",
                    "score",
                    "rank",
                    "top1",
                    "top2",
                    "cat",
                    "dog",
                    "region",
                    "model",
                ]
            ),
            st.lists(st.sampled_from(["", "1", "2", "nan", "cat", "-inf", ".5"]), min_size=3, max_size=3),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_table_is_predictions_or_a_named_error(write, columns):
    rows = [
        ",".join(name for name, _ in columns),
        *(",".join(values[row] for _, values in columns) for row in range(3)),
    ]
    try:
        found = write("\n".join(rows))
    except GraticuleError:
        return
    assert len(set(found.image_ids)) == len(found.image_ids) == len(found.top)
    assert found.top.min(initial=0) >= -1
    assert found.top.max(initial=-1) < len(found.labels)
    assert found.scores is None or np.isfinite(found.scores).all()


def test_real_top_5_of_a_thousand_labels_are_read_as_given(shared, tmp_path):
    folder = shared("data/imagenetv2_model_predictions")
    top5 = np.load(folder / "top5_val50k_67models.npz")
    key = next(name for name in top5.files if top5[name].ndim == 2 and "resnet50" in name)
    labels = top5[key].astype(str)
    frame = pl.DataFrame(
        {"image_id": [str(row) for row in range(len(labels))], **{f"top{k + 1}": labels[:, k] for k in range(5)}}
    )
    frame.write_csv(tmp_path / "resnet50.csv")
    found = read_predictions(tmp_path / "resnet50.csv")
    names = np.array(found.labels, dtype=object)
    assert (names[found.top] == labels).all()
