"""`graticule explain` and `graticule compare-models` from the command line: what they write, and what they refuse."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from graticule.cli.main import cli, main
from graticule.data.store import read_table, write_table
from graticule.data.tables import FEATURES, METRICS
from graticule.evaluation.shift.planted import WorldConfig, plant_world

SIDES = ["--source", 'region == "Europe"', "--target", 'region == "Africa"']
QUICK = ["--bootstraps", "20", "--permutations", "9", "--no-projection"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Write a planted world as the files that a user would have."""
    folder = tmp_path_factory.mktemp("world")
    world = plant_world(("design",), config=WorldConfig(n_images=400, n_features=8), seed=2)
    outcomes = world.outcomes
    names = np.array(outcomes.labels)
    ids = [f"i{place}" for place in range(len(outcomes.label))]
    region = np.where(outcomes.is_target, "Africa", "Europe")
    pl.DataFrame(
        {
            "image_id": ids,
            "label": names[outcomes.label],
            "region": region,
            "shop": [f"s{i // 2}" for i in range(len(ids))],
        }
    ).write_csv(folder / "images.csv")
    given = np.where(outcomes.is_right, outcomes.label, (outcomes.label + 1) % 6)
    pl.DataFrame({"image_id": ids, "prediction": names[given]}).write_csv(folder / "before.csv")
    better = np.where(outcomes.is_right | (np.arange(len(ids)) % 2 == 0), outcomes.label, given)
    pl.DataFrame({"image_id": ids, "prediction": names[better]}).write_csv(folder / "after.csv")
    worse = np.where(np.arange(len(ids)) % 3 == 0, (given + 1) % 4, given)
    pl.DataFrame({"image_id": ids, "prediction": names[worse]}).write_csv(folder / "worse.csv")
    for kind, vectors in world.features.items():
        table = pl.DataFrame({"image_id": ids, "features": pl.Series(vectors, dtype=pl.Array(pl.Float32, 8))})
        write_table(table, folder / f"{kind}.parquet", FEATURES)
    pl.DataFrame({"label": names, "superclass": ["few", "few", "many", "many", "many", "many"]}).write_csv(
        folder / "groups.csv"
    )
    return folder, outcomes


@pytest.fixture(scope="module")
def explained(world):
    folder, _ = world
    output = folder / "explain"
    arguments = ["explain", folder / "images.csv", "--predictions", folder / "before.csv", *SIDES, *QUICK]
    arguments += ["--context", folder / "context.parquet", "--design", folder / "design.parquet"]
    arguments += ["--adapted", folder / "after.csv", "--superclasses", folder / "groups.csv", "--group", "shop"]
    result = CliRunner().invoke(cli, [str(word) for word in [*arguments, "-o", output]], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return output, result.stdout


def test_the_planted_cause_stands_in_the_first_line(explained):
    _, printed = explained
    first = printed.splitlines()
    headline = next(line for line in first if line.startswith("From Europe to Africa"))
    assert "the look of the objects" in headline
    assert "backgrounds" not in headline


def test_the_folder_holds_every_number_and_parts_sum_to_the_drop(explained, world):
    output, _ = explained
    metrics = read_table(output / "metrics.parquet", METRICS)
    whole = metrics.filter(pl.col("label").is_null())
    before = whole.filter(pl.col("model") == "before")
    parts = before.filter(pl.col("metric") == "drop_part")
    drop = before.filter(pl.col("metric") == "drop")["value"][0]
    assert parts["group"].to_list() == ["prior", "context", "design", "rest"]
    assert parts["value"].sum() == pytest.approx(drop)
    outcomes = world[1]
    assert drop == pytest.approx(
        outcomes.is_right[~outcomes.is_target].mean() - outcomes.is_right[outcomes.is_target].mean()
    )
    assert set(metrics["model"].drop_nulls()) == {"before", "after"}
    assert {"superclass_drop", "context_distance", "design_distance_p_holm", "weighed_drop"} <= set(metrics["metric"])
    labels = pl.read_csv(output / "labels.csv")
    assert labels.height == 6
    assert labels["verdict"].str.contains("look of the objects").any()


def test_the_page_stands_alone_and_every_figure_has_words_and_a_table(explained):
    output, _ = explained
    page = (output / "index.html").read_text("utf-8")
    assert "http://" not in re.sub(r'xmlns="[^"]*"', "", page).replace("http://www.w3.org", "")
    assert "<script" not in page
    n_figures = page.count('<figure class="figure"')
    assert n_figures >= 7
    assert page.count('<details class="behind">') == n_figures
    assert page.count('<p class="lead">') == n_figures
    assert {path.suffix for path in (output / "figures").iterdir()} == {".svg", ".png"}
    assert "Before and after adaptation" in page


def test_without_features_the_note_says_what_is_missing(world, tmp_path):
    folder, _ = world
    arguments = ["explain", folder / "images.csv", "--predictions", folder / "before.csv", *SIDES, *QUICK]
    result = CliRunner().invoke(cli, [str(word) for word in [*arguments, "-o", tmp_path / "out"]])
    assert result.exit_code == 0, result.output
    assert "note: No features were given" in result.output
    assert "regions&#39; looks were not compared" in (tmp_path / "out" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--source", 'region == "Europa"'], "--source: no image of 800 matches"),
        (["--target", 'region == "Europe"'], "images are in both"),
        (["--masks", "masks"], "--masks without --model"),
        (["--model", "timm/resnet18"], "--model without --masks or --saliency"),
        (["--swap"], "--swap without --masks"),
        (["--mask-rcnn", "hub"], "--mask-rcnn without --model"),
        (["--context", "x.parquet"], "--context and --design: one alone"),
        (["--distance", "enrgy"], "--distance: unknown distance 'enrgy'"),
        (["--permutations", "0"], "--permutations 0"),
        (["--bootstraps", "1"], "1 bootstrap draws"),
        (["--group", "shp"], "--group: unknown column 'shp'"),
        (["--features", "none.parquet"], "none.parquet: no such file"),
        (["--superclasses", "none.csv"], "none.csv"),
        (["--saliency", "gradcam", "--model", "timm/resnet18"], "--saliency: unknown method of saliency 'gradcam'"),
        (["--predictions", "none.csv"], "none.csv"),
    ],
)
def test_bad_input_is_one_error_and_leaves_nothing(world, tmp_path, capsys, changed, message):
    folder, _ = world
    given = ["explain", str(folder / "images.csv"), "--predictions", str(folder / "before.csv"), *SIDES, *QUICK]
    with pytest.raises(SystemExit) as stopped:
        main([*given, *changed, "-o", str(tmp_path / "out")])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


def test_models_side_by_side_write_a_table_of_transfer(world, tmp_path):
    folder, _ = world
    files = [folder / f"{name}.csv" for name in ("before", "after", "worse")]
    arguments = ["compare-models", folder / "images.csv", "--predictions", *files, "--home", "before=Europe"]
    arguments += ["--source", "Europe", "--target", "Africa", "--bootstraps", "20", "-o", tmp_path / "models"]
    result = CliRunner().invoke(cli, [str(word) for word in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "before, trained in Europe, loses" in result.output
    table = pl.read_csv(tmp_path / "models" / "transfer.csv")
    assert table.height == 6
    assert table.filter(pl.col("model") == "before")["trained_in"].to_list() == ["Europe", "Europe"]
    page = (tmp_path / "models" / "index.html").read_text("utf-8")
    assert "Accuracy on the line" in page
    assert (tmp_path / "models" / "figures" / "accuracy_line.png").is_file()


def test_a_home_that_is_no_pair_is_refused(world, tmp_path, capsys):
    folder, _ = world
    files = [str(folder / "before.csv")]
    with pytest.raises(SystemExit) as stopped:
        main(
            [
                "compare-models",
                str(folder / "images.csv"),
                "--predictions",
                *files,
                "--home",
                "x",
                "-o",
                str(tmp_path / "m"),
            ]
        )
    assert stopped.value.code == 2
    assert "--home x: expected MODEL=REGION" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
