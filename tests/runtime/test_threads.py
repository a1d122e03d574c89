"""Who factorises on one thread of BLAS."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mbauc.estimators.standard_errors import from_moments
from mbauc.runtime.threads import blas_for_matrix
from mbauc.solvers.gram import elastic_net, ridge
from mbauc.solvers.gram.solver import GramSolver


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture
def spy(monkeypatch):
    """Threads of BLAS at each Cholesky factorisation."""
    seen = []

    def watched(factorise):
        def call(*args, **kwargs):
            seen.append(blas_threads())
            return factorise(*args, **kwargs)

        return call

    for module, name in (
        (ridge, "cho_factor"),
        (elastic_net, "cho_factor"),
        (elastic_net, "cholesky"),
        (from_moments, "cho_factor"),
    ):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    with threadpool_limits(2, user_api="blas"):
        yield seen


@pytest.mark.parametrize(("columns", "threads"), [(1, 1), (512, 1), (513, 2)])
def test_small_matrices_take_one_thread(columns, threads):
    with threadpool_limits(2, user_api="blas"):
        with blas_for_matrix(columns):
            assert blas_threads() == threads
        assert blas_threads() == 2


@pytest.mark.parametrize(("columns", "threads"), [(40, 1), (520, 2)])
def test_every_solver_of_small_matrices_follows(columns, threads, spy):
    solver = GramSolver(np.eye(columns), np.linspace(0.1, 1.0, columns), np.ones(columns))
    tasks = {
        "ridge": lambda: solver.solve(0.0, 0.1, tol=1e-6, max_iter=100),
        "elastic net": lambda: solver.solve(0.1, 0.1, tol=1e-6, max_iter=100),
        "automatic l2": lambda: solver.solve_auto(0.1, (100.0, 100.0), tol=1e-6, max_iter=100),
        "grid": lambda: solver.grid([0.1], [0.1], tol=1e-6, max_iter=100),
        "standard errors": lambda: from_moments.inverse(np.eye(columns)),
    }
    for name, task in tasks.items():
        spy.clear()
        task()
        assert set(spy) == {threads}, name
    assert blas_threads() == 2
