"""Axes and bins: round, and holding all that they are given."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.report.drawing.palette import N_STEPS
from graticule.report.drawing.scales import make_axis, make_bins, make_symmetric_axis

shares = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(shares)
def test_an_axis_holds_all_values_and_ends_at_ticks(values):
    axis = make_axis(values)
    assert 2 <= len(axis.ticks) <= 7
    assert axis.low == pytest.approx(axis.ticks[0])
    assert axis.high == pytest.approx(axis.ticks[-1])
    for value in values:
        assert axis.low - 1e-9 <= value <= axis.high + 1e-9
        assert 0 <= axis.place(value) <= 1
    assert axis.low >= 0
    assert axis.high <= 1 + 1e-9


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_a_symmetric_axis_has_zero_in_its_middle(values):
    axis = make_symmetric_axis(values)
    assert axis.place(0.0) == pytest.approx(0.5)
    assert all(axis.low - 1e-9 <= value <= axis.high + 1e-9 for value in values)


@given(shares, st.integers(2, N_STEPS))
def test_bins_hold_all_values_in_the_scales_steps(values, limit):
    bins = make_bins(values, limit=limit)
    assert 1 <= bins.count <= limit
    steps = [bins.step(position) for position in range(bins.count)]
    assert steps == sorted(steps, reverse=True)
    assert all(0 <= step < N_STEPS for step in steps)
    for value in values:
        position = bins.find(value)
        assert bins.edges[position] - 1e-9 <= value <= bins.edges[position + 1] + 1e-9


def test_equal_values_and_none_at_all_still_make_an_axis():
    for values in ([0.5], [1.0, 1.0], [0.0], [], [math.nan]):
        axis = make_axis(values)
        assert axis.high > axis.low


def test_an_edge_belongs_to_the_bin_above_it():
    bins = make_bins([0.5, 0.9], limit=5)
    assert bins.edges == (0.5, 0.6, 0.7, 0.8, 0.9)
    assert [bins.find(value) for value in (0.5, 0.599, 0.6, 0.9)] == [0, 0, 1, 3]
