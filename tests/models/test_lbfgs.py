from __future__ import annotations

import numpy as np

from graticule.models.lbfgs import Value, minimise


def _drive(search, function, gradient):
    point = next(search)
    n_values = 0
    while True:
        n_values += 1
        try:
            point = search.send(Value(value=float(function(point)), gradient=gradient(point)))
        except StopIteration as end:
            return end.value, n_values


def test_a_quadratic_with_its_own_diagonal_is_solved_in_two_steps():
    scales = np.geomspace(1e-3, 1e3, 20)
    search = minimise(np.ones(20), 1 / scales, tolerance=1e-12)
    found, _ = _drive(search, lambda x: (scales * (x - 3) ** 2).sum() / 2, lambda x: scales * (x - 3))
    assert found.is_converged
    assert found.n_iterations <= 2
    np.testing.assert_allclose(found.point, 3, rtol=1e-6)


def test_a_bad_start_for_the_diagonal_costs_steps_and_not_the_answer():
    scales = np.geomspace(1, 1e4, 20)
    search = minimise(np.ones(20), np.full(20, 1e-2), tolerance=1e-9)
    found, _ = _drive(search, lambda x: 1 + (scales * (x - 3) ** 2).sum() / 2, lambda x: scales * (x - 3))
    assert found.is_converged
    assert found.n_iterations > 2
    np.testing.assert_allclose(found.point, 3, rtol=1e-4)


def test_steps_that_go_too_far_are_cut_back():
    search = minimise(np.array([4.0]), np.array([100.0]), tolerance=1e-12)
    found, _ = _drive(search, lambda x: np.logaddexp(x, -x).sum(), np.tanh)
    assert found.is_converged
    assert abs(found.point[0]) < 1e-5


def test_it_stops_at_once_at_the_minimum_and_gives_up_when_told():
    found, n_values = _drive(minimise(np.zeros(3), np.ones(3)), lambda x: 1 + x @ x, lambda x: 2 * x)
    assert (found.n_iterations, found.is_converged, n_values) == (0, True, 1)
    search = minimise(np.array([50.0, 3.0, -7.0]), np.ones(3) * 1e-3, tolerance=1e-12, max_iterations=2)
    found, _ = _drive(search, lambda x: (x**4).sum(), lambda x: 4 * x**3)
    assert (found.n_iterations, found.is_converged) == (2, False)
