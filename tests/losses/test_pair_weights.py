"""Which rows are paired, and what each pair counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.losses import LOSSES, PairWeights, get_loss
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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weight": np.ones(2)}, r"weight must have a value for each of the 3 rows, got shape \(2,\)"),
        ({"groups": np.ones(4)}, r"groups must have a value for each of the 3 rows, got shape \(4,\)"),
        ({"weight": np.array([1.0, np.nan, 1.0])}, "weight must be finite and not negative, got nan for row 1"),
        (
            {"weight": np.array([1.0, 1.0, -2.0])},
            r"weight must be finite and not negative, got -2\.0 for row 2",
        ),
        ({"weight": np.array([np.inf, 1.0, 1.0])}, "weight must be finite and not negative, got inf for row 0"),
    ],
)
def test_what_does_not_fit_the_rows_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        PairWeights.build(np.array([True, False, True]), **given)


@pytest.mark.parametrize("scores", [np.zeros(2), np.zeros(4), np.zeros((3, 2))])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_scores_of_other_rows_are_refused(loss, scores):
    pairs = PairWeights.build(np.array([True, False, True]))
    with pytest.raises(ValueError, match="scores must have a value for each of the 3 rows, got shape"):
        _ = get_loss(loss).expand(pairs, scores).value
