"""Figures of an explanation that need no analysis: places on a plane, before and after, saliency, the accuracy line."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.tables import METRICS
from graticule.report.explanation.accuracy_line import draw_accuracy_line
from graticule.report.explanation.label_drops import draw_before_after
from graticule.report.explanation.projection import draw_projection
from graticule.report.explanation.row_figure import make_number_axis
from graticule.report.explanation.saliency import draw_saliency_shares
from graticule.report.explanation.subject import Subject
from graticule.report.raster import render_png

SUBJECT = Subject(model="m", source="Europe <b>", target="Africa", adapted="m2")


def make_metrics(*rows):
    columns = {name: column.dtype for name, column in METRICS.columns.items()}
    return pl.DataFrame([dict.fromkeys(columns) | row for row in rows], schema=columns)


def number(metric, value, **where):
    return {"metric": metric, "model": "m", "value": value, "low": value - 0.1, "high": value + 0.1, "n": 9, **where}


def test_every_image_has_a_mark_of_its_side_on_each_plane():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=9), "y": rng.normal(size=9), "is_target": [True] * 4 + [False] * 5})
    found = draw_projection({"context": table, "design": table, "appearance": table}, SUBJECT)
    assert found is not None
    assert found.inline.count("<circle") == 10
    assert found.inline.count('<rect class="mark-1"') == 8
    assert "Europe &lt;b&gt;" in found.inline
    assert render_png(found.svg, zoom=1.0).startswith(b"\x89PNG")
    assert draw_projection({}, SUBJECT) is None


def test_before_and_after_counts_labels_that_adaptation_mends():
    rows = [
        number("drop", 0.3, region="Africa"),
        number("drop", 0.4, region="Africa", label="cup"),
        number("drop", 0.2, region="Africa", label="hat"),
        number("drop", 0.25, region="Africa", model="m2"),
        number("drop", 0.1, region="Africa", label="cup", model="m2"),
        number("drop", 0.3, region="Africa", label="hat", model="m2"),
    ]
    found = draw_before_after(make_metrics(*rows), SUBJECT)
    assert found is not None
    assert found.alt == (
        "The drop is 30.0 points before and 25.0 after. Adaptation makes the drop smaller for 1 of 2 labels."
    )
    assert [row[0] for row in found.table.rows] == ["All labels", "cup", "hat"]
    assert draw_before_after(make_metrics(*rows[:3]), SUBJECT) is None


def test_saliency_is_told_for_right_and_wrong():
    rows = [
        number("saliency_on_foreground", value, region="Africa", group=group)
        for group, value in (("all", 0.5), ("right", 0.6), ("wrong", 0.3))
    ]
    found = draw_saliency_shares(make_metrics(*rows, number("foreground_area", 0.4, region="Africa")), SUBJECT)
    assert found is not None
    assert "60.0% (50.0–70.0) where the model is right" in found.alt
    assert draw_saliency_shares(make_metrics(), SUBJECT) is None


def test_a_line_is_drawn_only_where_one_was_fitted():
    rows = [
        number("accuracy", value, model=model, region=region)
        for model, values in (("a", (0.5, 0.3)), ("b", (0.8, 0.6)))
        for region, value in zip(("Europe", "Africa"), values, strict=True)
    ]
    given = {"models": ("a", "b"), "source": "Europe", "target": "Africa", "fit": "probit"}
    without = draw_accuracy_line(make_metrics(*rows), **given)
    line = [number(f"line_{what}", 0.5, model=None, region="Africa") for what in ("slope", "intercept", "explained")]
    with_line = draw_accuracy_line(make_metrics(*rows, *line), **given)
    assert without is not None
    assert with_line is not None
    assert 'class="promised"' not in without.inline
    assert 'class="promised"' in with_line.inline
    assert "explains 50.0%" in with_line.alt


@pytest.mark.parametrize("values", [[], [0.0], [-0.3, 12.0], [1e-9], [float("nan"), 3.0]])
def test_an_axis_of_plain_numbers_holds_all_values(values):
    axis = make_number_axis(values)
    known = [value for value in values if np.isfinite(value)]
    assert axis.low <= min([0.0, *known])
    assert axis.high >= max([0.0, *known])
    assert 2 <= len(axis.ticks) <= 9
