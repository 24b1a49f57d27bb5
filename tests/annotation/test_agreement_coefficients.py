"""Agreement: textbook values, slow versions, and the table."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graticule.annotation.agreement import COEFFICIENTS
from graticule.annotation.agreement.counted import sum_counts
from graticule.annotation.agreement.measure import measure_agreement
from graticule.annotation.answers import code_answers
from graticule.data.tables import AGREEMENT
from graticule.data.validate import validate_table
from graticule.errors import ConfigError

ALPHA, KAPPA = "krippendorff_alpha", "fleiss_kappa"

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability": observers × units, 0 where there is no answer.
TWO_OBSERVERS_BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
# Fleiss 1971, table 1: thirty patients, six psychiatrists, five diagnoses.
DIAGNOSES = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1],
    [3, 0, 0, 1, 2],
    [5, 1, 0, 0, 0],
    [0, 2, 0, 4, 0],
    [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6],
    [0, 1, 0, 5, 0],
    [0, 2, 0, 1, 3],
    [2, 0, 0, 4, 0],
    [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0],
    [4, 0, 0, 0, 2],
    [0, 2, 0, 4, 0],
    [1, 0, 5, 0, 0],
    [0, 0, 0, 0, 6],
]
# A usual worked example of Fleiss' kappa: ten units, fourteen raters, five values.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def count(observers, values):
    columns = zip(*observers, strict=True)
    return np.array([[sum(answer == value for answer in column) for value in values] for column in columns])


def measure(name, counts):
    return COEFFICIENTS[name](sum_counts(np.asarray(counts)))[0]


def slow_alpha(counts):
    """Krippendorff's coincidence matrix, in fractions."""
    coincidences = {}
    for unit in counts:
        m = sum(unit)
        if m < 2:
            continue
        answers = [value for value, n in enumerate(unit) for _ in range(n)]
        for first, second in permutations(answers, 2):
            coincidences[first, second] = coincidences.get((first, second), Fraction(0)) + Fraction(1, m - 1)
    total = sum(coincidences.values())
    of_value = {}
    for (first, _), n in coincidences.items():
        of_value[first] = of_value.get(first, 0) + n
    observed = sum(n for (first, second), n in coincidences.items() if first != second)
    expected = sum(of_value[a] * of_value[b] for a in of_value for b in of_value if a != b)
    return 1 - (total - 1) * observed / expected if expected else None


def slow_kappa(counts):
    counts = [unit for unit in counts if sum(unit) > 1]
    if not counts:
        return None
    agreement = [Fraction(sum(n * (n - 1) for n in unit), sum(unit) * (sum(unit) - 1)) for unit in counts]
    total = sum(sum(unit) for unit in counts)
    chance = sum(Fraction(sum(unit[value] for unit in counts), total) ** 2 for value in range(len(counts[0])))
    return (sum(agreement) / len(agreement) - chance) / (1 - chance) if chance != 1 else None


@pytest.mark.parametrize(
    ("observers", "values", "published"),
    [(TWO_OBSERVERS_BINARY, (0, 1), 0.095), (FOUR_OBSERVERS, (1, 2, 3, 4, 5), 0.743)],
)
def test_krippendorffs_own_examples(observers, values, published):
    counts = count(observers, values)
    assert measure(ALPHA, counts) == pytest.approx(published, abs=5e-4)
    assert measure(ALPHA, counts) == pytest.approx(float(slow_alpha(counts.tolist())), abs=1e-12)


def test_fleiss_own_example():
    assert measure(KAPPA, DIAGNOSES) == pytest.approx(0.430, abs=5e-4)
    assert measure(KAPPA, DIAGNOSES) == pytest.approx(float(slow_kappa(DIAGNOSES)), abs=1e-12)


def test_fleiss_example_diagnosis_by_diagnosis():
    counts = np.array(DIAGNOSES)
    by_label = [measure(KAPPA, np.stack([counts[:, k], 6 - counts[:, k]], axis=1)) for k in range(5)]
    assert by_label == pytest.approx([0.245, 0.245, 0.520, 0.471, 0.566], abs=5e-4)


def test_the_usual_example_of_fourteen_raters():
    assert measure(KAPPA, FOURTEEN_RATERS) == pytest.approx(0.210, abs=5e-4)
    assert measure(KAPPA, FOURTEEN_RATERS) == pytest.approx(float(slow_kappa(FOURTEEN_RATERS)), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8))
def test_coefficients_equal_the_slow_ones(counts):
    for name, slow in ((ALPHA, slow_alpha), (KAPPA, slow_kappa)):
        expected = slow(counts)
        found = measure(name, counts)
        assert np.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-9)


def test_answers_that_are_all_the_same_leave_nothing_to_agree_on():
    assert np.isnan(measure(ALPHA, [[3, 0], [2, 0]]))
    assert np.isnan(measure(KAPPA, [[3, 0], [2, 0]]))


def table_of(counts, **columns):
    """Answers whose counts are these; worker 0 gives a unit's first answer, and so on."""
    rows = [
        (f"u{unit:02d}", f"w{worker}", f"l{value}")
        for unit, row in enumerate(counts)
        for worker, value in enumerate(value for value, n in enumerate(row) for _ in range(n))
    ]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    return frame.with_columns(task_id=pl.col("image_id"), **columns)


def row(table, statistic, label=None, worker=None):
    by = {"label": label, "worker_id": worker}
    found = table.filter(
        pl.col("statistic") == statistic,
        *(pl.col(name).is_null() if value is None else pl.col(name) == value for name, value in by.items()),
    )
    assert found.height == 1
    return found.row(0, named=True)


def test_the_table_has_the_coefficients_over_all_by_label_and_by_worker():
    table = measure_agreement(code_answers(table_of(DIAGNOSES)), n_draws=200)
    validate_table(table, AGREEMENT, where="agreement")
    overall = row(table, KAPPA)
    assert overall["value"] == pytest.approx(float(slow_kappa(DIAGNOSES)), abs=1e-12)
    assert overall["low"] < overall["value"] < overall["high"]
    assert (overall["n_images"], overall["n_workers"], overall["n_answers"]) == (30, 6, 180)
    assert row(table, ALPHA)["value"] == pytest.approx(float(slow_alpha(DIAGNOSES)), abs=1e-12)
    by_label = [row(table, KAPPA, label=f"l{k}")["value"] for k in range(5)]
    assert by_label == pytest.approx([0.245, 0.245, 0.520, 0.471, 0.566], abs=5e-4)
    assert row(table, KAPPA, label="l0")["n_answers"] == 26
    assert table.filter(pl.col("worker_id").is_not_null()).height == 6


def test_alpha_is_the_mean_of_the_workers_alphas_weighed_by_their_answers():
    table = measure_agreement(code_answers(table_of(FOURTEEN_RATERS)), n_draws=0)
    workers = table.filter(pl.col("worker_id").is_not_null())
    mean = (workers["value"] * workers["n_answers"]).sum() / workers["n_answers"].sum()
    assert mean == pytest.approx(row(table, ALPHA)["value"])
    assert table["low"].is_nan().all()


def test_a_worker_who_guesses_agrees_less_than_the_others():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    rows = [
        (f"i{i:03d}", f"w{w}", f"l{rng.integers(3) if w == 4 or rng.random() < 0.2 else truth[i]}")
        for i in range(200)
        for w in range(5)
    ]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    table = measure_agreement(code_answers(frame.with_columns(task_id=pl.col("image_id"))))
    guesser, others = row(table, ALPHA, worker="w4"), [row(table, ALPHA, worker=f"w{w}") for w in range(4)]
    assert guesser["high"] < min(other["low"] for other in others)
    assert guesser["low"] < 0 < guesser["high"]


def test_in_contains_a_unit_is_an_image_and_a_label_and_a_label_has_its_own_yes_and_no():
    counts = {"cat": [[3, 0], [0, 3], [1, 2], [3, 0]], "dog": [[1, 2], [2, 1], [0, 3], [3, 0]]}
    frames = [
        table_of(rows, label=pl.lit(label), selected=pl.col("label") == "l1", kind=pl.lit("contains"))
        for label, rows in counts.items()
    ]
    table = measure_agreement(code_answers(pl.concat(frames)), n_draws=50)
    assert row(table, ALPHA)["value"] == pytest.approx(float(slow_alpha(counts["cat"] + counts["dog"])))
    for label, rows in counts.items():
        assert row(table, ALPHA, label=label)["value"] == pytest.approx(float(slow_alpha(rows)))
        assert row(table, KAPPA, label=label)["value"] == pytest.approx(float(slow_kappa(rows)))
        assert row(table, ALPHA, label=label)["n_images"] == 4
    assert table["kind"].unique().to_list() == ["contains"]


def test_permuting_rows_changes_nothing_and_the_seed_decides_the_intervals():
    frame = table_of(FOURTEEN_RATERS)
    one = measure_agreement(code_answers(frame), n_draws=50, seed=1)
    other = measure_agreement(code_answers(frame.sample(fraction=1.0, shuffle=True, seed=3)), n_draws=50, seed=1)
    assert one.equals(other)
    assert not one["low"].equals(measure_agreement(code_answers(frame), n_draws=50, seed=2)["low"])


def test_where_nobody_met_anybody_there_is_no_agreement_to_measure():
    frame = table_of([[1, 0], [0, 1], [1, 0]])
    table = measure_agreement(code_answers(frame), n_draws=20)
    assert table.height == 2
    assert table["value"].is_nan().all()
    assert table["n_answers"].to_list() == [0, 0]
    with pytest.raises(ConfigError, match="n_draws is -1"):
        measure_agreement(code_answers(frame), n_draws=-1)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Coverage over simulated crowds, whose alpha is that of a very large one."""

    def crowd(n_images, seed):
        rng = np.random.default_rng(seed)
        truth = rng.random(n_images) < 0.4
        said = np.where(rng.random((n_images, 4)) < 0.8, truth[:, None], ~truth[:, None]).sum(axis=1)
        return np.stack([said, 4 - said], axis=1)

    expected = measure(ALPHA, crowd(200_000, seed=0))
    n_held = 0
    for seed in range(1, 101):
        found = row(measure_agreement(code_answers(table_of(crowd(80, seed).tolist())), n_draws=200), ALPHA)
        n_held += found["low"] <= expected <= found["high"]
    assert 87 <= n_held <= 99
