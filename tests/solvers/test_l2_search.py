"""The search for l2 by quadrature."""

import numpy as np

from mbauc.solvers.matrix_free.l2_search import Criterion
from mbauc.solvers.operator import MatrixOperator


def test_first_products_are_from_the_mean_whatever_is_rounded():
    """Before any product from μ all l2 are alike, so nothing but its products can tell them apart."""
    steps = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, 40)) * rng.uniform(0.1, 3.0, 40)
        mu = X[:100].mean(axis=0) - X[100:].mean(axis=0)
        sigma = np.cov(X[:100].T) + np.cov(X[100:].T) + np.outer(mu, mu)
        search = Criterion(MatrixOperator(sigma, mu), np.ones(40), (100.0, 200.0), 40).quadrature()
        while search.look_at_degrees():
            pass
        looked = search._traces[0].steps
        for _ in range(3):
            search.step()
        steps.add((search._mean.steps, search._traces[0].steps - looked))
    assert steps == {(3, 0)}
