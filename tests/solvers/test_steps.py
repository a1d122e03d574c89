"""Solvers that share their products with others find what they find alone."""

import numpy as np

from mbauc.solvers import MatrixOperator
from mbauc.solvers.matrix_free.elastic_net import walk_elastic_net_grid
from mbauc.solvers.matrix_free.ridge import walk_ridge_path
from mbauc.solvers.steps import run_steps, run_together


def problems(count=4, n=80, d=20):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((n, d)) * np.logspace(0, -1 - seed, d)
        yield MatrixOperator(rows.T @ rows / n, rows.mean(axis=0) + 0.1 * rows[0])


def walk(pairs, found):
    factors = np.ones(pairs.mu.size)
    settings = {"tol": 1e-8, "max_iter": 200}

    def take(solution):
        found.append(solution.coef)
        return solution.l2 > 0.02

    yield from walk_ridge_path(pairs, [1.0, 0.1, 0.01, 0.001], factors, take, **settings)
    net = yield from walk_elastic_net_grid(pairs, [1e-3, 1e-2], [0.1, 0.01], factors, **settings)
    return [coef for _, _, coef in net]


def test_several_solvers_find_together_what_each_finds_alone():
    several = list(problems())
    alone_paths, paths = [[] for _ in several], [[] for _ in several]
    alone = [run_steps(walk(one, path), one.product) for one, path in zip(several, alone_paths, strict=True)]
    shared = []

    def products(numbers, vectors):
        shared.append(len(numbers))
        return [several[number].product(v) for number, v in zip(numbers, vectors, strict=True)]

    together = run_together([walk(one, path) for one, path in zip(several, paths, strict=True)], products)
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(paths, alone_paths)
    assert [len(path) for path in paths] == [3] * len(several)  # the fourth is not asked for
    assert shared[0] == len(several) > shared[-1]
    assert sorted(shared, reverse=True) == shared


def test_a_solver_without_products_is_done_at_once():
    def nothing():
        return 5
        yield

    assert run_together([nothing(), nothing()], lambda numbers, vectors: 1 / 0) == [5, 5]
    assert run_together([], lambda numbers, vectors: 1 / 0) == []
