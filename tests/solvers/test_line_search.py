import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from mbauc.solvers.matrix_free.line_search import lowest_point


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 6),
    bend=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    l1=st.sampled_from([0.0, 0.1, 1.0]),
    ties=st.booleans(),
)
def test_equals_a_numeric_minimiser(seed, d, bend, l1, ties):
    rng = np.random.default_rng(seed)
    draw = (lambda: rng.integers(-2, 3, d).astype(float)) if ties else (lambda: rng.standard_normal(d))
    w, step, slope, threshold = draw(), draw(), 2 * rng.standard_normal(), l1 * rng.integers(0, 3, d)

    def value(a):
        return a * slope + 0.5 * a**2 * bend + threshold @ np.abs(w + a * step)

    a, passed, landed = lowest_point(w, step, slope, bend, threshold, 3.0)
    numeric = minimize_scalar(value, bounds=(0.0, 3.0), method="bounded", options={"xatol": 1e-10})
    kinks = [k for k in -w[step != 0] / step[step != 0] if 0 <= k <= 3]
    best = min([numeric.fun, value(0.0), value(3.0), *map(value, kinks)])
    assert 0.0 <= a <= 3.0
    assert value(a) <= best + 1e-9
    np.testing.assert_allclose((w + a * step)[landed], 0.0, atol=1e-12)
    turned = (w * (w + a * step) < 0) & (np.abs(w + a * step) > 1e-12)
    assert passed == turned.sum()


def test_a_kink_can_hold_the_lowest_point():
    a, passed, landed = lowest_point(
        np.array([1.0, 0.5, 1.0]), np.array([-1.0, -1.0, -1.0]), -1.0, 0.1, np.array([0.6, 0.1, 0.6])
    )
    assert (a, passed) == (1.0, 1)
    np.testing.assert_array_equal(landed, [0, 2])


def test_goes_nowhere_uphill_and_all_the_way_on_a_slope():
    assert lowest_point(np.zeros(1), np.ones(1), -0.5, 1.0, np.ones(1))[0] == 0.0
    assert lowest_point(np.zeros(1), np.ones(1), -3.0, 0.0, np.ones(1), 0.7)[0] == 0.7
    assert lowest_point(np.zeros(1), np.ones(1), -3.0, 1.0, np.ones(1))[0] == pytest.approx(2.0)
