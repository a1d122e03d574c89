"""The same solution wherever the rows are, and from wherever a fit is resumed."""

import numpy as np
import pytest
from scipy import sparse as sp

from local_parts import cut, rows_of
from mbauc.losses import PairObjective, PairWeights, Region, get_loss
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.readers import RawBlock
from mbauc.solvers.newton.descent import NEWTON_STATE
from mbauc.solvers.newton.problem import LossProblem


class Rows(list):
    """A list of blocks as a source."""

    classes = (0, 1)
    n_features = 40


@pytest.fixture
def table(rng):
    X = sp.random_array((600, 40), density=0.2, rng=rng, format="csr")
    X.data = rng.choice([1.0, 1.0, 0.5, -2.0], X.nnz)
    y = X @ rng.standard_normal(40) + 0.5 * rng.standard_normal(600) > 0.4
    return X, y, rng.uniform(0.5, 2.0, 600)


def in_memory(X, y, weight):
    return build_matrix_operator(X, [np.flatnonzero(y), np.flatnonzero(~y)], weight, 2)


def as_source(X, y, weight, memory):
    blocks = [RawBlock(X[part], y[part].astype(int), weight[part]) for part in (slice(0, 250), slice(250, 600))]
    return build_source_operator(Rows(blocks), n_threads=2, memory=memory)


def problem_of(pairs, loss="squared_hinge", region=None, scale=True):
    objective = PairObjective(get_loss(loss), PairWeights.build(*pairs.row_labels()), region or Region())
    return LossProblem(pairs, objective, np.ones(pairs.n_features), scale=scale)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.05), (0.02, 0.05), (0.02, 0.0)])
@pytest.mark.parametrize("region", [Region(), Region(max_fpr=0.6)])
def test_memory_file_and_parts_have_one_solution(table, l1, l2, region):
    X, y, weight = table
    settings = {"tol": 1e-13, "max_iter": 3000}
    expected = problem_of(in_memory(*table), region=region).solve(l1, l2, **settings)
    parts = cut([100, 100, 420], X, y.astype(int), weight, blocks=2)
    packed = PackedRows(rows_of(parts, X, weighted=True))
    dense = build_matrix_operator(X.toarray(), [np.flatnonzero(y), np.flatnonzero(~y)], weight, 2)
    for pairs in (as_source(*table, 1 << 30), as_source(*table, 1), packed.operator(), dense):
        found = problem_of(pairs, region=region).solve(l1, l2, **settings)
        assert found.objective == pytest.approx(expected.objective, rel=1e-10)
        # a risk to 1e-13 leaves the weights uncertain by about its root
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-6)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.01), (0.02, 0.01), (0.0, "auto"), (0.02, "auto")])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_descent_resumes_to_the_same_bits(table, l1, l2, loss):
    problem = problem_of(in_memory(*table), loss)
    states = []

    def watch(state, sweeps, excess, auc):
        assert 0.5 < auc < 1.0
        states.append({name: np.array(value) for name, value in state.items()} | {"seen": (sweeps, excess)})

    whole = problem.solve(l1, l2, tol=1e-9, max_iter=1000, watch=watch)
    assert len(states) >= 3
    for state in states:
        seen = state.pop("seen")
        NEWTON_STATE.check_values(state)
        NEWTON_STATE.check_declared({name: (value.dtype.str, value.shape) for name, value in state.items()})
        again = problem.solve(l1, l2, tol=1e-9, max_iter=1000, resume=state)
        np.testing.assert_array_equal(again.coef, whole.coef)
        assert seen[0] <= again.iterations
        for name in ("objective", "excess_bound", "excess_risk", "l2", "iterations"):
            assert getattr(again, name) == getattr(whole, name)


@pytest.mark.filterwarnings("ignore:no convergence after:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_a_resumed_descent_ends_after_as_many_sweeps(table, l1):
    problem, states = problem_of(in_memory(*table), "logistic"), []
    whole = problem.solve(
        l1,
        1e-3,
        tol=1e-13,
        max_iter=9,
        watch=lambda state, *_: states.append({**state, "coef": state["coef"].copy()}),
    )
    for state in states:
        again = problem.solve(l1, 1e-3, tol=1e-13, max_iter=9, resume=state)
        np.testing.assert_array_equal(again.coef, whole.coef)
        assert again.iterations == whole.iterations


def test_a_grid_has_the_solutions_of_each_penalty(table):
    problem = problem_of(in_memory(*table))
    l1, l2 = [0.05, 0.0, 0.01], [0.001, 1.0, 0.1, 0.01]
    weights = problem.grid(l1, l2, tol=1e-11, max_iter=3000)
    for i, first in enumerate(l1):
        for j, second in enumerate(l2):
            alone = problem.solve(first, second, tol=1e-11, max_iter=3000)
            np.testing.assert_allclose(weights[i, j], alone.coef, atol=1e-4)


def test_a_start_at_the_solution_is_kept(table):
    problem = problem_of(in_memory(*table))
    first = problem.solve(0.0, 0.1, tol=1e-10, max_iter=1000)
    again = problem.solve(0.0, 0.1, tol=1e-6, max_iter=1000, start=first.coef)
    assert again.objective <= first.objective
    assert again.iterations < 8


def test_too_few_sweeps_are_warned_of_with_what_is_left(table):
    from sklearn.exceptions import ConvergenceWarning

    problem = problem_of(in_memory(*table))
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        solution = problem.solve(0.0, 1e-4, tol=1e-10, max_iter=4, start=np.zeros(40))
    best = problem.solve(0.0, 1e-4, tol=1e-12, max_iter=1000)
    assert 2 * (solution.objective - best.objective) <= solution.excess_bound
