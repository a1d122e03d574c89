"""Blocks of a stream, of any size and class, are learned from like the rows of one table."""

from itertools import pairwise

import numpy as np
import pytest
from contenders import EVERY, WALKING, fresh
from scipy import sparse as sp

BLOCKS = {
    "uneven": [0, 3, 4, 90, 91, 92, 300, 400],
    "single rows": list(range(401)),
    "one": [0, 400],
}


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("cuts", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("name", WALKING)
def test_blocks_equal_one_pass(holes, name, cuts, convert):
    X, y = holes
    whole = fresh(name, shuffle=False, max_iter=1).fit(convert(X), y)
    stream = fresh(name)
    for start, stop in pairwise(cuts):
        stream.partial_fit(convert(X[start:stop]), y[start:stop], classes=[0, 1])
    assert np.abs(whole.coef_).max() > 1e-3
    np.testing.assert_array_equal(stream.coef_, whole.coef_)
    np.testing.assert_array_equal(stream.intercept_, whole.intercept_)
    assert stream.t_ == whole.t_
    assert stream.n_iter_ == 1
    sizes = np.diff(cuts)
    assert sizes @ stream.loss_curve_ / 400 == pytest.approx(whole.loss_curve_[0], rel=1e-12)


@pytest.mark.parametrize("name", WALKING)
def test_blocks_of_one_class(holes, name):
    X, y = holes
    order = np.r_[np.flatnonzero(y == 0)[:50], np.flatnonzero(y == 1), np.flatnonzero(y == 0)[50:]]
    whole = fresh(name, shuffle=False, max_iter=1).fit(X[order], y[order])
    stream = fresh(name)
    cuts = [0, 50, 50 + int(y.sum()), 400]
    for start, stop in pairwise(cuts):
        rows = order[start:stop]
        assert np.unique(y[rows]).size == 1
        stream.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert np.isfinite(stream.coef_).all()
        assert np.isfinite(stream.intercept_).all()
    np.testing.assert_array_equal(stream.coef_, whole.coef_)


@pytest.mark.parametrize("name", ["logistic", "logistic auto", "ftrl"])
def test_the_same_block_again_is_another_pass(holes, name):
    X, y = holes
    stream = fresh(name)
    for _ in range(3):
        stream.partial_fit(X, y)
    passes = fresh(name, shuffle=False, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(stream.coef_, passes.coef_)
    assert stream.loss_curve_ == passes.loss_curve_


@pytest.mark.parametrize("name", EVERY)
def test_a_stream_goes_on_from_fit_and_fit_starts_afresh(holes, name):
    X, y = holes
    fitted = fresh(name, max_iter=2).fit(X[:200], y[:200])
    first = fitted.coef_.copy()
    fitted.partial_fit(X[200:], y[200:])
    assert not np.array_equal(fitted.coef_, first)
    assert len(fitted.loss_curve_) == 3
    fitted.fit(X[:200], y[:200])
    np.testing.assert_array_equal(fitted.coef_, first)
    assert len(fitted.loss_curve_) == 2


@pytest.mark.parametrize("name", EVERY)
def test_weights_read_earlier_do_not_move(holes, name):
    X, y = holes
    stream = fresh(name).partial_fit(X[:200], y[:200])
    earlier = stream.coef_
    kept = earlier.copy()
    stream.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(earlier, kept)
    earlier[:] = 7.0
    assert not (stream.coef_ == 7.0).any()


@pytest.mark.parametrize("name", EVERY)
def test_the_first_call_must_know_both_classes(holes, name):
    X, y = holes
    stream = fresh(name)
    with pytest.raises(ValueError, match="pass both labels as classes"):
        stream.partial_fit(X[y == 0], y[y == 0])
    assert not hasattr(stream, "coef_")
    assert not hasattr(stream, "n_features_in_")
    stream.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert not stream.coef_.any() or name in ("logistic", "logistic auto", "ftrl")
    stream.partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    with pytest.raises(ValueError, match="they must stay the same"):
        stream.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="label 5 at row 1"):
        stream.partial_fit(X[:2], [0, 5])
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 8"):
        stream.partial_fit(X[:, :5], y)
