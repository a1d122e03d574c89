import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.metrics import roc_auc, roc_auc_interval


@st.composite
def scored(draw):
    n = draw(st.integers(2, 15))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n)))
    return y, s, w


@given(scored())
def test_equals_the_double_loop(case):
    y, s, w = case
    assert roc_auc(y, s) == pytest.approx(reference.auc(y, s), abs=1e-12)
    assert roc_auc(y, s, w) == pytest.approx(reference.auc(y, s, w), abs=1e-12)
    assert roc_auc(y, s, np.ones(len(y))) == pytest.approx(roc_auc(y, s), abs=1e-12)


@given(scored())
def test_symmetries(case):
    y, s, _ = case
    assert roc_auc(y, -s) == pytest.approx(1 - roc_auc(y, s), abs=1e-12)
    assert roc_auc(~y, s) == pytest.approx(1 - roc_auc(y, s), abs=1e-12)
    assert roc_auc(y, np.exp(s) * 3 + 1) == pytest.approx(roc_auc(y, s), abs=1e-12)


def test_interval_covers_and_has_the_right_width(rng):
    hits, widths, estimates = 0, [], []
    truth = 0.7602499389065233  # Φ(1/√2)
    y = np.arange(600) < 100
    for _ in range(300):
        interval = roc_auc_interval(y, rng.standard_normal(600) + y)
        hits += interval.low <= truth <= interval.high
        widths.append(interval.stderr)
        estimates.append(interval.auc)
    assert 0.91 < hits / 300 < 0.985
    assert np.mean(widths) == pytest.approx(np.std(estimates), rel=0.15)


def test_interval_matches_the_definition_of_delong():
    y = np.array([1, 1, 1, 0, 0, 0, 0])
    s = np.array([3.0, 1.0, 2.0, 2.0, 0.0, 1.5, -1.0])
    wins = (s[:3, None] > s[None, 3:]) + 0.5 * (s[:3, None] == s[None, 3:])
    variance = wins.mean(1).var(ddof=1) / 3 + wins.mean(0).var(ddof=1) / 4
    interval = roc_auc_interval(y, s)
    assert interval.auc == pytest.approx(wins.mean())
    assert interval.stderr == pytest.approx(np.sqrt(variance))
    assert 0 < interval.low < interval.auc < interval.high < 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_ranking_is_not_certain(sign):
    y = np.repeat([0, 1], 50)
    interval = roc_auc_interval(y, sign * y)
    assert interval.auc == (sign + 1) / 2
    assert interval.high - interval.low == pytest.approx(1 - 0.025 ** (1 / 50))
    assert 0 <= interval.low <= interval.auc <= interval.high <= 1


@pytest.mark.parametrize(
    ("y", "s", "message"),
    [
        ([0, 0], [1.0, 2.0], "one class only"),
        ([0, 1], [1.0], "2 labels and there are 1 scores"),
        ([0, 1], [1.0, np.nan], "row 1 is NaN"),
        ([0, 1], [[1.0], [2.0]], "one-dimensional"),
    ],
)
def test_bad_input_is_named(y, s, message):
    for metric in (roc_auc, roc_auc_interval):
        with pytest.raises(ValueError, match=message):
            metric(y, s)
    with pytest.raises(ValueError, match="at least 2 rows of each class"):
        roc_auc_interval([0, 0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="zero for all rows of a class"):
        roc_auc([0, 1, 1], [1.0, 2.0, 3.0], [0, 1, 1])
    with pytest.raises(ValueError, match="confidence"):
        roc_auc_interval([0, 1], [0.0, 1.0], confidence=95)
