"""Pairs within groups as products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mbauc.errors import NoPairsError
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.operator.build import open_operator
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.rows.block import Block
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.solvers.problem import Problem
from strategies import close, grouped_tables

FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix}


def operator(block, **settings):
    with open_operator(rows_in_memory(block), 1, 10**9, **settings) as (pairs, _):
        return pairs


@given(grouped_tables(), st.booleans(), st.sampled_from(list(FORMS)), st.data())
def test_products_are_those_of_the_moments(table, equal, form, data):
    X, y, weight, groups = table
    block = Block(FORMS[form](X), y, weight, groups=groups)
    moments = grouped_moments(block, equal_groups=equal).moments
    pairs = operator(block, equal_groups=equal)
    assert isinstance(pairs, GroupedPairOperator)
    close(pairs.mu, moments.mean_difference[pairs.columns], X, 1)
    v = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=X.shape[1], max_size=X.shape[1])), dtype=float)
    v[np.setdiff1d(np.arange(v.size), pairs.columns)] = 0.0
    close(pairs.product(v[pairs.columns]), (moments.second_moment @ v)[pairs.columns], X, 2)
    close(pairs.diagonal, np.diagonal(moments.second_moment)[pairs.columns], X, 2)
    np.testing.assert_allclose(pairs.effective_sizes, moments.effective_sizes, rtol=1e-9)
    np.testing.assert_allclose(pairs.weights, moments.weights)
    close(pairs.summarise_scores(v), moments.summarise_scores(v), X, 2)


def table(n=600, d=12, n_groups=40):
    rng = np.random.default_rng(5)
    groups = rng.integers(0, n_groups, n).astype(np.uint64)
    X = (
        rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
        + 0.3 * rng.standard_normal((n_groups, d))[groups]
    )
    y = rng.random(n) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1] + rng.standard_normal(n_groups)[groups]))
    return X, y, rng.random(n) + 0.2, groups


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.1), (0.02, 0.05), (0.05, 0.0)])
def test_the_solution_is_that_of_the_moments(form, equal, l1, l2):
    X, y, weight, groups = table()
    block = Block(FORMS[form](X), y, weight, groups=groups)
    moments = grouped_moments(block, equal_groups=equal).moments
    pairs = operator(block, equal_groups=equal)
    found, expected = (
        Problem(each, np.ones(X.shape[1]), scale=True).solve(l1, l2, tol=1e-12, max_iter=5000)
        for each in (pairs, moments)
    )
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0.0, 3.0])
@pytest.mark.parametrize("equal", [False, True])
def test_the_automatic_penalty_is_that_of_the_moments(form, offset, equal):
    X, y, weight, groups = table(n=3000, n_groups=100)
    X += offset * np.random.default_rng(6).standard_normal((100, X.shape[1]))[groups]
    block = Block(FORMS[form](X), y, weight, groups=groups)
    found, expected = (
        Problem(each, np.ones(X.shape[1]), scale=False).solve(0.0, "auto", tol=1e-10, max_iter=5000)
        for each in (operator(block, equal_groups=equal), grouped_moments(block, equal_groups=equal).moments)
    )
    # eight values to the decade are tried; next to the best one they hardly differ
    assert abs(np.log10(found.l2 / expected.l2)) < 1 / 7


@pytest.mark.parametrize("form", FORMS)
def test_sums_by_group_are_made_some_groups_at_a_time(form, monkeypatch):
    X, y, weight, groups = table()
    block = Block(FORMS[form](X), y, weight, groups=groups)
    whole = operator(block).diagonal
    kind = type(operator(block).rows)
    monkeypatch.setattr(kind, "bucket_bytes", 16 * X.shape[1] * 7)
    np.testing.assert_allclose(operator(block).diagonal, whole, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_more_groups_than_there_is_room_for_share_their_sums(form, monkeypatch):
    X, y, weight, groups = table(n=6000, d=100, n_groups=1000)
    block = Block(FORMS[form](X), y, weight, groups=groups)
    exact = operator(block)
    monkeypatch.setattr(type(exact.rows), "bucket_bytes", 16 * X.shape[1] * 100)
    monkeypatch.setattr(type(exact.rows), "bucket_sweeps", 2)
    about = operator(block).diagonal
    assert np.abs(about / exact.diagonal - 1).max() < 0.15
    assert abs(about.mean() / exact.diagonal.mean() - 1) < 0.02
    assert np.abs(about - exact.diagonal).max() > 0.0


def test_a_column_of_each_group_says_nothing():
    X, y, weight, groups = table()
    X[:, 3] = np.random.default_rng(1).standard_normal(40)[groups]
    pairs = operator(Block(X, y, weight, groups=groups))
    assert pairs.diagonal[3] == 0.0
    assert pairs.mu[3] == 0.0


def test_frequencies_are_equal_rows():
    X, y, _, groups = table(n=200)
    k = np.arange(200) % 3 + 1
    rows = np.repeat(np.arange(200), k)
    found = operator(Block(X, y, k.astype(float), groups=groups)).as_frequencies()
    expected = operator(Block(X[rows], y[rows], groups=groups[rows]))
    np.testing.assert_allclose(found.effective_sizes, expected.effective_sizes)
    np.testing.assert_allclose(found.mu, expected.mu, atol=1e-12)


def test_rows_that_show_no_group_are_all_pairs():
    X, y, weight, groups = table(n=100)
    assert not isinstance(operator(Block(X, y, weight)), GroupedPairOperator)
    one = operator(Block(X, y, weight, groups=groups * np.uint64(0)))
    np.testing.assert_allclose(one.mu, operator(Block(X, y, weight)).mu, atol=1e-12)


def test_no_group_with_both_classes():
    X, y, _, _ = table(n=100)
    with pytest.raises(NoPairsError, match="no group has rows of both classes"):
        operator(Block(X, y, groups=y.astype(np.uint64)))
