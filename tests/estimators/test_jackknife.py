"""Standard errors from rows against fits without each of them, and against the spread over data sets."""

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.errors import FewRowsWarning


@pytest.fixture
def small(rng):
    y = (np.arange(60) % 3 == 0).astype(int)
    return np.exp(0.7 * rng.standard_normal((60, 3))) + y[:, None] * [0.8, 0.0, -0.5], y


def explicit_pairs(X, y, weight, l2, scale=False, block=None):
    """Weights from every pair, one by one."""
    block = np.zeros(len(y)) if block is None else block
    pairs = [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0) if block[i] == block[j]]
    share = np.array([weight[i] * weight[j] for i, j in pairs])
    share /= share.sum()
    z = np.array([X[i] - X[j] for i, j in pairs])
    spread = np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    sigma = (z * share[:, None]).T @ z + l2 * np.diag(spread if scale else np.ones(X.shape[1]))
    return np.linalg.solve(sigma, share @ z)


def left_out(X, y, weight, l2, share=None, **how):
    """The jackknife by its definition: a fit without each row."""
    w = explicit_pairs(X, y, weight, l2, **how)
    total = np.zeros(X.shape[1])
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        how_rest = how | ({"block": how["block"][rest]} if "block" in how else {})
        change = explicit_pairs(X[rest], y[rest], weight[rest], l2, **how_rest) - w
        q = weight[i] / weight[y == y[i]].sum() if share is None else share[i]
        total += (1 - q) * change**2
    return np.sqrt(total)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_they_are_those_of_fits_without_each_row(small, l2):
    X, y = small
    found = MBAClassifier(l2=l2).fit(X, y).coef_standard_errors(X, y)
    assert found.shape == (1, 3)
    np.testing.assert_allclose(found[0], left_out(X, y, np.ones(60), l2), rtol=1e-9)


def test_weights_of_sampling(small, rng):
    X, y = small
    weight = rng.exponential(size=60) + 0.1
    fitted = MBAClassifier(l2=0.1).fit(X, y, weight)
    found = fitted.coef_standard_errors(X, y, weight)
    np.testing.assert_allclose(found[0], left_out(X, y, weight, 0.1), rtol=0.05)
    again = MBAClassifier(l2=0.1).fit(X, y, 7 * weight).coef_standard_errors(X, y, 7 * weight)
    np.testing.assert_allclose(again, found)


def test_frequencies_are_repeated_rows(small, rng):
    X, y = small
    times = rng.integers(0, 4, 60)
    counted = MBAClassifier(l2=0.1, weights="frequency").fit(X, y, times).coef_standard_errors(X, y, times)
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    np.testing.assert_allclose(counted, MBAClassifier(l2=0.1).fit(X, y).coef_standard_errors(X, y), rtol=1e-9)


def test_scales_are_estimated_too(small):
    X, y = small
    found = MBAClassifier(l2=1.0, scale=True).fit(X, y).coef_standard_errors(X, y)
    np.testing.assert_allclose(found[0], left_out(X, y, np.ones(60), 1.0, scale=True), rtol=0.05)


def test_pairs_within_blocks(small):
    X, y = small
    block = np.repeat([0, 1, 2], [12, 18, 30])
    X = X + 5.0 * block[:, None]
    stream = MBAClassifier(l2=0.1, within_block=True)
    blocks = [(X[block == b], y[block == b]) for b in range(3)]
    for part in blocks:
        stream.partial_fit(*part, classes=[0, 1])
    of_block = np.array([np.bincount(y[block == b]) for b in range(3)])
    # a row's share of all pairs
    share = np.array([of_block[b][1 - c] / of_block.prod(axis=1).sum() for b, c in zip(block, y, strict=True)])
    wanted = left_out(X, y, np.ones(60), 0.1, share, block=block)
    np.testing.assert_allclose(stream.coef_standard_errors(blocks)[0], wanted, rtol=0.05)
    with pytest.raises(ValueError, match=r"within blocks.*coef_standard_errors\(\[\(X, y\), …\]\)"):
        stream.coef_standard_errors()


def test_a_stream_that_decays_is_weighted(small):
    X, y = small
    weight = np.repeat([0.25, 0.5, 1.0], 20)
    stream, blocks = MBAClassifier(l2=0.1, decay=0.5), [(X[k : k + 20], y[k : k + 20]) for k in (0, 20, 40)]
    for part in blocks:
        stream.partial_fit(*part, classes=[0, 1])
    wanted = MBAClassifier(l2=0.1).fit(X, y, weight).coef_standard_errors(X, y, weight)
    np.testing.assert_allclose(stream.coef_standard_errors(blocks), wanted)
    with pytest.raises(ValueError, match=r"those of the fit for .* as the list of its blocks"):
        stream.coef_standard_errors(X, y)


def test_however_the_rows_come(small, monkeypatch):
    X, y = small
    wanted = MBAClassifier(l2=0.1).fit(X, y).coef_standard_errors(X, y)
    monkeypatch.setattr("mbauc.estimators.standard_errors.jackknife._CHUNK", 21)

    class Blocks(list):
        n_features, classes = 3, (0, 1)

    source = Blocks([(X[:25], y[:25]), (X[25:], y[25:])])
    for fitted, given in (
        (MBAClassifier(l2=0.1).fit(sp.csr_array(X), y), (sp.csc_array(X), y)),
        (MBAClassifier(l2=0.1, solver="gram").fit_source(source), (source,)),
        (MBAClassifier(l2=0.1, solver="matrix-free", tol=1e-14).fit(X, y), (X, y)),
        (MBAClassifierCV(l2_grid=[0.1]).fit(X, y), (X, y)),
    ):
        np.testing.assert_allclose(fitted.coef_standard_errors(*given), wanted, rtol=1e-6)


def test_zero_weights_have_zero_error(small):
    X, y = small
    X = np.c_[X[:, 0], np.zeros(60), X]
    fitted = MBAClassifier(l1=0.1, l2=0.1).fit(X, y)
    errors = fitted.coef_standard_errors(X, y)
    np.testing.assert_array_equal(errors == 0, fitted.coef_ == 0)
    assert (fitted.coef_ == 0).any()
    nothing = MBAClassifier(l1=100.0, l2=0.1).fit(X, y)
    assert not nothing.coef_standard_errors(X, y).any()


def test_a_column_that_one_row_alone_has(rng):
    y = np.arange(200) % 2
    X = np.c_[rng.standard_normal((200, 2)) + y[:, None], np.arange(200) == 7]
    errors = MBAClassifier(l2=0.0).fit(X, y).coef_standard_errors(X, y)
    assert np.isfinite(errors).all()


def test_what_is_wrong_is_said(small):
    X, y = small
    fitted = MBAClassifier(l2=0.1).fit(X, y)
    with pytest.raises(ValueError, match="rows need their labels"):
        fitted.coef_standard_errors(X)
    with pytest.raises(ValueError, match="these rows count for 10 positives and 20 negatives"):
        fitted.coef_standard_errors(X[:30], y[:30])
    with pytest.warns(
        FewRowsWarning, match=r"an effective size of 20 rows, for 3 weights.*coef_standard_errors\(X, y\)"
    ):
        fitted.coef_standard_errors()
    one = MBAClassifier(l2=0.1).fit(X[:5], [0, 0, 0, 1, 0])
    with pytest.raises(ValueError, match="at least two rows of each class"):
        one.coef_standard_errors(X[:5], [0, 0, 0, 1, 0])


SHIFT = np.array([0.8, 0.0, -0.4])


def log_normal(rng, y):
    return np.exp(rng.standard_normal((y.size, 3)) + 0.5 * y[:, None] * SHIFT)


def heavy(rng, y):
    return rng.standard_t(5, (y.size, 3)) + y[:, None] * SHIFT


def rare(rng, y):
    return (rng.random((y.size, 3)) < np.where(y[:, None] == 1, [0.5, 0.05, 0.1], [0.2, 0.04, 0.3])).astype(
        float
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "positives", "settings"),
    [
        (log_normal, 100, {"l2": 0.0}),
        (log_normal, 100, {"l2": 1.0, "scale": True}),
        (log_normal, 10, {"l2": 0.0}),
        (heavy, 100, {"l2": 0.0}),
        (heavy, 100, {"l2": 0.0, "pairs": 300}),
        (heavy, 100, {"l2": 0.0, "pairs": 300, "pairing": "complete", "solver": "matrix-free"}),
        (rare, 100, {"l2": 0.01}),
    ],
)
def test_they_match_the_spread_over_data_sets(rng, rows, positives, settings):
    y = (np.arange(600) < positives).astype(int)
    weights, errors = [], []
    for k in range(120):
        X = rows(rng, y)
        fitted = MBAClassifier(**settings, random_state=k).fit(X, y)
        weights.append(fitted.coef_[0])
        if k < 30:
            errors.append(fitted.coef_standard_errors(X, y)[0])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(weights, axis=0)
    assert ((ratio > 0.8) & (ratio < 1.25)).all(), ratio


def test_levels_of_blocks_are_no_error(rng):
    weights, errors = [], []
    for k in range(100):
        stream, blocks = MBAClassifier(l2=0.0, within_block=True), []
        for _ in range(5):
            y = (np.arange(80) < 20).astype(int)
            blocks.append((rng.standard_normal((80, 3)) + y[:, None] * SHIFT + 3 * rng.standard_normal(3), y))
            stream.partial_fit(*blocks[-1], classes=[0, 1])
        weights.append(stream.coef_[0])
        if k < 30:
            errors.append(stream.coef_standard_errors(blocks)[0])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(weights, axis=0)
    assert ((ratio > 0.8) & (ratio < 1.3)).all(), ratio


def test_only_scales_that_were_estimated_add_to_the_errors(rng):
    X = rng.standard_normal((200, 3)) * [1.0, 2.0, 0.5]
    y = X[:, 0] + rng.standard_normal(200) > 0.8
    fits = [MBAClassifier(l2=5.0, scale=scale).fit(X, y) for scale in ("auto", False)]
    errors = [fit.coef_standard_errors(X, y) for fit in fits]
    np.testing.assert_array_equal(errors[0], errors[1])


def test_a_row_without_which_there_are_no_pairs_is_told_of(rng):
    ranker = MBAClassifier(l2=1.0, within_block=True)
    one = rng.standard_normal((9, 2)), np.arange(9) < 1
    other = rng.standard_normal((4, 2)), np.ones(4, dtype=bool)
    for X, y in (one, other):
        ranker.partial_fit(X, y, classes=[False, True])
    with pytest.raises(ValueError, match="at least two rows of each class"):
        ranker.coef_standard_errors([one, other])
