import numpy as np
import pytest
from contenders import assert_agree, dense_and_sparse, halfway, mean_of_passes

import reference
from mbauc.paper.rivals import AdaOAM


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 0.3), (0.05, 0.0), (0.2, 0.1)])
@pytest.mark.parametrize(("rank", "centred"), [(None, True), (4, True), (4, False)])
@pytest.mark.parametrize(("eta0", "delta"), [(0.1, 1e-8), (0.5, 1.0)])
def test_equals_the_slow_twin(holes, l1, l2, rank, centred, eta0, delta):
    X, y = holes[0][:200], holes[1][:200]
    rival = AdaOAM(eta0, l1=l1, l2=l2, delta=delta, rank=rank, centred=centred, max_iter=3, shuffle=False)
    rival.set_params(random_state=5)
    draws = None
    if rank is not None:
        draws = np.random.default_rng(5).standard_normal((len(X), rank)) / np.sqrt(rank)
    w, losses = reference.ada_oam(X, y, eta0, l1=l1, l2=l2, delta=delta, passes=3, draws=draws, centred=centred)
    first = int(np.argmax(y != y[0]))
    for given in dense_and_sparse(X):
        fitted = rival.fit(given, y)
        assert_agree(fitted.coef_, w)
        np.testing.assert_array_equal(fitted.coef_[0] == 0, w == 0)
        assert_agree(fitted.loss_curve_, mean_of_passes(losses, 3))
        assert fitted.intercept_[0] == pytest.approx(halfway(w, X, y), abs=1e-10)
        assert (fitted.n_iter_, fitted.t_) == (3, 600 - first)


def test_l1_leaves_weights_out(holes):
    X, y = holes
    counts = [
        np.count_nonzero(AdaOAM(0.1, l1=l1, max_iter=5, shuffle=False).fit(X, y).coef_)
        for l1 in (0.0, 0.1, 10.0)
    ]
    assert counts[0] == 8 > counts[1] > counts[2] == 0


def test_columns_of_zeros_get_no_weight_and_no_nan(holes):
    X, y = holes
    X[:, 3] = 0.0
    fitted = AdaOAM(0.1, delta=0.0, l1=0.01, l2=0.1, max_iter=2).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert fitted.coef_[0, 3] == 0.0
