import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.metrics import compare_roc_auc, holm

#: Whole thousandths, so that ties come up and rounding does not.
p_values = st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=1, max_size=8)


@given(p_values)
def test_equals_the_smallest_level_at_which_holm_rejects(p):
    adjusted = holm(p)
    np.testing.assert_allclose(adjusted, reference.holm(p), rtol=1e-12)
    assert ((np.array(p) <= adjusted) & (adjusted <= 1)).all()


def test_known_figures():
    """By hand: 4 × 0.005, 3 × 0.01, 2 × 0.03, and never less than the one before."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_a_matrix_holds_each_pair_once(rng):
    p = rng.random((4, 4))
    p = np.minimum(p, p.T)
    np.fill_diagonal(p, 1.0)
    adjusted = holm(p)
    above = np.triu_indices(4, 1)
    np.testing.assert_array_equal(adjusted[above], holm(p[above]))
    np.testing.assert_array_equal(adjusted, adjusted.T)
    np.testing.assert_array_equal(np.diag(adjusted), 1.0)


def test_chance_alone_is_rarely_taken_for_a_difference(rng):
    """Five scorers, none better: ten pairs. At 5% each, some pair is found in far more than 5% of the sets."""
    y = np.arange(400) < 200
    alone = adjusted = 0
    for _ in range(150):
        found = compare_roc_auc(y, rng.standard_normal((5, 400)) + 0.5 * y)
        alone += found.p_value.min() < 0.05
        adjusted += found.holm_p_value.min() < 0.05
    assert alone / 150 > 0.15
    assert adjusted / 150 < 0.09


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 1.5], "p_values must lie between 0 and 1, got 1.5"),
        ([0.5, np.nan], "p_values must lie between 0 and 1, got nan"),
        (0.5, "a list of p-values or a symmetric matrix"),
        ([[0.1, 0.2], [0.3, 0.4]], "a list of p-values or a symmetric matrix"),
        ([], "at least one"),
        (["a"], "p_values must hold numbers"),
    ],
)
def test_bad_input_is_named(p, message):
    with pytest.raises(ValueError, match=message):
        holm(p)
