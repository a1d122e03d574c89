"""Which rows are paired, and what each pair counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.losses import PairWeights
from strategies import scored_rows


def as_matrix(pairs):
    found = np.zeros((pairs.n_rows, pairs.n_rows))
    for g in range(pairs.n_groups):
        plus, minus = slice(*pairs.plus_starts[g : g + 2]), slice(*pairs.minus_starts[g : g + 2])
        found[np.ix_(pairs.plus[plus], pairs.minus[minus])] = np.outer(
            pairs.plus_weight[plus], pairs.minus_weight[minus]
        )
    return found


@given(rows=scored_rows(), equal_groups=st.booleans())
def test_pairs_count_what_the_double_loop_says(rows, equal_groups):
    positive, _, weight, groups = rows
    expected = np.zeros((positive.size, positive.size))
    for i, j, u in reference.weighted_pairs(positive, weight, groups, equal_groups):
        expected[i, j] = u
    found = as_matrix(PairWeights.build(positive, weight, groups, equal_groups=equal_groups))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.sum() == pytest.approx(1.0)


def test_groups_of_one_class_are_counted():
    pairs = PairWeights.build(np.array([1, 0, 1, 1, 0], dtype=bool), groups=np.array(["a", "a", "b", "b", "c"]))
    assert (pairs.n_groups, pairs.one_class_groups, pairs.one_class_rows) == (1, 2, 3)


def test_no_pairs_are_an_error():
    with pytest.raises(ValueError, match="no pairs"):
        PairWeights.build(np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match="no group has rows of both classes"):
        PairWeights.build(np.array([True, False]), groups=np.array([1, 2]))
