import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, mean_of_passes

import reference
from mbauc.paper.rivals import OnlineLogisticRegression
from mbauc.paper.rivals.online_logistic_regression import AUTO_STEP


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("eta0", [0.7, 3.0, "auto"])
def test_equals_the_slow_twin(holes, eta0, l2, fit_intercept):
    X, y = holes
    rival = OnlineLogisticRegression(eta0, l2=l2, fit_intercept=fit_intercept, max_iter=3, shuffle=False)
    auto = eta0 == "auto"
    w, b, losses = reference.online_logistic(
        np.tile(X, (3, 1)),
        np.tile(y, 3),
        AUTO_STEP if auto else eta0,
        l2=l2,
        fit_intercept=fit_intercept,
        auto=auto,
    )
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(np.append(fitted.coef_, fitted.intercept_), np.append(w, b))
        assert (fitted.intercept_[0] != 0) == fit_intercept
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert (fitted.n_iter_, fitted.t_) == (3, 1200)


def test_a_penalty_so_strong_that_the_common_factor_vanishes(holes):
    X, y = holes
    fitted = OnlineLogisticRegression(1.0, l2=20.0, shuffle=False).fit(X, y)
    w, b, _ = reference.online_logistic(X, y, 1.0, l2=20.0)
    assert_agree(fitted.coef_, w)
    assert_agree(fitted.intercept_, b)


def test_auto_does_not_depend_on_units(table):
    X, y = table
    small, large = (
        OnlineLogisticRegression("auto", fit_intercept=False, shuffle=False).fit(c * X, y) for c in (1e-9, 1e6)
    )
    assert_agree(large.coef_ * 1e15, small.coef_, 1e-6)


def test_auto_survives_a_short_first_row(table):
    X, y = table
    X = X - X.mean(axis=0)
    plain = OnlineLogisticRegression("auto", max_iter=3, shuffle=False).fit(X, y)
    X[0] *= 1e-6
    short = OnlineLogisticRegression("auto", max_iter=3, shuffle=False).fit(X, y)
    assert short.loss_curve_[-1] < 2 * plain.loss_curve_[-1]


def test_probabilities_are_those_of_the_score(holes):
    X, y = holes
    fitted = OnlineLogisticRegression(0.5, random_state=0).fit(X, y)
    s = X @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], 1 / (1 + np.exp(-s)), rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), (s > 0).astype(int))
