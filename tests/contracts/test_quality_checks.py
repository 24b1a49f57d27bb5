"""What every check of answers does: it leaves good answers alone, gives reasons, and does not depend on rows' order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module

import numpy as np
import polars as pl
import pytest

from graticule.annotation.quality import CHECKS
from graticule.annotation.quality.filter import filter_answers
from graticule.errors import TableError

START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ["task_id", "worker_id", "image_id", "label", "kind"]


def make_answers(*, is_good):
    """Answers of both kinds; where they are not good, one worker does everything wrong that can be done."""
    rng = np.random.default_rng(0)
    rows = []
    for worker in range(6):
        is_bad = worker == 5 and not is_good
        for image in range(40):
            selected = image % 4 != 0 and not is_bad
            seconds = 0.1 if is_bad else 20 + rng.random()
            rows.append((f"g{image // 8}", f"w{worker}", f"i{image}", "x", "contains", selected, None, seconds))
            main = "x" if image % 3 else "y"
            for label in ("x", "y"):
                is_chosen = not (is_bad and (label == main or image == 0))
                rows.append(
                    (f"k{image}", f"w{worker}", f"j{image}", label, "classify", is_chosen, label == main, seconds)
                )
    if not is_good:
        rows += [(*row[:5], not row[5], *row[6:]) for row in rows[:4]]
    schema = {**dict.fromkeys(KEY, pl.String), "selected": pl.Boolean, "is_main": pl.Boolean, "seconds": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(
        assigned_at=pl.lit(START),
        answered_at=pl.Series([START + timedelta(seconds=seconds) for seconds in frame["seconds"]]),
    ).drop("seconds")


def make_controls():
    pairs = [(f"i{image}", "x", image % 4 != 0) for image in range(16)]
    return pl.DataFrame(pairs, schema=["image_id", "label", "selected"], orient="row")


def run(answers, name):
    return filter_answers(answers, controls=make_controls(), checks=[name])


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_is_documented_and_imports_by_its_name(name):
    module, _, attribute = CHECKS[name].partition(":")
    assert module.endswith(f".{name}")
    assert getattr(import_module(module), attribute).__doc__


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_leaves_good_answers_alone(name):
    answers = make_answers(is_good=True)
    assert run(answers, name).kept.equals(answers)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_finds_the_bad_worker_and_says_why(name):
    filtered = run(make_answers(is_good=False), name)
    assert not filtered.rejects.is_empty()
    assert filtered.rejects["reason"].null_count() == 0
    assert set(filtered.rejects["check"]) == {name}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_does_not_depend_on_the_order_of_rows(name):
    answers = make_answers(is_good=False).unique(KEY, maintain_order=True)
    first = run(answers, name).rejects.select("reason", *KEY)
    again = run(answers.sample(fraction=1, shuffle=True, seed=3), name).rejects.select("reason", *KEY)
    assert first.sort(KEY).equals(again.sort(KEY))


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_refuses_an_empty_table(name):
    with pytest.raises(TableError, match="empty"):
        run(make_answers(is_good=True).head(0), name)
