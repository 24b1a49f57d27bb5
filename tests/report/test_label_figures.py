"""Figures of what people see: pairs of labels in the order of how surely they overlap."""

from __future__ import annotations

import polars as pl

from graticule.report.figures.ambiguous_pairs import ROWS_SHOWN, draw_ambiguous_pairs
from graticule.report.figures.label_doubts import draw_label_doubts
from graticule.report.figures.label_fidelity import draw_label_fidelity
from graticule.report.groups import order_groups


def pairs(rows):
    """Ambiguous pairs over all regions from (given, other, value, low, n)."""
    columns = ["label", "group", "value", "low", "n"]
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        metric=pl.lit("ambiguous_pair"),
        model=pl.lit(None, dtype=pl.String),
        region=pl.lit(None, dtype=pl.String),
        high=pl.lit(1.0),
    )


def test_pairs_that_overlap_most_surely_come_first_and_all_stand_in_the_table(audit):
    groups = order_groups(audit.metrics, record=audit.record)
    rows = [("cup", "mug", 1.0, 0.3, 2), ("lap_top", "notebook", 0.9, 0.8, 90), ("a", "b", 0.0, 0.0, 9)]
    rows += [(f"x{n}", "y", 0.5, 0.1, 5) for n in range(ROWS_SHOWN)]
    figure = draw_ambiguous_pairs(pairs(rows), groups, ())
    assert [row[:2] for row in figure.table.rows[:2]] == [("lap_top", "notebook"), ("cup", "mug")]
    assert len(figure.table.rows) == ROWS_SHOWN + 2
    assert "most surely lap_top → notebook, in 90.0% of 90 images" in figure.alt
    assert figure.notes == (f"The {ROWS_SHOWN} surest are drawn; 2 more in the table.",)


def test_without_labels_of_people_there_is_no_figure(audit):
    groups = order_groups(audit.metrics, record=audit.record)
    models = tuple(model.name for model in audit.record.models)
    for draw in (draw_ambiguous_pairs, draw_label_doubts, draw_label_fidelity):
        assert draw(audit.metrics, groups, models) is None
