"""Scores of several folds as one test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc import TableRanker
from mbauc.metrics import roc_auc
from mbauc.model import testing


def folds(seed, weighted):
    rng = np.random.default_rng(seed)
    for shift in rng.normal(0.0, 3.0, 4):
        y = np.r_[1, 0, rng.integers(0, 2, 10)].astype(np.int8)
        s = y + rng.standard_normal(y.size) + shift
        yield testing.Tested(y, s, rng.integers(1, 4, y.size).astype(float) if weighted else None)


@given(st.integers(0, 1000), st.booleans())
def test_folds_are_shifted_to_one_midpoint(seed, weighted):
    parts = list(folds(seed, weighted))
    joined = testing.Tested.join(parts)
    for k, part in enumerate(parts):
        own = slice(12 * k, 12 * k + 12)
        moved = testing.Tested(
            joined.y[own], joined.s[own], None if part.weight is None else joined.weight[own]
        )
        np.testing.assert_array_equal(moved.y, part.y)
        # within a fold nothing changes but the shift
        np.testing.assert_allclose(np.diff(moved.s), np.diff(part.s), atol=1e-12)
        assert moved.midpoint == pytest.approx(np.mean([one.midpoint for one in parts]), abs=1e-12)


def test_one_test_is_left_alone():
    [part, *_] = folds(0, weighted=False)
    assert testing.Tested.join([part]) is part
    assert testing.Tested.join([]) is None


def test_a_fold_of_one_class_is_shifted_by_its_mean():
    alone = testing.Tested(np.ones(4, dtype=np.int8), np.array([1.0, 2.0, 3.0, 6.0]), None)
    assert alone.midpoint == 3.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbauc.errors.MbaucWarning")
def test_noise_has_an_auc_of_a_half():
    """Without the shift the mean of these is 0.460, more than three standard errors below."""
    pd = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 200)
        table = pd.DataFrame(rng.standard_normal((200, 2)), columns=["a", "b"])
        ranker = TableRanker("linear", loss="squared", refit=True, random_state=seed).fit(table, y)
        found.append(roc_auc(ranker.tested_.y, ranker.tested_.s))
    assert np.mean(found) == pytest.approx(0.5, abs=3 * np.std(found) / np.sqrt(len(found)))
