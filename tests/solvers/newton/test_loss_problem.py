"""Minima of losses over pairs against the definition: each pair formed, derivatives by differences."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse as sp
from sklearn.exceptions import ConvergenceWarning

from mbauc.errors import MbaucWarning, SingularWarning
from mbauc.losses import LOSSES, PairObjective, PairWeights, Region, get_loss
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.solvers.newton.descent import NewtonDescent
from mbauc.solvers.newton.problem import LossProblem
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.problem import Problem
from strategies import tables

FORMS = {"dense": np.asarray, "csr": sp.csr_array}


def operator_of(X, y, weight=None, form="dense", threads=1, groups=None):
    y = np.asarray(y, dtype=bool)
    return build_matrix_operator(
        FORMS[form](X), [np.flatnonzero(y), np.flatnonzero(~y)], weight, threads, groups
    )


def problem_of(X, y, loss, weight=None, form="dense", scale=False, region=None, groups=None, factors=None):
    pairs = operator_of(X, y, weight, form, groups=groups)
    objective = PairObjective(get_loss(loss), PairWeights.build(*pairs.row_labels()), region or Region())
    return LossProblem(pairs, objective, np.ones(X.shape[1]) if factors is None else factors, scale=scale)


def value_by_pairs(loss, X, y, weight, w):
    """The mean loss over all pairs, each formed."""
    weight = np.ones(len(y)) if weight is None else weight
    total = count = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            total += weight[i] * weight[j] * float(loss.of_margins(np.array((X[i] - X[j]) @ w)))
            count += weight[i] * weight[j]
    return total / count


def gradient_by_pairs(loss, X, y, weight, w):
    weight = np.ones(len(y)) if weight is None else weight
    total, count = np.zeros_like(w), 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            share = weight[i] * weight[j]
            total += share * float(loss.slopes(np.array((X[i] - X[j]) @ w))) * (X[i] - X[j])
            count += share
    return total / count


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("form", FORMS)
@given(
    table=tables(),
    l1=st.sampled_from([0.0, 0.01, 0.2]),
    l2=st.sampled_from([0.01, 0.3, 3.0]),
    uneven=st.booleans(),
)
def test_the_solution_is_stationary_by_the_definition(name, form, table, l1, l2, uneven):
    X, y, weight = table
    X = X / max(np.abs(X).max(), 1e-3)
    factors = np.linspace(0.5, 2.0, X.shape[1]) if uneven else np.ones(X.shape[1])
    problem = problem_of(X, y, name, weight, form, factors=factors)
    solution = problem.solve(l1, l2, tol=1e-12, max_iter=2000)
    loss, penalty = get_loss(name), Penalty(l1, l2, factors)
    value = value_by_pairs(loss, X, y, weight, solution.coef) + penalty.value(solution.coef)
    assert solution.objective == pytest.approx(value, rel=1e-9)
    gradient = gradient_by_pairs(loss, X, y, weight, solution.coef)
    # within what the excess that remains allows: F is at least l2 f curved
    assert penalty.distance_to_stationarity(gradient, solution.coef) <= 3e-5
    assert solution.excess_bound <= 1e-8


@given(table=tables(), l1=st.sampled_from([0.0, 0.05]), l2=st.sampled_from([0.01, 1.0]), scale=st.booleans())
def test_the_squared_loss_has_the_solution_of_its_problem(table, l1, l2, scale):
    X, y, weight = table
    expected = Problem(operator_of(X, y, weight), np.ones(X.shape[1]), scale=scale)
    found = problem_of(X, y, "squared", weight, scale=scale)
    ours = found.solve(l1, l2, tol=1e-12, max_iter=2000)
    theirs = expected.solve(l1, l2, tol=1e-12, max_iter=2000)
    size = 1e-5 * max(1.0, np.abs(theirs.coef).max(initial=0.0))
    np.testing.assert_allclose(ours.coef, theirs.coef, atol=size)
    assert ours.objective == pytest.approx(theirs.objective + 0.5, abs=1e-8)
    np.testing.assert_array_equal(found.scales, expected.scales)
    assert found.largest_l1 == pytest.approx(expected.largest_l1, abs=1e-9)


@given(table=tables(), name=st.sampled_from(sorted(LOSSES)))
def test_from_the_largest_l1_on_all_weights_are_zero(table, name):
    X, y, weight = table
    problem = problem_of(X, y, name, weight, scale=True)
    assume(problem.largest_l1 > 1e-6)
    above = problem.solve(1.001 * problem.largest_l1, 0.1, tol=1e-10, max_iter=500)
    np.testing.assert_array_equal(above.coef, 0.0)
    below = problem.solve(0.9 * problem.largest_l1, 0.1, tol=1e-10, max_iter=500)
    assert below.coef.any()


def test_constant_columns_have_no_weight(rng):
    X = rng.standard_normal((60, 3))
    X[:, 1] = 1e6
    problem = problem_of(X, rng.random(60) < 0.4, "logistic")
    with pytest.warns(SingularWarning, match="2 at most are of use"):
        solution = problem.solve(0.0, 0.0, tol=1e-8, max_iter=200)
    assert solution.coef[1] == 0.0
    assert solution.coef[[0, 2]].all()


def test_a_region_in_which_hardly_anything_is_learned_is_said(rng):
    y = rng.random(2000) < 0.5
    X = rng.standard_normal((2000, 2)) + 0.7 * y[:, None]
    hard, larger = (problem_of(X, y, "squared_hinge", region=Region(max_fpr=end)) for end in (0.01, 0.7))
    near_zero, apart = (one.solve(0.0, 1e-3, tol=1e-4, max_iter=300) for one in (hard, larger))
    with pytest.warns(MbaucWarning, match="weights near zero minimise the loss.*Raise max_fpr"):
        hard.warn_if_hardly_learned(near_zero)
    larger.warn_if_hardly_learned(apart)
    assert np.abs(near_zero.coef).max() < 0.25 * np.abs(apart.coef).max()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_weights_for_a_hard_region_are_no_worse_than_zero(loss, l2):
    """With a hinge the descent ends above the loss of zero weights, at a kink, by more than the tolerance."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    y = X[:, 0] + rng.standard_normal(2000) > 1
    problem = problem_of(X, y, loss, region=Region(max_fpr=0.05))
    zero = float(get_loss(loss).of_margins(np.zeros(1))[0])
    found = problem.solve(0.0, l2, tol=1e-4, max_iter=1000)
    assert 2.0 * (found.objective - zero) <= 1e-4
    assert found.coef.any()  # as good as zero, and they rank
    finest = problem.solve(0.0, l2, tol=1e-9, max_iter=5000)
    assert 2.0 * (found.objective - finest.objective) <= found.excess_risk
    with pytest.warns(MbaucWarning, match=f"is {zero:.4f}, not below that for weights of zero"):
        problem.warn_if_hardly_learned(found)


def test_a_start_where_hardly_a_pair_is_curved_is_left_with_l1():
    """Of huge weights the hinge is a line for nearly all pairs; a quadratic has no end there."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 100))
    problem = problem_of(X, 0.2 * X[:, 0] + rng.standard_normal(400) > 0, "hinge")
    best = problem.solve(0.01, 0.0, tol=1e-6, max_iter=1000)
    for _ in range(3):
        found = problem.solve(0.01, 0.0, tol=1e-4, max_iter=1000, start=50 * rng.standard_normal(100))
        assert found.objective == pytest.approx(best.objective, abs=1e-4)
        assert found.excess_risk < 1e-4


def test_a_descent_that_is_stuck_far_away_says_so(monkeypatch, rng):
    monkeypatch.setattr(NewtonDescent, "_search", lambda self, goal: None)
    X = rng.standard_normal((80, 3))
    problem = problem_of(X, X[:, 0] > 0, "logistic")
    with pytest.warns(
        ConvergenceWarning, match="no step decreases the loss further.*estimated excess risk.*Raise l2"
    ):
        found = problem.solve(0.0, 0.01, tol=1e-4, max_iter=100)
    assert found.excess_risk > 1e-4
    part = problem_of(X, X[:, 0] > 0, "logistic", region=Region(max_fpr=0.5))
    with pytest.warns(ConvergenceWarning, match="at tied scores no step decreases the loss.*Raise max_fpr"):
        part.solve(0.0, 0.01, tol=1e-4, max_iter=100)


@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_a_start_on_the_straight_part_of_a_hinge_is_left(l2):
    """Weak signals: all margins of the squared solution are where the loss has no curvature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    y = 0.2 * X[:, 0] + rng.normal(size=400) > 0
    problem = problem_of(X, y, "hinge")
    found = problem.solve(0.0, l2, tol=1e-8, max_iter=500)
    away = problem.solve(0.0, l2, tol=1e-8, max_iter=500, start=5.0 * found.coef)
    assert found.objective == pytest.approx(away.objective, abs=1e-6)
    assert found.objective < 0.9 * value_by_pairs(get_loss("hinge"), X[:60], y[:60], None, np.zeros(20))
