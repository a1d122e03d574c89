import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, halfway, mean_of_passes
from scipy import sparse as sp

import reference
from mbauc.paper.rivals import OPAUC
from mbauc.paper.rivals.online import auto_step
from mbauc.paper.rivals.opauc import AUTO_STEP


def sketch_draws(seed, n, rank):
    return np.random.default_rng(seed).standard_normal((n, rank)) / np.sqrt(rank)


@pytest.mark.parametrize("learning_rate", ["invscaling", "constant"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize(
    ("rank", "centred"), [(None, True), (1, True), (4, True), (4, False), (20, True), (20, False)]
)
def test_equals_the_slow_twin(holes, learning_rate, l2, rank, centred):
    X, y = holes[0][:200], holes[1][:200]
    rival = OPAUC(
        0.03, l2=l2, rank=rank, centred=centred, learning_rate=learning_rate, max_iter=3, shuffle=False
    )
    rival.set_params(random_state=5)
    w, losses = reference.opauc(
        X,
        y,
        0.03,
        l2=l2,
        constant=learning_rate == "constant",
        passes=3,
        draws=None if rank is None else sketch_draws(5, len(X), rank),
        centred=centred,
    )
    first = int(np.argmax(y != y[0]))
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(fitted.coef_, w)
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert fitted.intercept_[0] == pytest.approx(halfway(w, X, y), abs=1e-10)
        assert (fitted.n_iter_, fitted.t_) == (3, 600 - first)


@pytest.mark.parametrize("learning_rate", ["invscaling", "constant"])
@pytest.mark.parametrize(("rank", "centred"), [(None, True), (4, True), (4, False)])
def test_auto_divides_by_the_largest_curvature(table, learning_rate, rank, centred):
    X, y = table
    X, y = X[:300], y[:300]
    rival = OPAUC("auto", l2=0.2, rank=rank, centred=centred, learning_rate=learning_rate)
    rival.set_params(max_iter=2, shuffle=False, random_state=5)
    w, _ = reference.opauc(
        X,
        y,
        auto_step(AUTO_STEP, learning_rate),
        l2=0.2,
        constant=learning_rate == "constant",
        auto=True,
        passes=2,
        draws=None if rank is None else sketch_draws(5, 300, rank),
        centred=centred,
    )
    for given in dense_and_sparse(X):
        assert_agree(rival.fit(given, y).coef_, w)


def test_auto_does_not_depend_on_units(table):
    X, y = table
    small, large = (OPAUC("auto", shuffle=False).fit(c * X, y) for c in (1e-3, 1e3))
    assert_agree(large.coef_ * 1e3, small.coef_ * 1e-3)


@pytest.mark.parametrize("rank", [None, 2])
def test_auto_takes_rows_that_do_not_differ(rank):
    """Neither length nor spread to divide by: empty rows, or equal ones of both classes."""
    X, y = np.ones((6, 2)), np.arange(6) % 2
    for given in (X, sp.csr_array(X), sp.csr_array((6, 2))):
        fitted = OPAUC("auto", rank=rank, centred=True, random_state=0).fit(given, y)
        np.testing.assert_allclose(fitted.coef_, 0.0, atol=1e-12)


@pytest.mark.parametrize("learning_rate", ["invscaling", "constant"])
@pytest.mark.parametrize(("rank", "centred"), [(None, True), (2, True), (2, False)])
def test_auto_cannot_diverge_wherever_the_rows_are(holes, rank, centred, learning_rate):
    X, y = holes
    for seed in range(5):
        fitted = OPAUC("auto", rank=rank, centred=centred, learning_rate=learning_rate, max_iter=3)
        fitted.set_params(random_state=seed).fit(X + 10, y)
        assert np.abs(fitted.coef_).max() < 100


def test_auto_goes_on_after_rows_that_do_not_differ(holes):
    X, y = holes
    X, y = np.r_[np.zeros((2, 8)), X], np.r_[0, 1, y]
    fitted = OPAUC("auto", shuffle=False).fit(X, y)
    w, _ = reference.opauc(X, y, AUTO_STEP, auto=True)
    assert_agree(fitted.coef_, w)


def test_covariances_do_not_cancel_far_from_zero(table):
    X, y = table
    near, far = (OPAUC(0.01, shuffle=False).fit(X + offset, y) for offset in (0.0, 1e6))
    assert_agree(far.coef_, near.coef_, 1e-6)


def test_a_stream_after_fit_adds_to_the_statistics(holes):
    X, y = holes
    fitted = OPAUC(0.03, shuffle=False).fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(fitted.coef_, OPAUC(0.03, shuffle=False).fit(X, y).coef_)


def test_a_sketch_is_right_on_average(table):
    """Over many draws the low-rank covariance, and with small steps the weights, are those of the full one."""
    X, y = table
    X, y = X[:200] - X[:200].mean(axis=0), y[:200]
    full = OPAUC(1e-3, shuffle=False).fit(X, y).coef_
    for centred in (True, False):
        sketched = [
            OPAUC(1e-3, rank=5, centred=centred, shuffle=False, random_state=seed).fit(X, y).coef_
            for seed in range(200)
        ]
        assert_agree(np.mean(sketched, axis=0), full, 0.03)


def test_too_many_columns_for_memory_are_refused_with_advice():
    X = sp.csr_array(([1.0, 1.0], ([0, 1], [5, 6])), shape=(2, 3_000_000))
    with pytest.raises(MemoryError, match=r"3,000,000 columns take 134,110 GiB; set rank"):
        OPAUC(1.0).fit(X, [0, 1])
