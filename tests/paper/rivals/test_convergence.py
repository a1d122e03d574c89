"""With enough passes every rival finds the minimum of what it minimises, so that none is crippled."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import reference
from mbauc import MBAClassifier
from mbauc.metrics import roc_auc
from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression

pytestmark = pytest.mark.slow


@pytest.fixture
def overlapping(rng):
    """40 positives and 60 negatives, 4 columns of about the same size."""
    y = (np.arange(100) < 40).astype(int)
    X = rng.standard_normal((100, 4)) + y[:, None] * [1.0, -0.6, 0.3, 0.0]
    order = rng.permutation(100)
    return X[order], y[order]


def assert_near(actual, expected, share):
    actual, expected = np.ravel(actual), np.ravel(expected)
    assert np.linalg.norm(actual - expected) < share * np.linalg.norm(expected)


@pytest.mark.parametrize("l1", [0.0, 0.2])
def test_gradients_of_all_pairs_approach_the_exact_solution(overlapping, l1):
    X, y = overlapping
    exact = MBAClassifier(l1=l1, l2=0.1).fit(X, y).coef_
    ada = AdaOAM(0.1, l1=l1, l2=0.1, max_iter=5000, random_state=0).fit(X, y)
    assert_near(ada.coef_, exact, 0.005)
    if l1:
        assert (exact == 0).any()
    else:
        for eta0 in (0.3, "auto"):
            opauc = OPAUC(eta0, l2=0.1, max_iter=5000, random_state=0).fit(X, y)
            assert_near(opauc.coef_, exact, 0.005)


def test_a_large_sketch_approaches_the_exact_solution(overlapping):
    X, y = overlapping
    exact = MBAClassifier(l1=0.0, l2=0.1).fit(X, y).coef_
    for rival in (OPAUC(0.3, l2=0.1, rank=1000), AdaOAM(0.1, l2=0.1, rank=1000)):
        fitted = rival.set_params(max_iter=100, random_state=0).fit(X, y)
        assert_near(fitted.coef_, exact, 0.05)


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("eta0", [0.5, 2.0])
def test_online_logistic_regression_approaches_the_exact_solution(overlapping, eta0, l2):
    X, y = overlapping
    C = 1 / (100 * l2) if l2 else np.inf
    exact = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y)
    fitted = OnlineLogisticRegression(eta0, l2=l2, max_iter=10_000, random_state=0).fit(X, y)
    assert_near(np.append(fitted.coef_, fitted.intercept_), np.append(exact.coef_, exact.intercept_), 0.02)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_ftrl_approaches_the_exact_solution(overlapping, alpha):
    X, y = overlapping
    exact = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    fitted = FTRLProximal(alpha, lambda_1=0.0, lambda_2=0.0, max_iter=10_000, random_state=0).fit(X, y)
    assert_near(np.append(fitted.coef_, fitted.intercept_), np.append(exact.coef_, exact.intercept_), 0.02)


def exact_pairwise(X, y, loss, l2):
    """The minimum of ½ l2 ‖w‖² + mean φ over all pairs, by a solver that knows nothing of steps."""
    apart = np.array([X[i] - X[j] for i in np.flatnonzero(y) for j in np.flatnonzero(y == 0)])
    if loss == "hinge":
        sign = np.where(np.arange(len(apart)) % 2, 1, -1)
        machine = LinearSVC(
            C=1 / (len(apart) * l2),
            loss="hinge",
            fit_intercept=False,
            tol=1e-8,
            max_iter=100_000,
            random_state=0,
        )
        return machine.fit(apart * sign[:, None], sign).coef_[0]
    phi, slope = reference.SURROGATES[loss]
    found = minimize(
        lambda w: (l2 / 2 * w @ w + phi(apart @ w).mean(), l2 * w + slope(apart @ w) @ apart / len(apart)),
        np.zeros(X.shape[1]),
        jac=True,
        tol=1e-12,
    )
    return found.x


@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize(
    ("loss", "eta0"), [("squared", 0.05), ("hinge", 0.2), ("logistic", 0.5), ("exponential", 0.05)]
)
def test_mini_batches_approach_the_minimum_over_all_pairs(overlapping, loss, eta0, pairing):
    X, y = overlapping
    rival = MiniBatchPairwise(loss, eta0=eta0, l2=0.05, batch_size=25, pairing=pairing)
    fitted = rival.set_params(max_iter=20_000, random_state=0).fit(X, y)
    assert_near(fitted.coef_, exact_pairwise(X, y, loss, 0.05), 0.02)
    if loss == "squared":
        assert_near(fitted.coef_, MBAClassifier(l2=0.05).fit(X, y).coef_, 0.02)


@pytest.mark.parametrize("update", ["sequential", "gradient"])
def test_oam_ranks_as_well_as_the_exact_solution(rng, update):
    y = (rng.random(8000) < 0.2).astype(int)
    X = rng.standard_normal((8000, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    X += y[:, None] * [1.0, 0.2, 0.3]
    seen, new = slice(0, 4000), slice(4000, 8000)
    exact = MBAClassifier(l2=0.0).fit(X[seen], y[seen])
    best = roc_auc(y[new], exact.decision_function(X[new]))
    means = X[seen][y[seen] == 1].mean(axis=0) - X[seen][y[seen] == 0].mean(axis=0)
    assert roc_auc(y[new], X[new] @ means) < best - 0.05
    fitted = OAM(1e-5, update=update, buffer_size=100, random_state=0).fit(X[seen], y[seen])
    assert roc_auc(y[new], fitted.decision_function(X[new])) > best - 0.01


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize(
    "rival",
    [
        OnlineLogisticRegression("auto"),
        OPAUC("auto"),
        *(MiniBatchPairwise(loss, eta0="auto") for loss in ("squared", "hinge", "logistic", "exponential")),
    ],
)
def test_one_pass_with_automatic_steps_ranks_well(rng, rival, n):
    y = (rng.random(n) < 0.3).astype(int)
    X = rng.standard_normal((n, 5)) + np.outer(4 * y - 2, [1, 0, 0, 0, 0])
    for seed in range(5):
        assert roc_auc(y, rival.set_params(random_state=seed).fit(X, y).decision_function(X)) > 0.97
