"""Standard errors of heights: one unit for all losses and for all ways to the weights."""

import numpy as np
import pytest
from additive_rows import make_rows

from mbauc import AdditiveAUCClassifier
from mbauc.estimators.additive import fit as fitting


def fit(X, y, features="curves", loss="squared", **settings):
    return AdditiveAUCClassifier(features, loss, random_state=0, n_jobs=1, **settings).fit(X, y)


def in_log_odds(ranker):
    return ranker.slope_ * ranker.coef_error_


def test_errors_are_those_of_the_normal_weights_by_definition():
    """The posterior of weights given μ: covariance ν (C + νP)⁻¹ in log-odds, from dense matrices."""
    X, y = make_rows("curves", 300)
    ranker = fit(X, y)
    T = np.zeros((ranker.basis_.reduction.n_features, ranker.basis_.reduction.n_coordinates))
    blocks = zip(ranker.basis_.reduction.blocks, ranker.basis_.reduction.places(), strict=True)
    for block, (rows, columns) in blocks:
        T[rows, columns] = np.eye(block) if isinstance(block, int) else block
    Z = ranker.feature_map_.encode(X) @ T
    C = (np.cov(Z[y == 1].T, bias=True) + np.cov(Z[y == 0].T, bias=True)) / 2
    noise = 1 / y.sum() + 1 / (1 - y).sum()
    A = C + noise * np.diag(ranker.penalty_factors_)
    w = np.linalg.solve(A, Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
    ratio = np.median(ranker.coef_[0][np.abs(T @ w) > 1e-3] / (T @ w)[np.abs(T @ w) > 1e-3])
    expected = ratio * np.sqrt(np.einsum("ij,jk,ik->i", T, noise * np.linalg.inv(A), T))
    np.testing.assert_allclose(ranker.coef_error_, expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("search_rows", [50_000, 300])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_errors_of_other_losses_are_in_log_odds_those_of_the_squared_one(loss, search_rows):
    X, y = make_rows("curves", 600)
    squared, other = (fit(X, y, loss=one, search_rows=search_rows) for one in ("squared", loss))
    assert squared.coef_error_.max() > 0
    expected = in_log_odds(squared)
    # the covariance of the rows of the search stands for that of all rows
    near = {"rtol": 1e-3} if search_rows > 600 else {"rtol": 0.25, "atol": 0.02}
    np.testing.assert_allclose(in_log_odds(other), expected, **near)


@pytest.mark.parametrize("search_rows", [50_000, 300])
def test_products_with_the_rows_give_the_weights_and_errors_of_moments(monkeypatch, search_rows):
    X, y = make_rows("curves", 600)
    formed = fit(X, y, search_rows=search_rows)
    monkeypatch.setattr(fitting, "_MOST_FORMED", 0)
    products = fit(X, y, search_rows=search_rows)
    np.testing.assert_allclose(products.coef_, formed.coef_, atol=0.02 * np.abs(formed.coef_).max())
    near = {"rtol": 1e-3} if search_rows > 600 else {"rtol": 0.25, "atol": 0.02}
    np.testing.assert_allclose(in_log_odds(products), in_log_odds(formed), **near)
