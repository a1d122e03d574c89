import numpy as np
import pytest
from scipy.special import ndtr

from mbauc.metrics import d_prime, roc_auc

RNG = np.random.default_rng(0)
Y = RNG.random(400) < 0.3
S = RNG.standard_normal(400) * 2 + Y


def test_it_is_the_distance_of_means_over_the_root_of_the_mean_variance():
    plus, minus = S[Y], S[~Y]
    expected = (plus.mean() - minus.mean()) / np.sqrt((plus.var() + minus.var()) / 2)
    assert d_prime(Y, S) == pytest.approx(expected)
    assert d_prime(Y, 3 * S + 7) == pytest.approx(expected)
    assert d_prime(Y, -S) == pytest.approx(-expected)


def test_a_weight_is_a_repeated_row():
    weight = RNG.integers(1, 4, 400)
    assert d_prime(Y, S, sample_weight=weight) == pytest.approx(
        d_prime(np.repeat(Y, weight), np.repeat(S, weight))
    )


def test_for_normal_scores_it_gives_the_auc():
    y = np.repeat([0, 1], 100_000)
    s = RNG.standard_normal(200_000) + 1.3 * y
    assert ndtr(d_prime(y, s) / np.sqrt(2)) == pytest.approx(roc_auc(y, s), abs=2e-3)


def test_without_spread():
    assert d_prime([0, 1, 1], [0.0, 1.0, 1.0]) == np.inf
    assert d_prime([0, 1, 1], [1.0, 0.0, 0.0]) == -np.inf
    assert d_prime([0, 1, 1], [1.0, 1.0, 1.0]) == 0.0


@pytest.mark.parametrize("value", [0.1, 0.7, 1e300])
@pytest.mark.parametrize("sizes", [[10, 3], [7, 1000], [3000, 300]])
def test_constant_scores_have_none(value, sizes):
    assert d_prime(np.repeat([0, 1], sizes), np.full(sum(sizes), value)) == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e200, 4e307])
def test_any_scale(scale):
    y, s = [0, 0, 1, 1], np.array([1.0, 2.0, 3.0, 4.0])
    assert d_prime(y, s * scale) == pytest.approx(d_prime(y, s), rel=1e-12)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_scores_are_refused(bad):
    with pytest.raises(ValueError, match=f"^y_score has {bad} at row 1; every score must be finite"):
        d_prime([0, 1], [0.0, bad])
