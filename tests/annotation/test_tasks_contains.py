"""CONTAINS grids: every candidate once, controls hidden among them, the same seed the same grids."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from graticule.annotation.controls import check_controls, deal, presume_controls
from graticule.annotation.distance import load_distance
from graticule.annotation.glossary import Glossary
from graticule.annotation.tasks.contains import build_contains_tasks
from graticule.annotation.tasks.task import TaskConfig
from graticule.errors import ConfigError, TableError


def make_candidates(n_images=120, n_labels=6, *, seed=0):
    """Images whose models all put the given label first, and two further labels each."""
    rng = np.random.default_rng(seed)
    rows = []
    for image in range(n_images):
        labels = rng.permutation(n_labels)[:3]
        for place, label in enumerate(labels.tolist()):
            ranks = [place + 1, place + 1]
            rows.append((f"i{image:03d}", f"l{label}", place == 0, ["m1", "m2"], ranks, 2, place + 1))
    schema = ["image_id", "label", "is_given", "models", "ranks", "n_models", "best_rank"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def build(candidates, *, controls=None, distance="none", glossary=None, seed=0, **config):
    return build_contains_tasks(
        candidates,
        controls=controls,
        glossary=glossary or Glossary(),
        distance=load_distance(distance),
        config=TaskConfig(**config),
        seed=seed,
    )


def make_controls(labels, *, n_positive=4, n_negative=4):
    rows = [(f"p{label}{number}", label, True) for label in labels for number in range(n_positive)]
    rows += [(f"n{label}{number}", label, False) for label in labels for number in range(n_negative)]
    return pl.DataFrame(rows, schema=["image_id", "label", "selected"], orient="row")


def test_every_candidate_is_asked_about_once():
    candidates = make_candidates()
    built = build(candidates)
    asked = built.tasks.join(candidates, on=["image_id", "label"], how="semi")
    plain = asked.filter(~pl.col("is_control"))
    assert plain.select("image_id", "label").is_unique().all()
    assert asked.select("image_id", "label").unique().height == candidates.height
    assert built.skipped.is_empty()


def test_a_grid_has_one_label_and_different_images_and_is_never_too_large():
    grids = (
        build(make_candidates(400, 6))
        .tasks.group_by("task_id")
        .agg(
            pl.col("label").n_unique().alias("labels"),
            pl.col("image_id").n_unique().alias("images"),
            pl.col("position").sort(),
            pl.len(),
        )
    )
    assert (grids["labels"] == 1).all()
    assert (grids["images"] == grids["len"]).all()
    assert grids["len"].max() <= 48
    assert all(positions == list(range(size)) for positions, size in grids.select("position", "len").iter_rows())


def test_each_grid_hides_positive_and_negative_controls_of_its_label():
    built = build(make_candidates(400, 6))
    marked = built.tasks.filter("is_control").join(built.controls, on=["image_id", "label"])
    sides = marked.group_by("task_id").agg(pl.col("selected").sum().alias("positive"), pl.len())
    assert (sides["positive"] == 3).all()
    assert (sides["len"] == 6).all()
    assert built.n_one_sided == 0


def test_presumed_controls_are_right_by_what_models_and_the_data_set_say():
    candidates = make_candidates(400, 6)
    built = build(candidates)
    positive = built.controls.filter("selected").join(candidates, on=["image_id", "label"], how="left")
    assert positive["is_given"].all()
    negative = built.controls.filter(~pl.col("selected"))
    assert negative.join(candidates, on=["image_id", "label"], how="semi").is_empty()


def test_a_label_shares_controls_between_its_grids_only_when_there_are_too_few():
    built = build(make_candidates(400, 6))
    assert built.tasks.filter("is_control").select("image_id", "label").is_unique().all()
    few = build(make_candidates(400, 6), controls=make_controls([f"l{n}" for n in range(6)]))
    uses = few.tasks.filter("is_control").group_by("label", "image_id").len()
    spread = (
        uses.join(few.controls, on=["image_id", "label"])
        .group_by("label", "selected")
        .agg((pl.col("len").max() - pl.col("len").min()).alias("spread"), pl.col("len").max())
    )
    assert spread["len"].max() > 1
    assert spread["spread"].max() <= 1


def test_few_images_make_one_small_grid_with_all_its_controls():
    candidates = make_candidates(3, 3)
    built = build(candidates, controls=make_controls(["l0", "l1", "l2"]))
    sizes = built.tasks.group_by("task_id").agg(pl.len(), pl.col("is_control").sum())
    assert sizes.height == 3
    assert (sizes["is_control"] == 6).all()
    assert (sizes["len"] == 9).all()


def test_grids_of_a_label_differ_by_one_image_at_most():
    controls = make_controls(["l0", "l1", "l2"])
    built = build(make_candidates(100, 3), controls=controls)
    sizes = (
        built.tasks.group_by("label", "task_id")
        .len()
        .group_by("label")
        .agg(pl.len().alias("grids"), (pl.col("len").max() - pl.col("len").min()).alias("spread"))
    )
    assert (sizes["grids"] == 3).all()
    assert sizes["spread"].max() <= 1


def test_a_control_among_the_candidates_is_asked_as_a_control_only():
    candidates = make_candidates(60, 3)
    known = candidates.filter(label="l0").head(10).select("image_id", "label", pl.lit(value=True).alias("selected"))
    controls = pl.concat([known, make_controls(["l0", "l1", "l2"])])
    built = build(candidates, controls=controls)
    again = built.tasks.filter(~pl.col("is_control")).join(known, on=["image_id", "label"], how="semi")
    assert again.is_empty()
    asked = built.tasks.join(known, on=["image_id", "label"], how="semi").select("image_id", "label").unique().height
    assert asked + built.skipped.height == 10


def test_too_few_controls_are_an_error_that_names_the_labels_and_fewer_can_be_asked_for():
    candidates = make_candidates(30, 3)
    controls = make_controls(["l0", "l1", "l2"]).filter(~pl.col("image_id").str.contains("l1[12 3]"))
    with pytest.raises(TableError, match=r"1 labels have fewer than 5 .*'l1 \(2\)'"):
        build(candidates, controls=controls)
    built = build(candidates, controls=controls, min_controls=2)
    assert built.tasks.filter(label="l1")["is_control"].sum() == 2


def test_grids_without_any_control_must_be_asked_for():
    built = build(make_candidates(30, 3), controls=None, n_controls=0, min_controls=0)
    assert built.tasks["is_control"].sum() == 0
    assert built.n_one_sided == 0


def test_one_sided_grids_are_counted():
    controls = make_controls(["l0", "l1", "l2"], n_positive=6, n_negative=0)
    assert build(make_candidates(30, 3), controls=controls).n_one_sided == 3


def test_negative_controls_are_borrowed_from_far_labels_only(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("label,other,distance\nl0,l1,9\nl0,l2,2\nl1,l2,9\n")
    controls = make_controls(["l0", "l1", "l2"], n_positive=6, n_negative=0)
    built = build(make_candidates(30, 3), controls=controls, distance=f"file:{pairs}")
    lent = built.controls.filter(~pl.col("selected"))
    assert set(lent.filter(label="l0")["image_id"].str.slice(0, 3)) == {"pl1"}
    assert set(lent.filter(label="l1")["image_id"].str.slice(0, 3)) <= {"pl0", "pl2"}


def test_same_seed_same_grids_whatever_the_rows_order_and_another_seed_others():
    candidates = make_candidates(200, 4)
    first = build(candidates, seed=1)
    again = build(candidates.sample(fraction=1, shuffle=True, seed=5), seed=1)
    assert first.tasks.equals(again.tasks)
    assert first.controls.equals(again.controls)
    assert not first.tasks.equals(build(candidates, seed=2).tasks)


def test_controls_stand_at_any_place_in_a_grid():
    tasks = build(make_candidates(2000, 6)).tasks
    places = tasks.filter("is_control")["position"].to_numpy()
    others = tasks.filter(~pl.col("is_control"))["position"].to_numpy()
    assert abs(places.mean() - others.mean()) < 2
    assert set(range(40)) <= set(places.tolist())


def test_the_query_label_comes_with_its_description():
    glossary = Glossary(names={"l0": "tench"}, descriptions={"l0": "a freshwater fish"})
    tasks = build(make_candidates(30, 3), controls=make_controls(["l0", "l1", "l2"]), glossary=glossary).tasks
    assert set(tasks.filter(label="l0")["description"]) == {"tench: a freshwater fish"}
    assert tasks.filter(label="l1")["description"].null_count() == tasks.filter(label="l1").height


def test_grids_have_the_shape_of_those_that_workers_really_got(shared):
    real = json.loads(shared("data/imagenetv2_model_predictions/example_hits_6.json").read_text())
    shape = {tuple(len(grid[f"images_{part}"]) for part in ("all", "pos_control", "neg_control")) for grid in real}
    candidates = pl.DataFrame({"image_id": [f"i{n}" for n in range(84)], "label": "x", "is_given": True})
    built = build(candidates, controls=make_controls(["x"]))
    marked = built.tasks.join(built.controls, on=["image_id", "label"], how="left")
    grids = marked.group_by("task_id").agg(pl.len(), pl.col("selected").sum(), (~pl.col("selected")).sum().alias("no"))
    assert set(grids.select("len", "selected", "no").iter_rows()) == shape


def test_controls_without_a_right_answer_and_repeated_ones_are_named():
    controls = make_controls(["l0"])
    with pytest.raises(TableError, match=r"1 controls without a right answer: 'row 2: pl01 / l0'"):
        check_controls(controls.with_columns(selected=pl.Series([True, None, *[False] * 6])), where="controls.csv")
    with pytest.raises(TableError, match=r"row 9"):
        check_controls(pl.concat([controls, controls.head(1)]), where="controls.csv")
    with pytest.raises(TableError, match="empty"):
        check_controls(controls.head(0), where="controls.csv")
    assert check_controls(controls.drop("selected"), where="controls.csv")["selected"].all()


def test_presumed_controls_need_most_models_and_the_most_agreed_stand_first():
    candidates = pl.DataFrame(
        {
            "image_id": ["a", "b", "c", "a"],
            "label": ["x", "x", "x", "y"],
            "is_given": [True, True, True, False],
            "models": [["m", "n", "o"], ["m", "n", "o"], ["m", "n", "o"], ["m"]],
            "ranks": [[1, 1, 2], [1, 1, 1], [1, 2, 2], [2]],
        }
    )
    assert presume_controls(candidates)["image_id"].to_list() == ["b", "a"]
    assert presume_controls(candidates.drop("models"))["image_id"].to_list() == ["a", "b", "c"]


def test_dealing_uses_each_card_as_rarely_as_it_can():
    hands = deal([f"c{number}" for number in range(7)], n_hands=5, size=3)
    uses = [sum(card in hand for hand in hands) for card in {card for hand in hands for card in hand}]
    assert all(len(set(hand)) == 3 for hand in hands)
    assert set(uses) <= {2, 3}
    assert deal([], n_hands=2, size=3) == [[], []]


def test_bad_sizes_and_empty_tables_are_refused():
    with pytest.raises(ConfigError, match="no room"):
        TaskConfig(grid_size=6)
    with pytest.raises(ConfigError, match="min_controls is 7"):
        TaskConfig(min_controls=7)
    with pytest.raises(ConfigError, match="overlap is 0"):
        TaskConfig(n_workers=0)
    with pytest.raises(TableError, match="empty"):
        build(make_candidates().head(0))
