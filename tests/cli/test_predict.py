"""``graticule predict`` as it is typed."""

from __future__ import annotations

import sys

import pytest
from PIL import Image

from graticule.cli.main import main
from graticule.data.readers.predictions import read_predictions
from graticule.data.store import read_provenance

pytest.importorskip("torch")

NETWORK = """
from graticule.models.transform import Transform

class Colours:
    transform = Transform(height=16, width=16, resize_to=(16, 16), mean=(0.,) * 3, std=(1.,) * 3)
    labels = ["red", "green", "blue"]
    score_kind = "probabilities"

    def __call__(self, batch):
        means = batch.mean(axis=(2, 3)) + 1e-6
        return means / means.sum(axis=1, keepdims=True)

def make():
    return Colours()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "network_for_predict.py").write_text(NETWORK)
    for name, colour in {"a.png": (200, 0, 20), "b.png": (0, 10, 90), "c.png": (5, 250, 0)}.items():
        Image.new("RGB", (20, 30), colour).save(tmp_path / name)
    (tmp_path / "images.csv").write_text("path\na.png\nb.png\nc.png\nmissing.png\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("network_for_predict", None)


def run(*arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


def test_a_table_becomes_predictions(folder, capsys):
    assert run("predict", "images.csv", "--model", "network_for_predict:make", "--no-progress") == 0
    read = read_predictions(folder / "predictions.parquet")
    assert read.kind == "probabilities"
    assert [read.labels[best] for best in read.top[:, 0]] == ["red", "blue", "green"]
    printed = capsys.readouterr()
    assert "3 images, probabilities of 3 labels → predictions.parquet" in printed.out
    assert "missing.png: " in printed.out
    assert printed.err == ""
    provenance = read_provenance(folder / "predictions.parquet")
    assert provenance["command"] == "predict"
    assert set(provenance["inputs"]) == {"images.csv"}


def test_the_same_command_again_replaces_the_file(folder):
    for _ in range(2):
        assert run("predict", "images.csv", "--model", "network_for_predict:make", "--no-progress") == 0
    assert sorted(path.name for path in folder.glob("predictions*")) == [
        "predictions.parquet",
        "predictions.rejects.parquet",
    ]


def test_a_missing_labels_file_is_said_before_any_work(folder, capsys):
    command = ["predict", "images.csv", "--model", "network_for_predict:make", "--labels", "none.yaml"]
    assert run(*command) == 2
    assert "none.yaml" in capsys.readouterr().err
    assert not (folder / "predictions.parquet").exists()


def test_the_way_with_other_classes_is_an_option(folder):
    (folder / "labels.yaml").write_text("warm:\n  classes: [red, green]\n")
    command = ["predict", "images.csv", "--model", "network_for_predict:make", "--labels", "labels.yaml"]
    assert run(*command, "--no-progress") == 0
    competing = read_predictions(folder / "predictions.parquet")
    assert competing.labels == ("warm", "blue")
    assert competing.info["label_space"]["aggregation"] == "max"
    assert run(*command, "--others", "restrict", "--aggregation", "sum", "--no-progress") == 0
    restricted = read_predictions(folder / "predictions.parquet")
    assert restricted.labels == ("warm",)
    assert restricted.info["label_space"]["aggregation"] == "sum"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--templates", "clip80"], "templates: given for network_for_predict:make and labels.yaml"),
        (["--aggregation", "mean"], "unknown aggregation 'mean'"),
        (["--others", "compet"], "Did you mean 'compete'?"),
    ],
)
def test_label_options_that_cannot_be_used_are_refused(folder, capsys, options, said):
    (folder / "labels.yaml").write_text("[red, green]")
    command = ["predict", "images.csv", "--model", "network_for_predict:make", "--labels", "labels.yaml"]
    assert run(*command, *options, "--no-progress") == 2
    assert said in capsys.readouterr().err
    assert not (folder / "predictions.parquet").exists()


def test_label_options_without_labels_are_refused(folder, capsys):
    assert run("predict", "images.csv", "--model", "network_for_predict:make", "--others", "restrict") == 2
    assert "without a labels file" in capsys.readouterr().err
