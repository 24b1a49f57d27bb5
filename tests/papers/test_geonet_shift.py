"""GeoNet's drops, balanced comparison and gains, recomputed from its tables; and the signs' shift, measured."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from graticule.evaluation.shift.outcomes import Outcomes
from graticule.evaluation.shift.prior import measure_total_variation, weigh_labels

PUBLISHED = {
    "GeoPlaces": {"usa": (20.08, 21.88), "asia": (28.60, 33.64)},
    "GeoImNet": {"usa": (19.37, 14.53), "asia": (19.94, 15.62)},
}
"""Drops of table 2 as printed, top-1 and top-5, by where the model was trained."""
BALANCED = {"GeoPlaces": (20.08, 12.92), "GeoImNet": (19.37, 15.42)}


@pytest.fixture(scope="module")
def tables(shared):
    return json.loads(shared("data/paper_tables/geonet.json").read_text())


def make_right(share, n):
    right = np.zeros(n, dtype=bool)
    right[: round(share * n)] = True
    return right


@pytest.mark.parametrize("name", PUBLISHED)
def test_drops_of_table_2_are_home_minus_away(tables, name):
    cells = tables["table2_source_only_top1_top5"][name]
    for home, away in (("usa", "asia"), ("asia", "usa")):
        drops = np.array(cells[f"{home}->{home}"]) - np.array(cells[f"{home}->{away}"])
        assert drops == pytest.approx(PUBLISHED[name][home], abs=0.011)


@pytest.mark.parametrize("name", PUBLISHED)
def test_table_2_comes_out_of_as_many_images_as_the_test_sets_have(tables, name):
    """A model with the published accuracies on as many images of one label has the published drop."""
    counts = {"GeoPlaces": (17234, 26923), "GeoImNet": (16784, 9636)}[name]
    shares = [tables["table2_source_only_top1_top5"][name][f"usa->{side}"][0] / 100 for side in ("usa", "asia")]
    right = np.concatenate([make_right(share, n) for share, n in zip(shares, counts, strict=True)])
    is_target = np.repeat([False, True], counts)
    outcomes = Outcomes(
        labels=("any",),
        label=np.zeros(len(right), dtype=np.int64),
        is_target=is_target,
        is_right=right,
        groups=np.arange(len(right)),
    )
    found = weigh_labels(outcomes, n_bootstraps=20)["own"].drop
    assert 100 * found.value[0] == pytest.approx(PUBLISHED[name]["usa"][0], abs=0.02)
    assert found.high[0] - found.low[0] < 0.03


@pytest.mark.parametrize("name", BALANCED)
def test_part_of_the_drop_is_left_when_labels_are_balanced(tables, name):
    original, balanced = (np.array(tables["table3_balanced"][name][key]) for key in ("original", "balanced"))
    drops = original[0] - original[1], balanced[0] - balanced[1]
    assert drops == pytest.approx(BALANCED[name], abs=0.011)
    assert 0.6 < drops[1] / drops[0] < 0.85


def test_shares_of_labels_of_the_signs_differ_by_a_quarter(shared):
    index = pl.read_csv(shared("images/signs_de_it") / "index.csv")
    codes = index["class"].rank("dense").to_numpy().astype(np.int64) - 1
    outcomes = Outcomes(
        labels=tuple(index["class"].unique().sort().to_list()),
        label=codes,
        is_target=(index["domain"] == "italy").to_numpy(),
        is_right=np.ones(len(codes), dtype=bool),
        groups=np.arange(len(codes)),
    )
    assert measure_total_variation(outcomes) == pytest.approx(0.25, abs=0.005)
