import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, mean_of_passes

import reference
from mbauc.paper.rivals import MiniBatchPairwise
from mbauc.paper.rivals.mini_batch_pairwise import AUTO_STEP
from mbauc.paper.rivals.online import auto_step


def drawn_rows(y, batch_size, passes, seed):
    """Positives and negatives of all batches: a place among the rows of its class for each uniform number."""
    steps = -(-len(y) // (2 * batch_size))
    draws = np.random.default_rng(seed).random((passes * steps, 2, batch_size))
    negatives, positives = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    minus = negatives[(draws[:, 0] * negatives.size).astype(int)]
    plus = positives[(draws[:, 1] * positives.size).astype(int)]
    return plus, minus


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "exponential"])
@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize(
    ("eta0", "learning_rate", "l2", "batch_size"),
    [
        (0.1, "invscaling", 0.0, 7),
        (0.05, "constant", 0.2, 4),
        ("auto", "invscaling", 0.1, 16),
        ("auto", "constant", 0.0, 1),
        (0.3, "invscaling", 0.0, 60),
    ],
)
def test_equals_the_slow_twin(holes, loss, pairing, eta0, learning_rate, l2, batch_size):
    X, y = holes
    X, y = X[:100], y[:100]
    rival = MiniBatchPairwise(
        loss,
        eta0=eta0,
        learning_rate=learning_rate,
        batch_size=batch_size,
        pairing=pairing,
        l2=l2,
        max_iter=3,
        random_state=5,
    )
    plus, minus = drawn_rows(y, rival.batch_size, 3, 5)
    auto = eta0 == "auto"
    if auto:
        eta0 = auto_step(AUTO_STEP[loss], learning_rate)
    w, losses = reference.mini_batch_pairwise(
        X,
        plus,
        minus,
        loss,
        eta0,
        l2=l2,
        complete=pairing == "complete",
        constant=learning_rate == "constant",
        auto=auto,
        longest=1.0 if loss in ("squared", "exponential") else np.inf,
    )
    middle = (X[plus.ravel()].mean(axis=0) + X[minus.ravel()].mean(axis=0)) / 2
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(fitted.coef_, w)
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert fitted.intercept_[0] == pytest.approx(-w @ middle, abs=1e-10)
        assert (fitted.n_iter_, fitted.t_) == (3, len(plus))


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "exponential"])
def test_a_batch_of_one_is_matched_and_complete(holes, loss):
    X, y = holes
    matched, complete = (
        MiniBatchPairwise(loss, eta0=0.05, batch_size=1, pairing=pairing, random_state=0).fit(X, y)
        for pairing in ("matched", "complete")
    )
    assert_agree(matched.coef_, complete.coef_)


def test_a_penalty_so_strong_that_the_common_factor_vanishes(holes):
    X, y = holes
    fitted = MiniBatchPairwise("hinge", eta0=1.0, learning_rate="constant", l2=1e3, batch_size=5)
    fitted.set_params(random_state=5).fit(X, y)
    w, _ = reference.mini_batch_pairwise(X, *drawn_rows(y, 5, 1, 5), "hinge", 1.0, l2=1e3, constant=True)
    assert_agree(fitted.coef_, w)


def test_blocks_of_one_class_teach_nothing(holes):
    X, y = holes
    stream = MiniBatchPairwise("squared", eta0=0.1, random_state=0).partial_fit(X, y)
    before = stream.coef_
    stream.partial_fit(X[y == 0], y[y == 0])
    np.testing.assert_array_equal(stream.coef_, before)
    assert np.isnan(stream.loss_curve_[-1])
    stream.partial_fit(X, y)
    assert not np.array_equal(stream.coef_, before)
    assert len(stream.loss_curve_) == 3


def test_rows_are_drawn_evenly(rng):
    """Columns that mark the rows: sums of drawn rows are counts."""
    y = np.arange(30) % 3 == 0
    fitted = MiniBatchPairwise("hinge", eta0=1.0, max_iter=400, random_state=0).fit(np.eye(30), y)
    counts = fitted._state.sums.sum(axis=0)
    assert counts.sum() == 400 * 2 * 32
    for rows in (y, ~y):
        expected = 400 * 32 / rows.sum()
        assert np.abs(counts[rows] - expected).max() < 4 * np.sqrt(expected)
