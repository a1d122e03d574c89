from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.metrics import compare_roc_auc, ranked, roc_auc, roc_auc_interval
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import auc_of_classes, placement_spread


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
    assert roc_auc(y, s, sample_weight=w) == pytest.approx(reference.auc(y, s, w), abs=1e-12)
    assert roc_auc(y, s, sample_weight=np.ones(len(y))) == pytest.approx(roc_auc(y, s), abs=1e-12)


@given(scored())
def test_symmetries(case):
    y, s, _ = case
    assert roc_auc(y, -s) == pytest.approx(1 - roc_auc(y, s), abs=1e-12)
    assert roc_auc(~y, s) == pytest.approx(1 - roc_auc(y, s), abs=1e-12)
    assert roc_auc(y, np.exp(s) * 3 + 1) == pytest.approx(roc_auc(y, s), abs=1e-12)


def test_never_beyond_the_bounds(rng):
    """Perfectly separated, whatever the weights: 1 to the last digit, and 0 the other way round."""
    for _ in range(1000):
        m, n = rng.integers(1, 30, 2)
        y, w = np.arange(m + n) < m, rng.lognormal(sigma=2, size=m + n)
        s = rng.random(m + n) + 1.5 * y
        assert roc_auc(y, s) == roc_auc(y, s, sample_weight=w) == 1.0
        assert roc_auc(y, -s) == roc_auc(y, -s, sample_weight=w) == 0.0
    assert roc_auc([0, 0, 1, 1], [0, 1, 2, 3], sample_weight=[0.3, 1.1, 0.8, 0.6]) == 1.0


@given(scored())
def test_never_beyond_the_bounds_with_ties(case):
    y, s, w = case
    assert 0.0 <= roc_auc(y, s, sample_weight=w) <= 1.0
    assert 0.0 <= roc_auc(y, s) <= 1.0


def test_compiled_loops_and_threads_tell_the_same(rng, monkeypatch):
    y = rng.random(5000) < 0.3
    for s in (rng.standard_normal(5000) + y, rng.integers(0, 20, 5000) + 2 * y, np.zeros(5000), 1.0 * y):
        few = placement_spread(RankedScores(y, np.asarray(s, dtype=float)))
        with monkeypatch.context() as patch:
            patch.setattr(ranked, "MANY", 100)
            for n_threads in (1, 2, 5):
                for module in (ranked, import_module("mbauc.metrics.roc_auc")):
                    patch.setattr(module, "thread_count", lambda n_jobs, k=n_threads: k)
                many = RankedScores(y, np.asarray(s, dtype=float))
                assert placement_spread(many) == pytest.approx(few, abs=1e-12)
                for part, mask in zip(many.classes, (y, ~y), strict=True):
                    np.testing.assert_array_equal(part.values, np.sort(s[mask]))


def test_many_scores_do_not_overflow(rng):
    y = np.zeros(3_000_000, dtype=bool)
    y[::2] = True
    found = placement_spread(RankedScores(y, np.where(y, 1.0, 0.0)))
    assert found == (1.0, 0.0, 0.0)
    auc, plus, minus = placement_spread(RankedScores(y, rng.standard_normal(y.size)))
    assert auc == pytest.approx(0.5, abs=0.002)
    assert plus == pytest.approx(1 / 12, rel=0.01)
    assert minus == pytest.approx(1 / 12, rel=0.01)


@pytest.mark.parametrize(
    ("y", "s", "message"),
    [
        ([0, 0], [1.0, 2.0], "^y_true has one class only"),
        ([0, 1], [1.0], "^y_true has 2 labels and y_score 1 scores"),
        ([0, 1], [1.0, np.nan], "^y_score has NaN at row 1"),
        ([0, 1], [[1.0], [2.0]], "^y_score must be one-dimensional"),
    ],
)
def test_bad_input_is_named(y, s, message):
    for metric in (roc_auc, roc_auc_interval):
        with pytest.raises(ValueError, match=message):
            metric(y, s)
    with pytest.raises(ValueError, match=r"^scorer 'a': "):
        compare_roc_auc(y, {"a": s, "b": s})


def test_weights_must_leave_both_classes():
    with pytest.raises(ValueError, match="zero for all rows of a class"):
        roc_auc([0, 1, 1], [1.0, 2.0, 3.0], sample_weight=[0, 1, 1])
    with pytest.raises(ValueError, match=r"sample_weight.*one weight for each row"):
        roc_auc([0, 1, 1], [1.0, 2.0, 3.0], sample_weight=[1, 1])


SHAPES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "far from zero": lambda rng, n: 1e9 + rng.standard_normal(n),
    "two clusters far apart": lambda rng, n: rng.standard_normal(n) + 1e9 * rng.integers(0, 2, n),
    "an outlier": lambda rng, n: np.where(np.arange(n) == 7, 1e15, rng.standard_normal(n)),
    "beyond single precision": lambda rng, n: 1e60 * rng.standard_normal(n),
    "many ties": lambda rng, n: rng.integers(0, 30, n).astype(float),
    "all alike": lambda rng, n: np.full(n, 0.3),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.01, 0.8])
def test_rounding_of_many_scores_costs_next_to_nothing(rng, shape, share):
    """Of many rows scores are rounded before they are sorted; where ties come of it, they are not."""
    n = 30_000
    s = SHAPES[shape](rng, n)
    y = rng.random(n) < share
    s[y] += 0.5 * s.std() * rng.random(y.sum())
    before = s.copy()
    assert auc_of_classes(s[y], s[~y]) == pytest.approx(roc_auc(y, s), abs=1e-7)
    assert np.array_equal(s, before)


@given(scored())
def test_few_scores_are_ranked_as_they_are(case):
    y, s, _ = case
    assert auc_of_classes(s[y], s[~y]) == pytest.approx(reference.auc(y, s), abs=1e-12)
