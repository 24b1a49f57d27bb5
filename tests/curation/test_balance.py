"""Balanced subsets and mixes: who stays, who goes, and why."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.curation.balance import BalanceConfig, balance_images
from graticule.curation.mix import MixConfig, mix_images
from graticule.errors import ConfigError, TableError

CELLS = {("Asia", "hat"): 250, ("Africa", "hat"): 400, ("Asia", "dog"): 199, ("Africa", "dog"): 350}


def make_images(cells, *, prefix="i"):
    rows = [(region, label) for (region, label), n in cells.items() for _ in range(n)]
    frame = pl.DataFrame(rows, schema=["region", "label"], orient="row")
    return frame.with_columns(image_id=pl.format("{}{}", pl.lit(prefix), pl.int_range(pl.len())))


def count(images, *names):
    return {tuple(row[:-1]): row[-1] for row in images.group_by(names or ("region", "label")).len().iter_rows()}


def test_the_range_drops_thin_labels_and_cuts_thick_cells():
    selection = balance_images(make_images(CELLS))
    assert count(selection.kept) == {("Asia", "hat"): 250, ("Africa", "hat"): 300}
    reasons = set(selection.rejects["reason"])
    assert reasons == {
        "'dog' has 199 images in Asia, expected at least 200 in every region",
        "'hat' has more images in Africa than the 300 that are drawn",
    }
    assert selection.kept.height + selection.rejects.height == sum(CELLS.values())


def test_equal_counts_are_equal():
    kept = balance_images(make_images(CELLS), config=BalanceConfig(low=50, high=50)).kept
    assert set(count(kept).values()) == {50}
    smallest = balance_images(make_images(CELLS), config=BalanceConfig(low=1, is_smallest=True)).kept
    assert set(count(smallest).values()) == {199}


def test_a_label_that_a_region_lacks_is_dropped():
    images = make_images({("Asia", "hat"): 5, ("Africa", "hat"): 5, ("Asia", "yurt"): 9})
    selection = balance_images(images, config=BalanceConfig(low=1, is_smallest=True))
    assert count(selection.kept) == {("Asia", "hat"): 5, ("Africa", "hat"): 5}
    assert "has 0 images in Africa" in selection.rejects["reason"][0]


def test_images_without_a_region_or_label_are_left_out():
    images = make_images({("Asia", "hat"): 3, (None, "hat"): 1, ("Asia", None): 1})
    selection = balance_images(images, config=BalanceConfig(low=1, high=9))
    assert sorted(selection.rejects["reason"]) == ["no label", "no region"]


def test_a_smaller_subset_lies_in_a_larger_one_whatever_the_order_of_rows():
    images = make_images(CELLS)
    large = balance_images(images, config=BalanceConfig(low=100, high=190)).kept
    small = balance_images(images.sample(fraction=1, shuffle=True, seed=2), config=BalanceConfig(low=80, high=90)).kept
    assert set(small["image_id"]) < set(large["image_id"])


def test_nothing_to_balance_is_an_error():
    with pytest.raises(TableError, match="the best is 'hat' with 250 in Asia"):
        balance_images(make_images(CELLS), config=BalanceConfig(low=1000, high=1000))
    with pytest.raises(TableError, match="no column 'region'"):
        balance_images(make_images(CELLS).drop("region"))
    with pytest.raises(ConfigError, match="expected 1 ≤ low ≤ high"):
        BalanceConfig(low=10, high=5)


FIRST = {("A", "hat"): 60, ("A", "dog"): 30, ("A", "cup"): 10}
SECOND = {("B", "hat"): 100, ("B", "dog"): 5, ("B", "cup"): 50, ("B", "yak"): 9}


def mix(**options):
    return mix_images(make_images(FIRST), make_images(SECOND, prefix="j"), config=MixConfig(**options))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 1.0])
def test_a_mix_keeps_size_and_label_shares(share):
    selection = mix(share=share)
    assert count(selection.kept, "label") == {("hat",): 60, ("dog",): 30, ("cup",): 10}
    taken = count(selection.kept.filter(region="B"), "label")
    assert taken.get(("hat",), 0) == round(60 * share)
    assert taken.get(("dog",), 0) == min(5, round(30 * share))
    assert ("yak",) not in taken


def test_a_mix_of_a_budget_scales_the_labels():
    kept = mix(share=0.5, budget=50).kept
    assert count(kept, "label") == {("hat",): 30, ("dog",): 15, ("cup",): 5}


def test_a_larger_budget_draws_on_both():
    kept = mix(share=0.0, budget=110).kept
    assert count(kept, "label") == {("hat",): 66, ("dog",): 33, ("cup",): 11}


def test_shares_nest():
    small, large = mix(share=0.2).kept, mix(share=0.4).kept
    assert set(small.filter(region="B")["image_id"]) < set(large.filter(region="B")["image_id"])


def test_mixes_that_cannot_be_are_refused():
    with pytest.raises(TableError, match="too few images of 1 labels"):
        mix(budget=200)
    with pytest.raises(TableError, match="stand in both sources"):
        mix_images(make_images(FIRST), make_images(SECOND))
    with pytest.raises(ConfigError, match=r"share is 1\.5"):
        mix(share=1.5)
    with pytest.raises(TableError, match="no label"):
        mix_images(make_images(FIRST).drop("label"), make_images(SECOND, prefix="j"))


def test_inputs_are_not_changed():
    images = make_images(CELLS)
    before = images.clone()
    balance_images(images)
    assert images.equals(before)
    assert np.array_equal(before["image_id"], images["image_id"])
