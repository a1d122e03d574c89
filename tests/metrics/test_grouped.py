"""AUC within groups: the double loop, its invariances, and an interval over groups."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import t as student

import reference
from mbauc.errors import FewRowsWarning, OneClassGroupsWarning
from mbauc.metrics import grouped_roc_auc, grouped_roc_auc_interval, roc_auc

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning"),
    pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning"),
]


@st.composite
def grouped_rows(draw):
    """(y, s, groups, weights or None) with a pair in at least one group; many ties, some weights of zero."""
    n = draw(st.integers(2, 24))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    groups = np.array([0, 0, *draw(st.lists(st.integers(0, 4), min_size=n - 2, max_size=n - 2))])
    w = None
    if draw(st.booleans()):
        w = np.array(draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5, 1e-3]), min_size=n, max_size=n)))
        w[:2] = 1.0
    order = np.array(draw(st.permutations(range(n))))
    return y[order], s[order], groups[order], None if w is None else w[order]


@given(grouped_rows(), st.booleans())
def test_it_is_the_share_of_pairs_within_groups_won(rows, equal):
    y, s, groups, w = rows
    found = grouped_roc_auc(y, s, groups, w, equal_groups=equal)
    assert found == pytest.approx(reference.grouped_auc(y, s, groups, w, equal), abs=1e-12)
    assert 0.0 <= found <= 1.0


@given(grouped_rows())
def test_one_group_is_the_plain_auc(rows):
    y, s, _, w = rows
    for equal in (False, True):
        found = grouped_roc_auc(y, s, np.zeros(len(y)), w, equal_groups=equal)
        assert found == pytest.approx(roc_auc(y, s, w), abs=1e-12)


@given(grouped_rows(), st.booleans())
def test_what_must_not_matter_does_not(rows, equal):
    """A shift of each group, an increasing map, the names of groups; the other sign is the other way round."""
    y, s, groups, w = rows
    found = grouped_roc_auc(y, s, groups, w, equal_groups=equal)
    moved = np.exp(s) + 100.0 * groups
    names = np.array([f"user {g}" for g in groups])
    assert grouped_roc_auc(y, moved, groups, w, equal_groups=equal) == found
    assert grouped_roc_auc(y, s, names, w, equal_groups=equal) == pytest.approx(found, abs=1e-15)
    assert grouped_roc_auc(y, s, names.astype(object), w, equal_groups=equal) == pytest.approx(found, abs=1e-15)
    assert grouped_roc_auc(y, -s, groups, w, equal_groups=equal) == pytest.approx(1 - found, abs=1e-12)


def test_groups_beyond_two_bytes_are_counted_right(rng):
    n = 150_000
    groups = rng.integers(0, 70_000, n)
    y, s = rng.random(n) < 0.5, rng.integers(0, 5, n).astype(float)
    order = np.argsort(groups, kind="stable")
    won = total = 0.0
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        plus, minus = s[rows[y[rows]]], s[rows[~y[rows]]]
        won += (plus[:, None] > minus).sum() + 0.5 * (plus[:, None] == minus).sum()
        total += plus.size * minus.size
    assert grouped_roc_auc(y, s, groups) == pytest.approx(won / total, abs=1e-12)


def test_weights_of_very_different_size_do_not_cancel():
    y, s, groups = [0, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 3], [0, 0, 0, 1, 1, 1]
    w = [1e12, 1e12, 1e12, 1e-6, 1e-6, 2e-6]
    assert grouped_roc_auc(y, s, groups, w, equal_groups=True) == pytest.approx((1 + 1 / 3) / 2, abs=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_ranking_is_exactly_that_and_not_certain(rng, sign):
    y, groups, w = rng.random(500) < 0.4, rng.integers(0, 20, 500), rng.random(500) + 0.1
    for weight in (None, w):
        found = grouped_roc_auc_interval(y, sign * y, groups, weight)
        assert (found.auc, found.stderr) == ((sign + 1) / 2, 0.0)
        assert 0.01 < found.high - found.low < 0.5


# -- groups of one class --------------------------------------------------------------------------------------


def test_groups_of_one_class_are_counted_and_said():
    y, s, groups = [0, 1, 1, 1, 0], [0, 1, 0, 1, 5], ["a", "a", "b", "b", "c"]
    with pytest.warns(
        OneClassGroupsWarning, match=r"^2 of 3 groups have rows of one class only \(3 rows in all\)"
    ) as told:
        assert grouped_roc_auc(y, s, groups) == 1.0
    assert told[0].filename == __file__


def test_a_group_whose_other_class_has_no_weight_has_one_class():
    with pytest.warns(OneClassGroupsWarning, match="^1 of 2 groups"):
        assert grouped_roc_auc([0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1]) == 1.0


def test_groups_with_both_classes_are_not_warned_of(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grouped_roc_auc([0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ([0, 1], [1.0, 2.0], [1, 2, 3]),
            r"^groups must have a value for each of the 2 rows, got shape \(3,\)",
        ),
        (([0, 1], [1.0, 2.0], [1.0, np.nan]), "^groups has no value at row 1; "),
        (([0, 1], [1.0, 2.0], ["a", None]), "^groups has no value at row 1; "),
        (([0, 1], [1.0, 2.0], [1, 2]), r"^no group has rows of both classes \(2 groups\)"),
        (([0, 1], [1.0, np.nan], [1, 1]), "^the score of row 1 is NaN"),
        (([1, 1], [1.0, 2.0], [1, 1]), "one class only"),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        grouped_roc_auc(*given)


def test_bad_settings_are_named():
    rows = [0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0], [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"^equal_groups must be True or False, got 'yes'"):
        grouped_roc_auc(*rows, equal_groups="yes")
    with pytest.raises(ValueError, match=r"^confidence must lie"):
        grouped_roc_auc_interval(*rows, confidence=95)
    with pytest.raises(ValueError, match=r"^scale must be"):
        grouped_roc_auc_interval(*rows, scale="log")
    with pytest.raises(
        ValueError, match=r"^an interval needs at least 2 groups with rows of both classes, got 1; "
    ):
        grouped_roc_auc_interval([0, 1, 1], [0.0, 1.0, 1.0], [0, 0, 1])


# -- the interval ---------------------------------------------------------------------------------------------


@given(grouped_rows(), st.booleans())
def test_the_interval_follows_its_definition(rows, equal):
    y, s, groups, w = rows
    w = np.ones(len(y)) if w is None else w
    aucs, pairs = [], []
    for g in np.unique(groups):
        mine = groups == g
        plus, minus = w[mine & y].sum(), w[mine & ~y].sum()
        if plus * minus > 0:
            pairs.append(1.0 if equal else plus * minus)
            aucs.append(reference.auc(y[mine], s[mine], w[mine]))
    assume(len(aucs) > 1)
    share, aucs = np.array(pairs) / sum(pairs), np.array(aucs)
    auc = sum(share * aucs)
    variance = sum((p * (a - auc)) ** 2 / (1 - p) for p, a in zip(share, aucs, strict=True))
    found = grouped_roc_auc_interval(y, s, groups, w, equal_groups=equal)
    assert found.auc == pytest.approx(auc, abs=1e-12)
    assert found.stderr == pytest.approx(np.sqrt(variance), abs=1e-9)
    if 0.01 < auc < 0.99 and variance > 1e-9:
        half = student.ppf(0.975, 1 / sum(share**2) - 1) * found.stderr
        assert (found.low, found.high) == pytest.approx(
            tuple(expit(logit(auc) + sign * half / (auc * (1 - auc))) for sign in (-1, 1)), abs=1e-6
        )


def test_equal_groups_have_the_interval_of_a_mean(rng):
    groups = np.repeat(np.arange(30), 8)
    y = np.tile([1, 1, 1, 0, 0, 0, 0, 0], 30)
    s = rng.standard_normal(240) + y
    aucs = [roc_auc(y[groups == g], s[groups == g]) for g in range(30)]
    for equal in (False, True):
        found = grouped_roc_auc_interval(y, s, groups, equal_groups=equal, scale="linear")
        half = student.ppf(0.975, 29) * np.std(aucs, ddof=1) / np.sqrt(30)
        assert (found.low, found.high) == pytest.approx((np.mean(aucs) - half, np.mean(aucs) + half))


def sample(rng, n_groups, shift, spread=0.7):
    """Groups of 2 to 40 rows with AUCs that differ."""
    sizes = np.minimum(2 + rng.geometric(0.15, n_groups), 40)
    groups = np.repeat(np.arange(n_groups), sizes)
    y = rng.random(groups.size) < 0.3
    y[np.cumsum(sizes) - 1], y[np.cumsum(sizes) - 2] = True, False
    effect = shift + spread * rng.standard_normal(n_groups)
    return (
        y,
        rng.standard_normal(groups.size) + y * effect[groups] + 9 * rng.standard_normal(n_groups)[groups],
        groups,
    )


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("n_groups", [12, 60])
def test_a_95_percent_interval_holds_the_truth_19_times_of_20(rng, n_groups, equal):
    truth = grouped_roc_auc(*sample(rng, 60_000, 1.2), equal_groups=equal)
    hits = 0
    for _ in range(400):
        found = grouped_roc_auc_interval(*sample(rng, n_groups, 1.2), equal_groups=equal)
        hits += found.low <= truth <= found.high
    assert 0.91 <= hits / 400 <= 0.985


def test_few_groups_are_warned_of(rng):
    with pytest.warns(FewRowsWarning, match="equal ones; with fewer than 10 the interval is rough") as told:
        grouped_roc_auc_interval(*sample(rng, 8, 0.3))
    assert told[0].filename == __file__
    with pytest.warns(
        FewRowsWarning, match=r"with fewer than \d\d at an AUC of 0.9\d\d\d the interval is rough"
    ):
        grouped_roc_auc_interval(*sample(rng, 15, 2.5, 0.0), equal_groups=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grouped_roc_auc_interval(*sample(rng, 60, 1.2))
