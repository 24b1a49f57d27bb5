"""Exchange: what goes out comes back the same, other tools' files are read, pickles are never opened."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from graticule.annotation.exchange import label_studio
from graticule.annotation.exchange.files import read_checked, read_exchange, write_exchange
from graticule.annotation.exchange.real import read_real, write_real
from graticule.data.tables import ANSWERS, CANDIDATES
from graticule.errors import ConfigError, FileError, TableError

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
KEY = ["task_id", "worker_id", "image_id", "label"]


def make_answers():
    rows = [
        ("g1", "contains", "wörker, 1", "007", 'x "quoted"', True, None, None, True),
        ("g1", "contains", "wörker, 1", "b\nc", 'x "quoted"', False, None, None, False),
        ("g1", "contains", "=2+3", "007", 'x "quoted"', False, None, None, True),
        ("c1", "classify", "=2+3", "画像", "cat", True, 0, True, False),
        ("c1", "classify", "=2+3", "画像", "dog", True, 1, False, False),
        ("c1", "classify", "=2+3", "画像", "fox", False, None, False, False),
        ("c1", "classify", "w3", "画像", "fox", True, 0, True, False),
    ]
    schema = {
        **dict.fromkeys(("task_id", "kind", "worker_id", "image_id", "label"), pl.String),
        "selected": pl.Boolean,
        "object": pl.Int64,
        "is_main": pl.Boolean,
        "is_control": pl.Boolean,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    times = pl.Series(
        [START + timedelta(minutes=number) for number in range(len(rows))], dtype=pl.Datetime("us", "UTC")
    )
    return frame.with_columns(
        answer_id=pl.Series([f"a{number}" for number in range(len(rows))]),
        assigned_at=times,
        answered_at=times + timedelta(seconds=12, microseconds=345678),
    )


def ordered(answers):
    return answers.select([name for name in ANSWERS.columns if name in answers.columns]).sort(KEY)


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.parquet", None), ("a.csv", None), ("a.jsonl", None), ("a.json", "label_studio"), ("a.txt", "csv")],
)
def test_answers_come_back_as_they_went(tmp_path, file, name):
    answers = make_answers()
    path = write_exchange(answers, tmp_path / file, name=name)
    back = read_exchange(path, name=name)
    assert ordered(back).equals(ordered(answers))


@pytest.mark.parametrize(
    ("file", "name"), [("a.csv", None), ("a.jsonl", None), ("a.parquet", None), ("a.json", "label_studio")]
)
def test_answers_with_the_least_columns_come_back(tmp_path, file, name):
    answers = make_answers().filter(kind="contains").select(*KEY, "selected")
    back = read_exchange(write_exchange(answers, tmp_path / file, name=name), name=name)
    assert back.select(*KEY, "selected").sort(KEY).equals(answers.sort(KEY))


def test_other_columns_are_kept_where_the_format_can(tmp_path):
    answers = make_answers().with_columns(note=pl.lit("späť"))
    for file in ("a.parquet", "a.csv", "a.jsonl"):
        assert set(read_exchange(write_exchange(answers, tmp_path / file))["note"]) == {"späť"}
    with pytest.raises(TableError, match="'tags' hold lists"):
        write_exchange(answers.with_columns(tags=pl.lit(["a"])), tmp_path / "b.csv")


# Label Studio


def project(annotations, **data):
    return [{"id": 5, "data": {"image": "https://example.com/1.jpg", **data}, "annotations": annotations}]


def choices(values, *, name="animal"):
    return {"from_name": name, "to_name": "img", "type": "choices", "value": {"choices": values}}


def read_project(tmp_path, tasks):
    path = tmp_path / "project.json"
    path.write_text(json.dumps(tasks))
    return label_studio.read(path)


def test_an_export_of_label_studio_is_read(tmp_path):
    annotations = [
        {"id": 1, "completed_by": 3, "created_at": "2021-03-09T22:16:08.728353Z", "lead_time": 4.288,
         "was_cancelled": False, "result": [choices(["cat", "dog"]), choices(["dog"], name="main")]},
        {"id": 2, "completed_by": {"id": 4, "email": "ann@example.com"}, "result": [choices(["cat"])]},
    ]  # fmt: skip
    answers = read_project(tmp_path, project(annotations))
    assert answers.select("task_id", "worker_id", "image_id", "label", "selected", "is_main").rows() == [
        ("5", "3", "https://example.com/1.jpg", "cat", True, False),
        ("5", "3", "https://example.com/1.jpg", "dog", True, True),
        ("5", "ann@example.com", "https://example.com/1.jpg", "cat", True, None),
    ]
    assert answers["answered_at"][0] - answers["assigned_at"][0] == timedelta(seconds=4.288)


def test_cancelled_annotations_ground_truth_and_other_results_are_no_answers(tmp_path):
    box = {"from_name": "b", "type": "rectanglelabels", "value": {"rectanglelabels": ["cat"]}}
    annotations = [
        {"completed_by": 1, "was_cancelled": True, "result": [choices(["cat"])]},
        {"completed_by": 2, "ground_truth": True, "result": [choices(["cat"])]},
        {"completed_by": 3, "result": [box, choices(["cat"])]},
    ]
    assert read_project(tmp_path, project(annotations))["worker_id"].to_list() == ["3"]
    with pytest.raises(TableError, match="no annotation in it holds a choice"):
        read_project(tmp_path, project(annotations[:2]))


def test_a_main_label_that_was_not_selected_stays_visible_as_such(tmp_path):
    annotations = [{"completed_by": 1, "result": [choices(["cat"]), choices(["dog"], name="main")]}]
    answers = read_project(tmp_path, project(annotations))
    assert answers.select("label", "selected", "is_main").rows() == [("cat", True, False), ("dog", False, True)]


def test_the_export_has_what_label_studio_imports(tmp_path):
    images = pl.DataFrame({"image_id": ["007"], "path": ["photos/7.jpg"]})
    path = write_exchange(make_answers(), tmp_path / "p.json", name="label_studio", images=images)
    tasks = json.loads(path.read_text())
    assert {task["data"]["image"] for task in tasks} == {"photos/7.jpg", "b\nc", "画像"}
    results = [item for task in tasks for annotation in task["annotations"] for item in annotation["result"]]
    assert all({"from_name", "to_name", "type", "value"} <= set(item) for item in results)
    assert not any("completed_by" in annotation for task in tasks for annotation in task["annotations"])
    grid = next(task for task in tasks if task["data"]["image_id"] == "b\nc")
    assert grid["annotations"][0]["result"][0]["value"] == {"choices": ["no"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("{}", "not a list of tasks"),
        ("[]", "not a list of tasks"),
        ('[{"image": "a.jpg", "choice": "cat", "annotator": 1}]', "not as JSON-MIN"),
        (json.dumps(project([{"result": [choices(["cat"])]}])), "task 5 has no 'completed_by'"),
    ],
)
def test_other_json_is_refused_with_what_to_do(tmp_path, text, message):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        label_studio.read(path)


# ReaL


def test_real_labels_go_out_in_the_images_order_and_come_back(tmp_path):
    labels = pl.DataFrame({"image_id": ["c", "a", "a"], "label": ["7", "1", "12"]})
    path = write_real(labels, tmp_path / "real.json", image_ids=["a", "b", "c"])
    assert json.loads(path.read_text()) == [[1, 12], [], [7]]
    back = read_real(path, image_ids=["a", "b", "c"])
    assert back.sort("image_id", "label").equals(labels.sort("image_id", "label"))


def test_real_numbers_images_as_imagenet_does(tmp_path):
    labels = pl.DataFrame({"image_id": ["ILSVRC2012_val_00000003.JPEG"], "label": ["7"]})
    path = write_exchange(labels, tmp_path / "r.json", name="real")
    assert json.loads(path.read_text()) == [[], [], [7]]
    assert read_exchange(path, name="real").equals(labels)


def test_labels_that_are_not_numbers_stay_text(tmp_path):
    labels = pl.DataFrame({"image_id": ["a", "a"], "label": ["cat", "007"]})
    assert json.loads(write_real(labels, tmp_path / "r.json", image_ids=["a"]).read_text()) == [["cat", "007"]]


def test_the_published_real_labels_are_read_whole(shared):
    labels = read_exchange(shared("data/reassessed_imagenet/real.json"), name="real")
    published = json.loads(shared("data/reassessed_imagenet/real.json").read_text())
    assert labels.height == sum(map(len, published))
    assert labels["image_id"].n_unique() == sum(map(bool, published))
    first = labels.filter(image_id="ILSVRC2012_val_00000001.JPEG")["label"].to_list()
    assert first == [str(label) for label in published[0]]


def test_bad_real_files_and_labels_without_a_place_are_named(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("[[1], 2, [3.5]]")
    with pytest.raises(TableError, match=r"2 entries are not lists of labels: 'entry 1: 2'"):
        read_real(path)
    path.write_text("[[1]]")
    with pytest.raises(TableError, match="1 entries for 2 images"):
        read_real(path, image_ids=["a", "b"])
    labels = pl.DataFrame({"image_id": ["a"], "label": ["cat"]})
    with pytest.raises(TableError, match="--images"):
        write_real(labels, path)
    with pytest.raises(TableError, match="1 images are not in the list of images: 'a'"):
        write_real(labels, path, image_ids=["b"])
    assert path.read_text() == "[[1]]"


# pickles and formats


class Bomb:
    """Fails the test if it is ever unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("the pickle was opened",))


@pytest.mark.parametrize("file", ["answers.pkl", "answers.pickle.gz", "answers.csv", "answers.parquet"])
def test_a_pickle_is_never_opened_whatever_its_name(tmp_path, file):
    path = tmp_path / file
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileError, match=r"a pickle.*read_pickle.*to_parquet"):
        read_exchange(path)
    with pytest.raises(FileError, match="a pickle"):
        read_checked(path, ANSWERS)


def test_formats_that_the_name_does_not_tell_or_that_do_not_exist_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="its name does not tell the format"):
        read_exchange(tmp_path / "a.json")
    with pytest.raises(ConfigError, match="Did you mean 'label_studio'"):
        read_exchange(tmp_path / "a.json", name="labelstudio")
    with pytest.raises(FileError, match="no such file"):
        read_exchange(tmp_path / "a.csv")


def test_rows_are_counted_as_an_editor_counts_them(tmp_path):
    path = tmp_path / "candidates.csv"
    path.write_text("image_id,label,is_given\na,x,true\nb,x,perhaps\n")
    with pytest.raises(TableError, match="row 3: is_given is 'perhaps'"):
        read_checked(path, CANDIDATES)
