import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from mbauc.paper.rivals.kernels.surrogates import (
    CODES,
    chance,
    derivative,
    logistic_loss,
    logistic_pull,
    surrogate,
)

NAMES = ["squared", "hinge", "logistic", "exponential"]
moderate = st.floats(-30, 30)
any_code = st.sampled_from(NAMES)


def test_every_surrogate_is_tried():
    assert sorted(CODES) == sorted(NAMES) == sorted(reference.SURROGATES)
    assert len(set(CODES.values())) == 4


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "t", [-800.0, -745.2, -40.0, -1.0, -1e-300, 0.0, 1e-12, 0.5, 1.0, 3.0, 36.8, 709.0, 800.0]
)
def test_values_and_derivatives_are_those_of_the_definitions(name, t):
    phi, slope = reference.SURROGATES[name]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(surrogate(CODES[name], t), phi(t), rtol=1e-13, atol=0)
        np.testing.assert_allclose(derivative(CODES[name], t), slope(t), rtol=1e-13, atol=0)


def test_the_logistic_loss_neither_overflows_nor_vanishes():
    assert logistic_loss(-800.0) == 800.0
    assert logistic_loss(-1e308) == 1e308
    assert logistic_loss(700.0) == pytest.approx(np.exp(-700.0), rel=1e-12)
    assert logistic_loss(800.0) == 0.0
    assert logistic_loss(0.0) == np.log(2.0)
    assert (chance(-800.0), chance(0.0), chance(800.0)) == (0.0, 0.5, 1.0)
    assert chance(-700.0) == pytest.approx(np.exp(-700.0), rel=1e-12)


@given(any_code, moderate)
def test_derivatives_are_limits_of_differences(name, t):
    h = 1e-5
    assume(name != "hinge" or abs(t - 1) > h)
    code = CODES[name]
    difference = (surrogate(code, t + h) - surrogate(code, t - h)) / (2 * h)
    # rounding of the values, and the third derivative
    tol = 1e-15 * surrogate(code, t - h) / h + h**2 * max(1.0, abs(derivative(code, t)))
    assert abs(derivative(code, t) - difference) <= 2 * tol


@given(any_code, moderate, moderate)
def test_no_surrogate_lies_below_its_tangents(name, s, t):
    code = CODES[name]
    tangent = surrogate(code, t) + derivative(code, t) * (s - t)
    assert surrogate(code, s) >= tangent - 1e-13 * max(1.0, abs(tangent), surrogate(code, t))


@given(any_code, moderate, moderate)
def test_derivatives_rise(name, s, t):
    low, high = min(s, t), max(s, t)
    assert derivative(CODES[name], low) <= derivative(CODES[name], high)


@given(st.sampled_from(["hinge", "logistic", "exponential"]), moderate)
def test_a_larger_margin_is_no_worse(name, t):
    assert derivative(CODES[name], t) <= 0
    assert surrogate(CODES[name], t) >= 0


@pytest.mark.parametrize("name", ["squared", "hinge", "exponential"])
def test_surrogates_bound_the_error(name):
    """φ is at least 1 where a pair is ranked wrongly, halved for the squared loss."""
    for t in (-5.0, -0.3, 0.0):
        assert surrogate(CODES[name], t) >= (0.5 if name == "squared" else 1.0)


def test_the_kink_of_the_hinge():
    assert -1.0 <= derivative(CODES["hinge"], 1.0) <= 0.0
    assert derivative(CODES["hinge"], np.nextafter(1.0, 0.0)) == -1.0
    assert derivative(CODES["hinge"], np.nextafter(1.0, 2.0)) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_a_number_stays_so(name):
    assert np.isnan(surrogate(CODES[name], np.nan))


@pytest.mark.parametrize("size", [0.1, 3.0, 40.0, 900.0])
def test_losses_add_up_as_a_product(rng, size):
    margins = size * rng.standard_normal(3000)
    total, product, pulls = 0.0, 1.0, []
    for t in margins:
        pull, total, product = logistic_pull(t, total, product)
        pulls.append(pull)
    assert total + np.log(product) == pytest.approx(np.logaddexp(0.0, -margins).sum(), rel=1e-13)
    np.testing.assert_allclose(pulls, -reference.SURROGATES["logistic"][1](margins), rtol=1e-13, atol=1e-300)
