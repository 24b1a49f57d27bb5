"""``graticule annotate``: from typed commands to tables on disk, and one plain error for every bad input."""

from __future__ import annotations

import json

import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import ANSWERS, CANDIDATES, REJECTS, TASKS
from graticule.data.tables import LABELS as LABEL_TABLE

LABELS = ["cat", "dog", "fox", "owl", "elk", "ant"]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Return a function that types a command in an empty folder and gives its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def type_command(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["annotate", *map(str, arguments)])
        printed = capsys.readouterr()
        return stop.value.code or 0, printed.out, printed.err

    return type_command


@pytest.fixture
def folder(tmp_path):
    """A folder with images of six labels and the ranked predictions of two models, as CSV."""
    images = [(f"i{n:03d}", LABELS[n % 6]) for n in range(90)]
    pl.DataFrame(images, schema=["image_id", "label"], orient="row").write_csv(tmp_path / "images.csv")
    for shift, name in enumerate(("alpha", "beta")):
        rows = [(image, label, LABELS[(n + 1 + shift) % 6]) for n, (image, label) in enumerate(images)]
        pl.DataFrame(rows, schema=["image_id", "top1", "top2"], orient="row").write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def write_answers(folder, tasks, *, name="answers.parquet", careless=()):
    """Five workers answer every question of the tasks; the careless ones always say no."""
    given = pl.read_csv(folder / "images.csv").rename({"label": "given"})
    rows = tasks.join(given, on="image_id").join(pl.DataFrame({"worker_id": [f"w{n}" for n in range(5)]}), how="cross")
    is_right = pl.col("label") == pl.col("given")
    selected = is_right & ~pl.col("worker_id").is_in(list(careless))
    answers = rows.select("task_id", "kind", "worker_id", "image_id", "label", selected.alias("selected"))
    if name.endswith(".csv"):
        answers.write_csv(folder / name)
    elif name.endswith(".jsonl"):
        answers.write_ndjson(folder / name)
    else:
        answers.write_parquet(folder / name)
    return answers


def test_predictions_become_candidates_with_several_files_after_one_flag(run, folder):
    code, out, _ = run(
        "candidates", "images.csv", "--predictions", "alpha.csv", "beta.csv", "--top", 5, "-o", "c.parquet"
    )
    assert code == 0
    assert "270 candidates for 90 images, 3.0 an image." in out
    found = read_table(folder / "c.parquet", CANDIDATES)
    assert found["models"].explode().drop_nulls().unique().sort().to_list() == ["alpha", "beta"]
    assert read_provenance(folder / "c.parquet")["inputs"].keys() == {"images.csv", "alpha.csv", "beta.csv"}
    again, _, _ = run(
        "candidates", "images.csv", "--predictions", "alpha.csv", "--predictions", "beta.csv", "-o", "d.parquet"
    )
    assert again == 0
    assert found.equals(read_table(folder / "d.parquet", CANDIDATES))


def test_the_whole_way_from_predictions_to_kept_answers(run, folder):
    run("candidates", "images.csv", "--predictions", "alpha.csv", "beta.csv", "-o", "c.parquet")
    code, out, _ = run("tasks", "c.parquet", "--kind", "contains", "--overlap", 9, "--seed", 0, "-o", "t.parquet")
    assert code == 0
    assert "each for 9 workers" in out
    tasks = read_table(folder / "t.parquet", TASKS)
    assert read_provenance(folder / "t.parquet")["seed"] == 0
    write_answers(folder, tasks, careless=["w4"])
    code, out, _ = run("quality", "answers.parquet", "--controls", "t.controls.parquet", "-o", "kept.parquet")
    assert code == 0
    assert "left out by straight_lining, of 1 workers" in out
    kept = read_table(folder / "kept.parquet", ANSWERS)
    assert set(kept["worker_id"]) == {"w0", "w1", "w2", "w3"}
    assert read_table(folder / "kept.rejects.parquet", REJECTS)["worker_id"].unique().to_list() == ["w4"]
    agreement = pl.read_parquet(folder / "agreement.parquet").filter(statistic="control_accuracy")
    assert agreement.filter(worker_id="w4")["value"].item() < 0.7
    code, out, _ = run(
        "candidates", "c.parquet", "--selections", "kept.parquet", "--distance", "none", "-o", "p.parquet"
    )
    assert code == 0
    pruned = read_table(folder / "p.parquet", CANDIDATES)
    assert pruned.filter("is_given").height == 90
    code, out, _ = run("tasks", "p.parquet", "--kind", "classify", "-o", "k.parquet")
    assert code == 0
    assert "90 not asked: its given label is clearly dominant." in out
    settled = read_table(folder / "k.settled.parquet", LABEL_TABLE)
    assert settled.select("image_id", "label").equals(pl.read_csv("images.csv").sort("image_id"))
    assert settled["is_main"].all()


@pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl"])
def test_answers_may_be_csv_or_json_lines(run, folder, name):
    run("candidates", "images.csv", "--predictions", "alpha.csv", "beta.csv", "-o", "c.parquet")
    run("tasks", "c.parquet", "--kind", "contains", "-o", "t.parquet")
    answers = write_answers(folder, read_table(folder / "t.parquet", TASKS), name=name)
    code, out, _ = run("quality", name, "--controls", "t.controls.parquet")
    assert code == 0
    assert f"{answers.height} of {answers.height} answers kept." in out


def test_answers_go_out_to_label_studio_and_come_back(run, folder):
    run("candidates", "images.csv", "--predictions", "alpha.csv", "beta.csv", "-o", "c.parquet")
    run("tasks", "c.parquet", "--kind", "contains", "-o", "t.parquet")
    answers = write_answers(folder, read_table(folder / "t.parquet", TASKS))
    assert run("export", "answers.parquet", "--format", "label_studio", "-o", "p.json")[0] == 0
    code, _, _ = run("import", "p.json", "--format", "label_studio", "-o", "back.parquet")
    assert code == 0
    key = ["task_id", "worker_id", "image_id", "label"]
    back = read_table(folder / "back.parquet", ANSWERS).select(*key, "selected").sort(key)
    assert back.equals(answers.select(*key, "selected").sort(key))


def test_labels_go_out_in_the_order_of_the_images(run, folder):
    pl.DataFrame({"image_id": ["i002", "i000"], "label": ["7", "8"]}).write_parquet(folder / "labels.parquet")
    code, _, err = run("export", "labels.parquet", "--format", "real", "--images", "images.csv", "-o", "real.json")
    assert code == 0, err
    entries = json.loads((folder / "real.json").read_text())
    assert (len(entries), entries[:3]) == (90, [[8], [], [7]])
    assert run("import", "real.json", "--format", "real", "--images", "images.csv", "-o", "l.parquet")[0] == 0
    assert pl.read_parquet(folder / "l.parquet").rows() == [("i000", "8"), ("i002", "7")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["candidates", "images.csv"], "give --predictions"),
        (["candidates", "nowhere.csv", "--predictions", "alpha.csv"], "no such file"),
        (["candidates", "images.csv", "--predictions", "alpha.csv", "alpha.csv"], "several files are of a model"),
        (["candidates", "images.csv", "--predictions", "alpha.csv", "--top", "0"], "top is 0"),
        (["tasks", "images.csv", "--kind", "contains"], "no column 'is_given'"),
        (["tasks", "images.csv", "--kind", "contain"], "Did you mean 'contains'"),
        (["quality", "images.csv"], "no column 'task_id'"),
        (["quality", "answers.pkl"], "a pickle"),
        (["import", "answers.json"], "--format"),
        (["aggregat"], "Did you mean 'aggregate'"),
        (["aggregate", "images.csv", "--method", "majority"], "no column 'task_id'"),
        (["aggregate", "images.csv", "--method", "majorty"], "Did you mean 'majority'"),
    ],
)
def test_bad_input_is_one_error_without_a_trace_and_leaves_nothing(run, folder, arguments, message):
    before = sorted(path.name for path in folder.iterdir())
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("name", ["candidates", "tasks", "quality", "aggregate", "import", "export"])
def test_every_command_shows_an_example(run, name):
    code, out, _ = run(name, "--help")
    assert code == 0
    assert f"graticule annotate {name}" in out


ANSWERS_CSV = """task_id,worker_id,image_id,label,is_main
t1,w1,a,cat,true
t1,w1,a,dog,false
t1,w2,a,cat,true
t1,w2,a,dog,false
t1,w3,a,cat,true
t2,w1,b,fox,true
t2,w2,b,fox,true
t2,w3,b,dog,true
"""


@pytest.fixture
def classified(tmp_path):
    (tmp_path / "answers.csv").write_text(ANSWERS_CSV)
    return tmp_path


def test_answers_become_labels_objects_and_selections(run, classified):
    code, out, _ = run("aggregate", "answers.csv", "--method", "classify", "-o", "labels.parquet")
    assert code == 0
    assert "3 labels accepted for 2 of 2 images, by classify on 8 answers of 3 workers." in out
    labels = read_table(classified / "labels.parquet", LABEL_TABLE)
    rows = labels.select("image_id", "label", "object", "is_main").rows()
    assert {(image, label, is_main) for image, label, _, is_main in rows} == {
        ("a", "cat", True), ("a", "dog", False), ("b", "fox", True),
    }  # fmt: skip
    selections = read_table(classified / "labels.selections.parquet", LABEL_TABLE)
    assert selections.filter(image_id="b", label="dog")["selection_frequency"].item() == pytest.approx(1 / 3)
    assert pl.read_parquet(classified / "labels.workers.parquet")["worker_id"].to_list() == ["w1", "w2", "w3"]


@pytest.mark.parametrize("method", ["selection_frequency", "majority", "dawid_skene", "one_coin", "glad", "mace"])
def test_every_method_of_the_help_runs(run, classified, method):
    answers = "\n".join(line.rsplit(",", 1)[0] for line in ANSWERS_CSV.splitlines() if ",dog,false" not in line)
    (classified / "choices.csv").write_text(answers + "\n")
    code, _, err = run("aggregate", "choices.csv", "--method", method, "-o", "labels.parquet")
    assert code == 0, err
    labels = read_table(classified / "labels.parquet", LABEL_TABLE)
    assert labels.filter("is_main").select("image_id", "label").rows() == [("a", "cat"), ("b", "fox")]


def test_gold_is_taken_as_it_is_and_settled_images_are_added(run, classified):
    (classified / "gold.csv").write_text("image_id,label\nb,dog\n")
    settled = "image_id,label,selection_frequency,object,is_main,n_workers\nz,owl,1.0,0,true,9\n"
    (classified / "settled.csv").write_text(settled)
    code, _, err = run(
        "aggregate", "answers.csv", "--method", "dawid_skene", "--gold", "gold.csv", "--settled", "settled.csv"
    )
    assert code == 0, err
    labels = read_table(classified / "labels.parquet", LABEL_TABLE)
    assert labels.filter("is_main").select("image_id", "label").rows() == [("a", "cat"), ("b", "dog"), ("z", "owl")]
    (classified / "settled.csv").write_text(settled.replace("z,owl", "a,owl"))
    code, _, err = run("aggregate", "answers.csv", "--method", "classify", "--settled", "settled.csv")
    assert code == 2
    assert "1 images are settled and were asked about too: 'a'" in err


def test_without_a_method_the_one_that_finds_most_right_answers_is_taken_and_the_others_are_shown(run, classified):
    rows = ["task_id,worker_id,image_id,label"]
    rows += [f"t{n},w{w},i{n},{LABELS[n % 3 if w < 4 else 0]}" for n in range(30) for w in range(5)]
    (classified / "choices.csv").write_text("\n".join(rows) + "\n")
    code, out, err = run("aggregate", "choices.csv", "-o", "labels.parquet")
    assert code == 0, err
    assert "Method hbcc: There are no right answers to choose by" in out
    gold = "\n".join(["image_id,label", *(f"i{n},{LABELS[n % 3]}" for n in range(12))])
    (classified / "gold.csv").write_text(gold + "\n")
    code, out, err = run("aggregate", "choices.csv", "--gold", "gold.csv", "-o", "labels.parquet")
    assert code == 0, err
    assert "of 12 right answers without being given them; 6 were tried." in out
    for method in ("hbcc", "majority", "dawid_skene", "one_coin", "mace", "glad"):
        assert f"\n  {method} " in out
    assert run("aggregate", "answers.csv", "-o", "labels.parquet")[1].startswith("Method classify: ")
    code, _, err = run("aggregate", "choices.csv", "--set", "smoothing=1")
    assert code == 2
    assert "auto has no options" in err


def test_options_of_a_method_are_set_by_name_and_checked(run, classified):
    typed = ("aggregate", "answers.csv", "--method", "dawid_skene", "--set", "max_iterations=3", "smoothing=0.5")
    assert run(*typed)[0] == 0
    assert read_provenance(classified / "labels.parquet")["config"]["options"] == ["max_iterations=3", "smoothing=0.5"]
    for option, message in [
        ("smothing=1", "Did you mean 'smoothing'"),
        ("max_iterations=many", "not of type int"),
        ("max_iterations", "expected NAME=VALUE"),
    ]:
        code, _, err = run("aggregate", "answers.csv", "--method", "dawid_skene", "--set", option)
        assert code == 2
        assert message in err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("t2,w3,b,dog,true", "t2,w2,b,fox,true", "row 8"),
        ("t1,w1,a,dog,false", "t1,w1,a,dog,true", "second main label"),
    ],
)
def test_answers_that_contradict_themselves_are_refused_by_row_and_quality_leaves_them_out(
    run, classified, old, new, message
):
    (classified / "answers.csv").write_text(ANSWERS_CSV.replace(old, new))
    code, _, err = run("aggregate", "answers.csv", "--method", "classify")
    assert code == 2
    assert message in err
    assert run("quality", "answers.csv", "-o", "kept.parquet")[0] == 0
    assert run("aggregate", "kept.parquet", "--method", "classify")[0] == 0
