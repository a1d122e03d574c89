import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import reference
from mbauc.metrics import partial_roc_auc, roc_auc


@st.composite
def scored(draw):
    n = draw(st.integers(2, 25))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n)))
    return y, s, w


shares = st.floats(0.01, 1.0)


@given(scored(), shares, st.floats(0.0, 0.99))
def test_equals_the_integral(case, max_fpr, min_tpr):
    y, s, w = case
    for weight in (None, w):
        area = partial_roc_auc(y, s, weight, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
        assert area == pytest.approx(reference.partial_area(y, s, max_fpr, min_tpr, weight), abs=1e-4)


@given(scored(), shares)
def test_equals_scikit_learn_one_way(case, max_fpr):
    y, s, w = case
    if max_fpr < 1:
        assert partial_roc_auc(y, s, max_fpr=max_fpr) == pytest.approx(
            roc_auc_score(y, s, max_fpr=max_fpr), abs=1e-9
        )
        assert partial_roc_auc(y, s, w, max_fpr=max_fpr) == pytest.approx(
            roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=w), abs=1e-9
        )
    assert partial_roc_auc(y, s) == pytest.approx(roc_auc(y, s), abs=1e-12)


@given(scored(), shares, st.floats(0.0, 0.99))
def test_both_ways_are_the_same_region_seen_from_the_other_class(case, max_fpr, min_tpr):
    """Swapping the classes and the sign of the scores mirrors the curve at the falling diagonal."""
    y, s, _ = case
    here = partial_roc_auc(y, s, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
    there = partial_roc_auc(~y, -s, max_fpr=1 - min_tpr, min_tpr=1 - max_fpr, standardized=False)
    assert here == pytest.approx(there, abs=1e-9)


def test_chance_is_one_half_and_perfection_one(rng):
    y = np.arange(40_000) % 2
    for region in ({"max_fpr": 0.2}, {"min_tpr": 0.7}, {"max_fpr": 0.6, "min_tpr": 0.3}):
        assert partial_roc_auc(y, y, **region) == pytest.approx(1.0)
        assert partial_roc_auc(y, np.zeros(y.size), **region) == pytest.approx(0.5)
        assert partial_roc_auc(y, rng.random(y.size), **region) == pytest.approx(0.5, abs=0.01)
    assert partial_roc_auc(y, np.zeros(y.size), max_fpr=0.3, min_tpr=0.7) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_fpr": 0.0}, "max_fpr must be"),
        ({"max_fpr": 1.2}, "max_fpr must be"),
        ({"min_tpr": 1.0}, "min_tpr must be .* less than 1"),
        ({"min_tpr": -0.1}, "min_tpr must be"),
        ({"standardized": "yes"}, "standardized must be True or False"),
        ({"sample_weight": [1.0]}, "one weight for each row"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        partial_roc_auc([0, 1], [0.0, 1.0], **settings)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_are_ties_whatever_their_order(value):
    for y in ([1] * 50 + [0] * 50, [0] * 50 + [1] * 50):
        assert partial_roc_auc(y, np.full(100, value)) == pytest.approx(0.5)
