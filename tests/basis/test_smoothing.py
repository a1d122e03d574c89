"""Smooth coordinates and their changes of variables, against dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from curve_reference import dense_reduction, encode, roughness
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.reduction import Reduction
from mbauc.basis.smoothing import coarse_functions, smooth_features, smooth_functions, with_pairs
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.reduced import ReducedPairOperator

FEW = settings(max_examples=25)
totals = hnp.arrays(
    np.float64, st.integers(2, 12), elements=st.one_of(st.just(0.0), st.floats(0.125, 50, width=32))
)


@FEW
@given(totals, st.integers(1, 8))
def test_functions_have_mean_0_variance_1_and_the_roughness_of_the_definition(weight, most):
    functions, rough = smooth_functions(weight, most)
    own, missing = weight[:-1], weight[-1] > 0
    n_smooth = min(most, max(np.count_nonzero(own) - 1, 0))
    assert functions.shape == (weight.size, n_smooth + missing)
    smooth = functions[:, :n_smooth]
    if n_smooth:
        share = own / own.sum()
        np.testing.assert_allclose(share @ smooth[:-1], 0.0, atol=1e-9)
        np.testing.assert_allclose(smooth[:-1].T * share @ smooth[:-1], np.eye(n_smooth), atol=1e-9)
        expected = [roughness(f[:-1], own) for f in smooth.T]
        np.testing.assert_allclose(rough[:n_smooth], expected, rtol=1e-6)
        assert (np.diff(rough[:n_smooth]) > 0).all()
        assert not smooth[-1].any()
        assert not smooth[:-1][own == 0].any()
    if missing:
        assert functions[:, -1].tolist() == [0.0] * own.size + [1.0]
        assert rough[-1] == 1.0


@FEW
@given(totals, st.integers(1, 6))
def test_fewer_functions_are_the_first_of_more(weight, most):
    weight[-1] = 0.0
    more, fewer = smooth_functions(weight, most + 2), smooth_functions(weight, most)
    k = fewer[1].size
    np.testing.assert_allclose(more[1][:k], fewer[1], rtol=1e-8)
    np.testing.assert_allclose(more[0][:, :k], fewer[0], atol=1e-6)


def test_equal_bins_have_about_the_roughness_of_half_waves():
    _, rough = smooth_functions(np.append(np.ones(200), 0.0), 4)
    np.testing.assert_allclose(rough, [1, 4, 9, 16], rtol=2e-3)


@st.composite
def reductions(draw):
    blocks = []
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            blocks.append(draw(st.integers(1, 3)))
        else:
            shape = draw(st.tuples(st.integers(1, 4), st.integers(0, 3)))
            blocks.append(draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3, width=32))))
    return Reduction(tuple(blocks))


@FEW
@given(reductions(), st.integers(0, 2**32))
def test_reductions_are_products_with_their_dense_matrix(reduction, seed):
    T, rng = dense_reduction(reduction), np.random.default_rng(seed)
    assert T.shape == (reduction.n_features, reduction.n_coordinates)
    u, g, A = rng.normal(size=(2, T.shape[1])), rng.normal(size=(2, T.shape[0])), rng.normal(size=(len(T),) * 2)
    sigma = A + A.T
    near = {"rtol": 1e-12, "atol": 1e-11}
    np.testing.assert_allclose(reduction.expand(u), u @ T.T, **near)
    np.testing.assert_allclose(reduction.expand(u[0]), T @ u[0], **near)
    np.testing.assert_allclose(reduction.reduce(g), g @ T, **near)
    np.testing.assert_allclose(reduction.reduce_squares(g), g @ T**2, **near)
    sandwich = reduction.sandwich(sigma)
    np.testing.assert_allclose(sandwich, T.T @ sigma @ T, **near)
    np.testing.assert_array_equal(sandwich, sandwich.T)


def make_rows(seed, n=40):
    """Numbers, a category and an interaction: features, rows of codes and the weight of each indicator."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), rng.normal(size=n).round(1)])
    X[rng.random((n, 3)) < 0.1] = np.nan
    kinds = [ColumnKind("a"), ColumnKind("b", categorical=True), ColumnKind("c")]
    features = design_features(X, None, kinds, DesignSettings(bins=6, min_rows=2, coarse_bins=3))
    features = with_pairs(features, [(0, 1), (0, 2)])
    codes = features.codes(X)
    totals = [np.bincount(codes[:, j], minlength=features.columns[j].width) * 1.0 for j in range(3)]
    return features, X, totals


@pytest.mark.parametrize("seed", range(3))
def test_coordinates_of_rows_are_their_features_times_t(seed):
    features, X, totals = make_rows(seed)
    basis = smooth_features(features, totals, functions=3, coarse=2)
    Z = basis.rows(features, features.codes(X), features.number_values(X))
    np.testing.assert_allclose(Z, encode(features, X) @ dense_reduction(basis.reduction), atol=1e-12)
    terms = list(features.terms())
    assert basis.roughness.shape == basis.group.shape == (Z.shape[1],)
    assert [terms[k].kind == "cells" for k in basis.group] == basis.is_interaction.tolist()
    numbers = [k for k, one in enumerate(basis.group) if terms[one].kind in ("number", "levels")]
    assert (basis.roughness[numbers] == 1.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_coarse_functions_have_mean_0_over_the_rows(seed):
    features, _, totals = make_rows(seed)
    for j in range(3):
        functions, rough = coarse_functions(features, j, totals[j], 2)
        share = np.bincount(features.coarse[j], totals[j]) / totals[j].sum()
        np.testing.assert_allclose(share @ functions, 0.0, atol=1e-12)
        assert functions.shape == (features.coarse_widths[j], rough.size)


def test_coarse_groups_without_rows_have_no_height():
    """More levels than functions: what is left of the others is no height for values that no row has."""
    X = np.repeat(np.arange(8.0), 10)[:, None]
    features = design_features(X, None, [ColumnKind("a", categorical=True)], DesignSettings())
    totals = np.bincount(features.codes(X)[:, 0], minlength=10) * 1.0
    functions, _ = coarse_functions(features, 0, totals, 5)
    assert functions.shape == (10, 5)
    assert not functions[8:].any()
    assert functions[:8].any(axis=1).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_and_operators_of_coordinates_are_those_of_the_transformed_rows(weighted):
    features, X, totals = make_rows(5)
    rng = np.random.default_rng(1)
    y, weight = rng.random(len(X)) < 0.4, rng.uniform(0.5, 2.0, len(X)) if weighted else None
    reduction = smooth_features(features, totals, functions=3, coarse=2).reduction
    rows = features.encode(X)
    expected = PairMoments.from_arrays(rows @ dense_reduction(reduction), y, sample_weight=weight)
    found = PairMoments.from_arrays(rows, y, sample_weight=weight).reduced(reduction)
    operator = build_matrix_operator(rows, [np.flatnonzero(y), np.flatnonzero(~y)], weight, 1)
    reduced = ReducedPairOperator(operator, reduction)
    near = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(found.mean_difference, expected.mean_difference, **near)
    np.testing.assert_allclose(found.difference_covariance, expected.difference_covariance, **near)
    assert found.effective_sizes == pytest.approx(expected.effective_sizes)
    np.testing.assert_allclose(reduced.mu, expected.mu, **near)
    np.testing.assert_allclose(reduced.diagonal, expected.diagonal, **near)
    v = rng.normal(size=reduction.n_coordinates)
    np.testing.assert_allclose(reduced.product(v), expected.product(v), **near)


def test_columns_that_never_vary_have_one_coordinate_of_zeros():
    X = np.full((5, 2), 3.0)
    features = design_features(X, None, [ColumnKind("a"), ColumnKind("b")], DesignSettings())
    basis = smooth_features(features, [np.array([5.0, 0.0])] * 2, functions=3)
    assert not basis.rows(features, features.codes(X), features.number_values(X)).any()
    assert basis.roughness.tolist() == [1.0]
