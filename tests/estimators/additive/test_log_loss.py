"""Curves under the log-loss, against penalised logistic regression from its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from mbauc import AdditiveAUCClassifier
from mbauc.estimators.additive.log_loss import fit_log_odds
from mbauc.metrics import roc_auc


def penalised_loss(parameters, Z, positive, weight, strength):
    """The definition, row by row."""
    *w, b = parameters
    total = 0.0
    for z, good, count in zip(Z, positive, weight, strict=True):
        f = float(np.dot(z, w)) + b
        total += count * np.logaddexp(0.0, -f if good else f)
    return total + 0.5 * sum(s * one**2 for s, one in zip(strength, w, strict=True))


@given(st.integers(0, 1_000_000), st.booleans(), st.booleans())
def test_the_penalised_log_loss_is_minimised(seed, weighted, started):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    Z = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, d) + rng.integers(-3, 4, d)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    strength = 10.0 ** rng.uniform(-1, 2, d)
    start = rng.normal(size=d) if started else None
    found = fit_log_odds(Z, positive, weight if weighted else None, strength, start=start, tol=1e-15)
    twin = minimize(
        penalised_loss,
        np.append(found.coef, found.intercept),
        (Z, positive, weight, strength),
        "Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12},
    )
    value = penalised_loss([*found.coef, found.intercept], Z, positive, weight, strength)
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert value <= twin.fun * (1 + 1e-7) + 1e-9


def make_rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = 2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 2.5
    return X, (rng.random(n) < 1 / (1 + np.exp(-f))).astype(int)


def test_weights_are_those_of_logistic_regression_in_the_same_coordinates():
    X, y = make_rows()
    ranker = AdditiveAUCClassifier("curves", "log_loss", random_state=0).fit(X, y)
    basis, strength = ranker.basis_, ranker.penalty_factors_
    F = np.asarray(ranker.feature_map_.encode(X).toarray())
    Z = np.column_stack([F @ basis.reduction.expand(unit) for unit in np.eye(strength.size)])
    # scikit-learn has one penalty: columns are divided by the roots of theirs
    twin = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(Z / np.sqrt(strength), y)
    np.testing.assert_allclose(
        ranker.decision_function(X) - ranker.intercept_,
        twin.decision_function(Z / np.sqrt(strength)) - twin.intercept_,
        atol=2e-3,
    )
    assert ranker.loss_ == "log_loss"
    assert 0.8 < ranker.slope_ < 2.0
    assert ranker.solution_.optimality < 1e-4


def make_far_rows():
    """Many easy negatives far away: the squared loss bends its scores towards them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    X[:4000] *= 8
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.logistic(size=6000) > 2).astype(int)


def test_probabilities_are_better_than_those_of_normal_scores():
    X, y = make_far_rows()
    losses = [
        log_loss(y[1::2], one.fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1])
        for one in (AdditiveAUCClassifier("linear", loss, random_state=0) for loss in ("log_loss", "squared"))
    ]
    assert losses[0] < losses[1] - 0.01


def test_auto_takes_the_loss_that_ranks_held_out_rows_better():
    X, y = make_far_rows()
    fitted = {
        loss: AdditiveAUCClassifier("linear", loss, random_state=0).fit(X[::2], y[::2])
        for loss in ("auto", "squared", "log_loss")
    }
    aucs = {loss: roc_auc(y[1::2], one.decision_function(X[1::2])) for loss, one in fitted.items()}
    assert fitted["auto"].loss_ == "log_loss"
    assert aucs["auto"] == pytest.approx(aucs["log_loss"], abs=1e-4)
    assert aucs["log_loss"] >= aucs["squared"]
    assert "Loss: log_loss; the log-loss changes the held-out AUC by" in fitted["auto"].choice_


def test_weights_of_frequencies_are_rows():
    X, y = make_rows(300)
    often = np.random.default_rng(1).integers(1, 4, 300)
    args = ("curves", "log_loss")
    weighted = AdditiveAUCClassifier(*args, weights="frequency", random_state=0).fit(X, y, often)
    scaled = AdditiveAUCClassifier(*args, random_state=0).fit(X, y, often)
    larger = AdditiveAUCClassifier(*args, random_state=0).fit(X, y, 7.0 * often)
    # sampling weights have no unit; frequencies have
    np.testing.assert_allclose(scaled.decision_function(X), larger.decision_function(X), atol=1e-4)
    assert np.abs(weighted.decision_function(X) - scaled.decision_function(X)).max() > 1e-4


def test_the_share_of_negatives_that_was_kept_moves_the_intercept_alone():
    X, y = make_rows(500)
    whole, thinned = (
        AdditiveAUCClassifier("curves", "log_loss", negative_rate=rate, random_state=0).fit(X, y)
        for rate in (1.0, 0.1)
    )
    np.testing.assert_array_equal(whole.coef_, thinned.coef_)
    moved = whole.slope_ * (thinned.intercept_[0] - whole.intercept_[0])
    assert moved == pytest.approx(np.log(0.1))


def test_where_the_log_loss_cannot_be_had():
    X, y = make_rows(400)
    with pytest.raises(ValueError, match=r"loss='log_loss' is not available here: .*search_rows"):
        AdditiveAUCClassifier("curves", "log_loss", search_rows=100).fit(X, y)
    fitted = AdditiveAUCClassifier("curves", "auto", search_rows=100).fit(X, y)
    assert fitted.loss_ == "squared"
    assert "all rows of the table in the search" in fitted.choice_
    groups = np.arange(400) // 20
    with pytest.raises(ValueError, match="does not support groups"):
        AdditiveAUCClassifier("curves", "log_loss").fit(X, y, groups=groups)
    assert AdditiveAUCClassifier("curves", "auto").fit(X, y, groups=groups).loss_ == "squared"


def test_a_strong_penalty_does_not_flatten_probabilities():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 2))
    true = 2 * X[:, 0] + np.log(1 / 9)
    y = (rng.random(1000) < 1 / (1 + np.exp(-true))).astype(int)
    for loss in ("log_loss", "auto"):
        ranker = AdditiveAUCClassifier(loss=loss, random_state=0).fit(X, y)
        found = ranker.slope_ * ranker.decision_function(X)
        assert np.polyfit(true, found, 1)[0] > 0.6


def test_a_loss_that_is_behind_is_not_taken_where_nothing_is_known_of_the_error():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((300, 2)), np.zeros(300, dtype=int)
    X[:, 1] = np.exp(X[:, 1])
    y[:8], X[:8, 0] = 1, X[:8, 0] + 0.7
    choice = AdditiveAUCClassifier("linear").fit(X, y).choice_
    # a fold has one positive
    assert "changes the held-out AUC by -" in choice
    assert "standard error inf" in choice
    assert "Loss: squared" in choice


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_noise_are_near_the_base_rate(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((200, 8)), rng.integers(0, 2, 200)
    ranker = AdditiveAUCClassifier("curves", "log_loss").fit(X, y)
    p = ranker.predict_proba(rng.standard_normal((2000, 8)))[:, 1]
    new = np.arange(2000) % 2
    assert log_loss(new, p) < 0.8


def test_probabilities_stay_inside_where_rows_are_told_apart():
    X = np.linspace(-1.0, 1.0, 400)[:, None]
    ranker = AdditiveAUCClassifier("linear", "log_loss").fit(X, (X[:, 0] > 0).astype(int))
    p = ranker.predict_proba(X)[:, 1]
    assert ranker.slope_ < 10
    assert 0.9 < p[250] < 0.9999
    assert 0.0001 < p[149] < 0.1


def test_weights_that_differ_hugely_give_finite_scores():
    X, y = make_rows(300)
    for heavy in (1e16, 1e20):
        ranker = AdditiveAUCClassifier("linear", "auto", random_state=0).fit(X, y, np.where(y, heavy, 1.0))
        assert np.isfinite(ranker.predict_proba(X)).all()
