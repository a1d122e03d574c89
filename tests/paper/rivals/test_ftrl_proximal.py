import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, mean_of_passes

import reference
from mbauc.paper.rivals import FTRLProximal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("alpha", "beta", "lambda_1", "lambda_2"),
    [(0.1, 1.0, 0.0, 0.0), (2.0, 0.1, 0.0, 5.0), (0.5, 1.0, 4.0, 0.0), (0.3, 3.0, 2.0, 1.0)],
)
def test_equals_the_slow_twin(holes, alpha, beta, lambda_1, lambda_2, fit_intercept):
    X, y = holes
    settings = {"lambda_1": lambda_1, "lambda_2": lambda_2, "fit_intercept": fit_intercept}
    rival = FTRLProximal(alpha, beta, **settings, max_iter=3, shuffle=False)
    w, b, losses = reference.ftrl_proximal(np.tile(X, (3, 1)), np.tile(y, 3), alpha, beta, **settings)
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(np.append(fitted.coef_, fitted.intercept_), np.append(w, b))
        np.testing.assert_array_equal(fitted.coef_[0] == 0, w == 0)
        assert (fitted.intercept_[0] != 0) == fit_intercept
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert (fitted.n_iter_, fitted.t_) == (3, 1200)


def test_lambda_1_leaves_weights_out(holes):
    X, y = holes
    counts = [
        np.count_nonzero(FTRLProximal(0.5, lambda_1=lambda_1, shuffle=False).fit(X, y).coef_)
        for lambda_1 in (0.0, 10.0, 1e3)
    ]
    assert counts[0] == 8 > counts[1] > counts[2] == 0
