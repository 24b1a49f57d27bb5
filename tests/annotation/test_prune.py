"""Pruning by CONTAINS selection frequency: the rule of the paper's appendix, one clause a test."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.distance import load_distance
from graticule.annotation.prune import PruneConfig, prune_candidates
from graticule.errors import ConfigError, TableError


class Far:
    """A distance in which labels that begin with another letter are far."""

    def measure(self, first, second):
        return np.array([9.0 if a[0] != b[0] else 2.0 for a, b in zip(first, second, strict=True)])


def prune(frequencies, *, given="a0", **config):
    candidates = pl.DataFrame(
        {
            "image_id": ["i"] * len(frequencies),
            "label": list(frequencies),
            "is_given": [label == given for label in frequencies],
        }
    )
    answered = {label: value for label, value in frequencies.items() if value is not None}
    table = pl.DataFrame(
        {
            "image_id": ["i"] * len(answered),
            "label": list(answered),
            "selection_frequency": [float(value) for value in answered.values()],
            "n_workers": [9] * len(answered),
        }
    )
    return prune_candidates(candidates, table, distance=Far(), config=PruneConfig(**config))


def kept(frequencies, **config):
    return dict(prune(frequencies, **config).kept.select("label", "kept_for").iter_rows())


def test_the_given_label_stays_even_if_nobody_selected_it():
    assert kept({"a0": 0, "a1": 1, "a2": 1, "a3": 1, "a4": 1, "a5": 1, "a6": 1, "a7": 1})["a0"] == "given"


def test_labels_that_half_of_the_workers_selected_stay():
    found = kept({"a0": 1, "a1": 0.5, "a2": 0.49, "a3": 0.1, "a4": 0.1}, fill_to=1)
    assert found == {"a0": "given", "a1": "selected"}


def test_far_labels_stay_if_anyone_selected_them():
    found = kept({"a0": 1, "b1": 1 / 9, "b2": 0, "a1": 1 / 9}, fill_to=1)
    assert found == {"a0": "given", "b1": "distant"}


def test_five_nodes_are_not_far_and_more_are():
    frequencies = {"a0": 1, "b1": 0.1}
    assert "b1" in kept(frequencies, fill_to=1, far_nodes=8.9)
    assert "b1" not in kept(frequencies, fill_to=1, far_nodes=9.0)


def test_sets_are_filled_up_to_five_by_frequency():
    found = kept({"a0": 1, "a1": 0.4, "a2": 0.0, "a3": 0.3, "a4": 0.1, "a5": 0.2})
    assert list(found) == ["a0", "a1", "a3", "a4", "a5"]
    assert set(found.values()) == {"given", "filled"}


def test_sets_are_cut_to_six_where_the_excess_is_weak():
    frequencies = {"a0": 0.9, "b1": 0.1, "b2": 0.2, "b3": 0.3, "b4": 0.4, "a5": 0.6, "a6": 0.7}
    assert set(kept(frequencies)) == {"a0", "a6", "a5", "b4", "b3", "b2"}


def test_strong_excess_stays_unless_the_given_label_is_weak():
    strong = {"a1": 0.9, "a2": 0.9, "a3": 0.9, "a4": 0.9, "a5": 0.8, "a6": 0.7, "a7": 0.6}
    assert len(kept({"a0": 0.2, **strong})) == 8
    weak = kept({"a0": 1 / 8, **strong})
    assert set(weak) == {"a0", "a1", "a2", "a3", "a4", "a5"}


def test_ties_go_by_models_then_rank_then_name_and_rows_keep_their_order():
    candidates = pl.DataFrame(
        {
            "image_id": ["i"] * 5,
            "label": ["z", "y", "x", "w", "v"],
            "is_given": [True, False, False, False, False],
            "n_models": [3, 1, 2, 2, 1],
            "best_rank": [1, 1, 3, 2, 1],
        }
    )
    answered = candidates.select("image_id", "label", pl.lit(0.2).alias("selection_frequency"))
    config = PruneConfig(fill_to=3)
    found = prune_candidates(candidates, answered, distance=load_distance("none"), config=config)
    assert found.kept["label"].to_list() == ["z", "x", "w"]
    shuffled = prune_candidates(candidates[::-1], answered, distance=load_distance("none"), config=config)
    assert set(shuffled.kept["label"]) == {"z", "x", "w"}
    assert prune_candidates(candidates, answered, distance=load_distance("none"), config=PruneConfig(fill_to=4)).kept[
        "label"
    ].to_list() == ["z", "x", "w", "v"]


def test_what_is_dropped_says_why_and_nothing_is_lost():
    found = prune({"a0": 0.9, "b1": 0.1, "b2": 0.2, "b3": 0.3, "b4": 0.4, "a5": 0.6, "a6": 0.7, "a7": 0.1})
    reasons = dict(found.rejects.select("label", "reason").iter_rows())
    assert reasons["b1"] == "beyond the 6 most selected labels"
    assert "fewer than 0.5" in reasons["a7"]
    assert found.kept.height + found.rejects.height == 8


def test_a_label_that_nobody_was_asked_about_counts_as_unselected_and_is_counted():
    found = prune({"a0": 1, "a1": None, "b2": None, "a3": 0.6}, fill_to=1)
    assert set(found.kept["label"]) == {"a0", "a3"}
    assert found.n_unasked == 2


def test_distances_are_measured_for_doubtful_labels_only():
    asked = []

    class Spy:
        def measure(self, first, second):
            asked.extend(zip(first, second, strict=True))
            return np.zeros(len(first))

    candidates = pl.DataFrame({"image_id": ["i"] * 4, "label": ["a", "b", "c", "d"], "is_given": [True, *[False] * 3]})
    answered = candidates.select("image_id", "label").with_columns(selection_frequency=pl.Series([1.0, 0.9, 0.1, 0.0]))
    prune_candidates(candidates, answered, distance=Spy())
    assert asked == [("a", "c")]


def test_pruning_equals_a_slow_version_of_the_rule():
    rng = np.random.default_rng(3)
    rows = []
    for image in range(300):
        names = rng.permutation([f"{letter}{number}" for letter in "abc" for number in range(5)])[: rng.integers(1, 15)]
        rows += [
            (f"i{image}", str(name), place == 0, float(rng.integers(0, 10)) / 9) for place, name in enumerate(names)
        ]
    table = pl.DataFrame(rows, schema=["image_id", "label", "is_given", "selection_frequency"], orient="row")
    found = prune_candidates(table.drop("selection_frequency"), table, distance=Far()).kept
    expected = set()
    for (image,), group in table.group_by("image_id"):
        expected |= {(image, label) for label in _slow(group.rows(named=True))}
    assert set(found.select("image_id", "label").iter_rows()) == expected


def _slow(rows):
    given = next(row for row in rows if row["is_given"])
    others = sorted((row for row in rows if not row["is_given"]), key=lambda r: (-r["selection_frequency"], r["label"]))
    chosen = [
        row
        for row in others
        if row["selection_frequency"] >= 0.5
        or (row["selection_frequency"] > 0 and row["label"][0] != given["label"][0])
    ]
    for row in others:
        if len(chosen) + 1 < 5 and row not in chosen:
            chosen.append(row)
    chosen.sort(key=lambda r: (-r["selection_frequency"], r["label"]))
    head, tail = chosen[:5], chosen[5:]
    if given["selection_frequency"] > 1 / 8:
        head += [row for row in tail if row["selection_frequency"] >= 0.5]
    return [given["label"], *(row["label"] for row in head)]


def test_bad_input_is_named():
    candidates = pl.DataFrame({"image_id": ["i"], "label": ["a"], "is_given": [True]})
    none = load_distance("none")
    with pytest.raises(TableError, match="empty"):
        prune_candidates(candidates.head(0), candidates, distance=none)
    with pytest.raises(TableError, match="no column 'selection_frequency'"):
        prune_candidates(candidates, candidates, distance=none)
    other = pl.DataFrame({"image_id": ["j"], "label": ["a"], "selection_frequency": [1.0]})
    with pytest.raises(TableError, match="none of them is of a candidate"):
        prune_candidates(candidates, other, distance=none)
    with pytest.raises(ConfigError, match="fill_to is 7"):
        PruneConfig(fill_to=7)
    with pytest.raises(ConfigError, match="min_frequency is 50"):
        PruneConfig(min_frequency=50.0)
