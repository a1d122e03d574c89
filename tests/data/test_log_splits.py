import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.data import ForwardSplit, group_split, stratified_halves, time_split

SHARES = st.floats(0.01, 0.99)
TIMES = st.lists(st.integers(0, 8), min_size=2, max_size=30).filter(lambda times: len(set(times)) > 1)


def is_partition(first, second, n):
    return np.array_equal(np.sort(np.r_[first, second]), np.arange(n)) and first.size > 0 and second.size > 0


@given(st.integers(2, 20), st.integers(2, 20), st.integers(0, 5))
def test_halves_have_half_of_each_class(positives, negatives, seed):
    y = np.random.default_rng(seed).permutation([1] * positives + [0] * negatives)
    first, second = stratified_halves(y, random_state=seed)
    assert is_partition(first, second, y.size)
    assert (y[first].sum(), y[second].sum()) == ((positives + 1) // 2, positives // 2)
    assert ((y[first] == 0).sum(), (y[second] == 0).sum()) == ((negatives + 1) // 2, negatives // 2)
    np.testing.assert_array_equal(first, stratified_halves(y, random_state=seed)[0])
    assert (np.diff(first) > 0).all()


def test_halves_are_random_and_take_any_two_labels():
    y = np.array(["no", "yes"] * 100)
    first, _ = stratified_halves(y, random_state=0)
    other, _ = stratified_halves(y, random_state=1)
    assert not np.array_equal(first, other)


def test_every_row_is_as_often_in_the_first_half():
    counts = np.zeros(8)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        counts[stratified_halves([0, 0, 0, 0, 1, 1, 1, 1], rng)[0]] += 1
    assert np.abs(counts - 1000).max() < 6 * np.sqrt(500)


@given(TIMES, SHARES)
def test_training_rows_are_earlier_than_test_rows(times, share):
    times = np.array(times)
    train, test = time_split(times, share)
    assert is_partition(train, test, times.size)
    assert times[train].max() < times[test].min()
    # no other cut comes nearer to the share
    sizes = [(times >= cut).sum() for cut in np.unique(times)[1:]]
    assert abs(test.size - share * times.size) <= min(abs(size - share * times.size) for size in sizes) + 1e-9


@pytest.mark.parametrize(
    "times",
    [
        ["2024-05-03", "2024-05-01", "2024-05-02", "2024-05-02"],
        np.array(["2024-05-03", "2024-05-01", "2024-05-02", "2024-05-02"], dtype="datetime64[D]"),
        pd.to_datetime(pd.Series(["2024-05-03", "2024-05-01", "2024-05-02", "2024-05-02"])),
        [3.0, 1.0, 2.0, 2.0],
    ],
    ids=["text", "datetime64", "pandas", "numbers"],
)
def test_times_of_any_kind(times):
    train, test = time_split(times, 0.25)
    assert (train.tolist(), test.tolist()) == ([1, 2, 3], [0])


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1), SHARES)
def test_no_group_is_on_both_sides(groups, share):
    groups = np.array(groups)
    train, test = group_split(groups, share, random_state=3)
    assert is_partition(train, test, groups.size)
    assert not set(groups[train]) & set(groups[test])
    np.testing.assert_array_equal(test, group_split(groups, share, random_state=3)[1])


def test_the_share_is_one_of_rows():
    rng = np.random.default_rng(0)
    groups = rng.zipf(1.5, 5000) % 500
    sizes = [group_split(groups, 0.3, random_state=seed)[1].size for seed in range(200)]
    assert abs(np.median(sizes) - 1500) < 150


@given(TIMES, st.integers(1, 4))
def test_forward_splits_keep_ties_together(times, n_splits):
    times = np.array(times)
    splitter = ForwardSplit(n_splits)
    assert splitter.get_n_splits() == n_splits
    if np.unique(times).size <= n_splits:
        with pytest.raises(ValueError, match="distinct times, but n_splits="):
            list(splitter.split(times, groups=times))
        return
    pairs = list(splitter.split(times, groups=times))
    assert len(pairs) == n_splits
    tested = np.concatenate([test for _, test in pairs])
    assert np.unique(tested).size == tested.size
    for train, test in pairs:
        assert times[train].max() < times[test].min()
    for (train, test), (later, _) in itertools.pairwise(pairs):
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), later)
    assert sorted(np.r_[pairs[-1][0], pairs[-1][1]]) == list(range(times.size))


def test_scikit_learn_and_our_cross_validation_take_forward_splits(table):
    X, y = table
    hours = np.arange(600) // 25
    scores = cross_val_score(MBAClassifier(), X, y, groups=hours, cv=ForwardSplit(3), scoring="roc_auc")
    assert scores.shape == (3,)
    ranker = MBAClassifierCV(cv=ForwardSplit(3)).fit(X, y, groups=hours)
    assert ranker.coef_.shape == (1, 6)


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match="y has 1 positive row; at least 2 of each class"):
        stratified_halves([0, 0, 1])
    with pytest.raises(ValueError, match=r"time has one value only \(3 rows\)"):
        time_split([5, 5, 5])
    with pytest.raises(
        ValueError, match="test_share must be a finite number greater than 0 and less than 1, got 1"
    ):
        time_split([1, 2], 1)
    with pytest.raises(ValueError, match="time has no value at row 1"):
        time_split([1.0, np.nan])
    with pytest.raises(ValueError, match="time has no value at row 0"):
        time_split(pd.Series([pd.NA, 2], dtype=object))
    with pytest.raises(ValueError, match="time mixes types"):
        time_split(np.array([1, "b"], dtype=object))
    with pytest.raises(ValueError, match="groups mixes types"):
        group_split(np.array([1, "b"], dtype=object))
    with pytest.raises(ValueError, match="groups mixes numbers and texts"):
        group_split([1, "1", 2])
    with pytest.raises(ValueError, match=r"groups has one group only \(2 rows\)"):
        group_split(["a", "a"])
    with pytest.raises(ValueError, match="groups has no value at row 2"):
        group_split(["a", "b", None])
    with pytest.raises(ValueError, match=r"groups must hold one value for each row, got shape \(2, 2\)"):
        group_split(np.ones((2, 2)))
    with pytest.raises(ValueError, match="pass groups=time"):
        list(ForwardSplit().split(np.ones((3, 1))))
