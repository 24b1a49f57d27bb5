"""Splits: exact where asked, stable always, and groups never on two sides."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graticule.curation.balance import BalanceConfig, balance_images
from graticule.curation.hashing import hash_names
from graticule.curation.split_sizes import SplitSizes, cut_total, make_sizes, spread_evenly
from graticule.curation.splits import SplitConfig, split_images
from graticule.errors import ConfigError, TableError


def make_images(n, *, seed=0, first=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "image_id": [f"i{first + number}" for number in range(n)],
            "label": rng.choice(["chair", "stove", "hat"], n, p=[0.6, 0.3, 0.1]),
            "region": rng.choice(["Asia", "Africa"], n),
            "worker_id": [f"w{number}" for number in rng.integers(0, max(n // 4, 1), n)],
            "latitude": rng.uniform(-60, 60, n),
            "longitude": rng.uniform(-170, 170, n),
        }
    )


def sizes(*words):
    return SplitSizes.parse(words)


def find_splits(selection):
    return dict(selection.kept.select("image_id", "split").iter_rows())


def exact(**options):
    return SplitConfig(sizes=sizes("train=0.6", "validation=0.2", "test=0.2"), method="exact", **options)


def test_exact_sizes_hold_in_every_region_and_shares_in_every_label():
    images = make_images(2001)
    kept = split_images(images, config=exact()).kept
    for (_,), region in kept.group_by(["region"]):
        counts = dict(region["split"].value_counts().iter_rows())
        assert tuple(counts[name] for name in ("train", "validation", "test")) == cut_total(
            region.height, exact().sizes
        )
    for _, cell in kept.group_by(["region", "label"]):
        for name, share in (("train", 0.6), ("validation", 0.2), ("test", 0.2)):
            assert abs((cell["split"] == name).sum() - share * cell.height) < 2


@given(n=st.integers(1, 20_000))
@settings(max_examples=200)
def test_a_cut_rounds_as_scikit_learn_does(n):
    expected_held = int(np.ceil(round(0.4 * n, 9)))
    expected_test = int(np.ceil(expected_held / 2))
    assert cut_total(n, exact().sizes) == (n - expected_held, expected_held - expected_test, expected_test)


@given(counts=st.lists(st.integers(0, 60), min_size=1, max_size=9), share=st.floats(0, 1))
def test_spreading_is_within_one_of_proportion(counts, share):
    over = np.array(counts)
    total = int(share * over.sum())
    dealt = spread_evenly(total, over)
    assert dealt.sum() == total
    assert (np.abs(dealt - over * total / max(over.sum(), 1)) < 1).all()
    assert (dealt <= over).all()


@pytest.mark.parametrize("config", [SplitConfig(), SplitConfig(groups=("worker_id",)), SplitConfig(place_degrees=10.0)])
def test_hash_moves_nothing_when_images_are_added_or_rows_change_place(config):
    images = make_images(900)
    first = find_splits(split_images(images, config=config))
    more = pl.concat([make_images(700, seed=5, first=900), images.sample(fraction=1, shuffle=True, seed=1)])
    again = find_splits(split_images(more, config=config))
    assert {name: again[name] for name in first} == first


def test_hash_comes_near_the_shares():
    kept = split_images(make_images(20_000)).kept
    assert abs((kept["split"] == "test").mean() - 0.15) < 4 * np.sqrt(0.15 * 0.85 / 20_000)


@pytest.mark.parametrize("config", [exact(), exact(groups=("worker_id",)), exact(place_degrees=5.0)])
def test_exact_moves_nothing_when_it_knows_the_earlier_splits(config):
    images = make_images(900)
    first = split_images(images, config=config)
    more = pl.concat([images, make_images(300, seed=5, first=900)])
    again = split_images(more, config=config, previous=first.kept)
    found = find_splits(again)
    assert {name: found[name] for name in find_splits(first)} == find_splits(first)
    appended = pl.concat([first.kept, make_images(300, seed=5, first=900)], how="diagonal")
    assert find_splits(split_images(appended, config=config)) == found


def test_exact_with_earlier_splits_comes_to_the_same_sizes():
    images = make_images(900)
    first = split_images(images, config=exact())
    more = pl.concat([images, make_images(300, seed=5, first=900)])
    again = split_images(more, config=exact(), previous=first.kept).kept
    fresh = split_images(more, config=exact()).kept
    key = ["region", "split"]
    assert again.group_by(key).len().sort(key).equals(fresh.group_by(key).len().sort(key))


@pytest.mark.parametrize("method", ["hash", "exact"])
@pytest.mark.parametrize("groups", [("worker_id",), ("worker_id", "cluster")])
def test_a_group_stands_on_one_side(method, groups):
    images = make_images(600).with_columns(
        cluster=pl.when(pl.int_range(pl.len()) % 7 == 0).then(pl.format("c{}", pl.int_range(pl.len()) // 28))
    )
    config = SplitConfig(sizes=exact().sizes, method=method, groups=groups)
    kept = split_images(images, config=config).kept
    for name in groups:
        sides = kept.drop_nulls(name).group_by(name).agg(pl.col("split").n_unique())
        assert sides["split"].max() == 1
    assert kept["split"].n_unique() == 3


def test_groups_come_near_the_exact_sizes():
    kept = split_images(make_images(2000), config=exact(groups=("worker_id",))).kept
    for (_,), region in kept.group_by(["region"]):
        assert abs((region["split"] == "train").mean() - 0.6) < 0.01


def test_a_place_stands_on_one_side():
    images = make_images(400).with_columns(latitude=pl.col("latitude").round(0) + 0.2)
    kept = split_images(images, config=exact(place_degrees=10.0)).kept
    cell = pl.format("{} {}", (pl.col("latitude") / 10).floor(), (pl.col("longitude") / 10).floor())
    assert kept.group_by(cell.alias("cell")).agg(pl.col("split").n_unique())["split"].max() == 1


def test_counts_are_met_and_the_rest_goes_where_it_was_sent():
    kept = split_images(make_images(900), config=SplitConfig(sizes=sizes("test=20", "train=rest"))).kept
    tests = kept.filter(split="test").group_by("region", "label").len()
    assert set(tests["len"]) == {20}
    assert kept.height == 900


def test_counts_without_a_rest_leave_images_out_with_a_reason():
    selection = split_images(make_images(900), config=SplitConfig(sizes=sizes("test=10", "train=20")))
    assert selection.kept.height == 6 * 30
    assert selection.rejects.height == 900 - 6 * 30
    assert set(selection.rejects["step"]) == {"split"}


def test_a_split_of_a_balanced_subset_is_as_large_as_any():
    balanced = balance_images(make_images(20_000), config=BalanceConfig(low=100, high=100)).kept
    assert 0.1 < (split_images(balanced).kept["split"] == "test").mean() < 0.2


def test_another_seed_draws_other_images_of_the_same_number():
    images = make_images(500)
    first, second = (split_images(images, config=exact(seed=seed)).kept for seed in (0, 1))
    assert first["split"].to_list() != second["split"].to_list()
    assert dict(first["split"].value_counts().iter_rows()) == dict(second["split"].value_counts().iter_rows())


def test_a_new_image_that_ties_two_sides_is_left_out_and_no_old_one_moves():
    images = pl.DataFrame({"image_id": ["a", "b"], "worker_id": ["w1", "w2"], "split": ["train", "test"]})
    images = images.with_columns(cluster=pl.Series([1, 2]))
    bridge = pl.DataFrame({"image_id": ["c"], "worker_id": ["w1"], "cluster": [2]})
    more = pl.concat([images, bridge], how="diagonal")
    selection = split_images(more, config=SplitConfig(groups=("worker_id", "cluster")))
    assert find_splits(selection) == {"a": "train", "b": "test"}
    assert "ties together" in selection.rejects["reason"][0]


def test_old_groups_on_two_sides_are_an_error():
    images = pl.DataFrame({"image_id": ["a", "b"], "worker_id": ["w", "w"], "split": ["train", "test"]})
    with pytest.raises(TableError, match="1 groups by worker_id stand in more than one split"):
        split_images(images, config=SplitConfig(groups=("worker_id",)))


def test_one_image_one_region_and_no_label_are_split():
    assert split_images(pl.DataFrame({"image_id": ["a"]}), config=exact()).kept["split"].null_count() == 0


def test_images_are_not_changed():
    images = make_images(50)
    before = images.clone()
    split_images(images, config=exact())
    assert images.equals(before)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"train": "0.5", "test": "0.4"}, "add up to 0.9, expected 1"),
        ({"train": "0.5"}, "expected at least two"),
        ({"train": "0.5", "test": "20"}, "one kind"),
        ({"train": "rest", "test": "rest"}, "both take the rest"),
        ({"train": "1.5", "test": "rest"}, "expected a share"),
        ({"train": "many", "test": "rest"}, "expected a share"),
        ({"train": "-3", "test": "rest"}, "expected a share"),
        ({"train": "1/0", "test": "rest"}, "expected a share"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(given, says):
    with pytest.raises(ConfigError, match=says):
        make_sizes(given)


def test_usual_names_of_splits_are_taken_and_a_split_that_is_named_twice_is_refused():
    assert sizes("Train=0.5", "val=rest").names == ("train", "validation")
    with pytest.raises(ConfigError, match="'validation' is given twice"):
        sizes("val=0.5", "dev=rest")
    with pytest.raises(ConfigError, match="expected NAME=SIZE"):
        sizes("train", "val=0.5")


def test_too_thin_cells_are_named():
    with pytest.raises(TableError, match="Africa × hat"):
        split_images(make_images(60), config=SplitConfig(sizes=sizes("test=50", "train=rest")))


def test_an_unknown_column_method_or_split_is_an_error():
    images = make_images(20)
    with pytest.raises(TableError, match="no column 'place'"):
        split_images(images, config=exact(by="place"))
    with pytest.raises(TableError, match="no column 'person'"):
        split_images(images, config=exact(groups=("person",)))
    with pytest.raises(ConfigError, match="Did you mean 'exact'"):
        SplitConfig(method="exakt")
    with pytest.raises(ConfigError, match="a hash knows no counts"):
        SplitConfig(method="hash", sizes=sizes("test=2", "train=rest"))
    with pytest.raises(ConfigError, match="'dev'"):
        split_images(images.with_columns(split=pl.lit("dev")), config=exact())


def test_hashes_are_the_same_everywhere():
    assert hash_names(["a", "é"], purpose="split", seed=3).tolist() == [904471309824795763, 10257235293104408139]
