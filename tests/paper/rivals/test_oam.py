import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, halfway, mean_of_passes
from scipy import sparse as sp

import reference
from mbauc.paper.rivals import OAM


@pytest.mark.parametrize("update", ["sequential", "gradient"])
@pytest.mark.parametrize("C", [0.003, 0.1])
@pytest.mark.parametrize("buffer_size", [1, 15, 200])
def test_equals_the_slow_twin(holes, update, C, buffer_size):
    X, y = holes[0][:150], holes[1][:150]
    rival = OAM(C, update=update, buffer_size=buffer_size, max_iter=3, shuffle=False, random_state=5)
    draws = np.random.default_rng(5).random(450)
    w, losses = reference.oam(X, y, C, buffer_size, update, draws, passes=3)
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(fitted.coef_, w)
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert fitted.intercept_[0] == pytest.approx(halfway(w, X, y), abs=1e-10)
        assert (fitted.n_iter_, fitted.t_) == (3, 450)


@pytest.mark.parametrize("update", ["sequential", "gradient"])
def test_a_stream_may_change_between_dense_and_sparse(holes, update):
    X, y = holes
    stream = OAM(0.05, update=update, buffer_size=15, random_state=5)
    forms = (sp.csr_array, np.asarray, lambda rows: sp.csr_array(np.abs(rows) > 0), sp.csc_array)
    X[200:300] = np.abs(X[200:300]) > 0
    for start, as_form in zip(range(0, 400, 100), forms, strict=True):
        stream.partial_fit(as_form(X[start : start + 100]), y[start : start + 100], classes=[0, 1])
    w, _ = reference.oam(X, y, 0.05, 15, update, np.random.default_rng(5).random(400))
    assert_agree(stream.coef_, w)


@pytest.mark.parametrize("update", ["sequential", "gradient"])
def test_rows_that_grow_longer(rng, update):
    X = rng.standard_normal((90, 9)) * (np.arange(9) < np.repeat([[2], [5], [9]], 30, axis=0))
    y = np.arange(90) % 2
    stream = OAM(0.1, update=update, buffer_size=10, random_state=5)
    for start in range(0, 90, 30):
        stream.partial_fit(sp.csr_array(X[start : start + 30]), y[start : start + 30])
    w, _ = reference.oam(X, y, 0.1, 10, update, np.random.default_rng(5).random(90))
    assert_agree(stream.coef_, w)


def test_every_row_is_as_likely_to_be_held():
    """With one column of row numbers and steps of size zero the buffers alone differ between seeds."""
    n, capacity, runs = 40, 10, 600
    X, y = np.arange(2.0 * n)[:, None], np.arange(2 * n) % 2
    held = np.zeros(2 * n)
    for seed in range(runs):
        buffers = OAM(1e-300, buffer_size=capacity, shuffle=False, random_state=seed).fit(X, y)._state.buffers
        assert np.unique(buffers.values).size == 2 * capacity
        held[buffers.values.astype(int).ravel()] += 1
    share = capacity / n
    spread = np.sqrt(runs * share * (1 - share))
    assert np.abs(held - runs * share).max() < 4 * spread


def test_equal_rows_of_both_classes_change_nothing():
    X, y = np.ones((6, 2)), np.arange(6) % 2
    for update in ("sequential", "gradient"):
        fitted = OAM(1.0, update=update, shuffle=False).fit(X, y)
        np.testing.assert_array_equal(fitted.coef_, 0.0)
        assert fitted.loss_curve_ == [pytest.approx(5 / 6)]


@pytest.mark.parametrize("update", ["sequential", "gradient"])
def test_more_passes_do_no_harm(table, update):
    X, y = table
    once, often = (
        OAM(1e-5, update=update, max_iter=passes, random_state=0).fit(X, y).loss_curve_[-1]
        for passes in (1, 60)
    )
    assert often < 0.9 * once
