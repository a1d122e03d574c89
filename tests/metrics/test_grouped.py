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
from mbauc.metrics import (
    compare_grouped_roc_auc,
    group_table,
    grouped_roc_auc,
    grouped_roc_auc_interval,
    roc_auc,
    roc_auc_interval,
)

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
    found = grouped_roc_auc(y, s, groups, sample_weight=w, equal_groups=equal)
    assert found == pytest.approx(reference.grouped_auc(y, s, groups, w, equal), abs=1e-12)
    assert 0.0 <= found <= 1.0


@given(grouped_rows())
def test_one_group_is_the_plain_auc(rows):
    y, s, _, w = rows
    for equal in (False, True):
        found = grouped_roc_auc(y, s, np.zeros(len(y)), sample_weight=w, equal_groups=equal)
        assert found == pytest.approx(roc_auc(y, s, sample_weight=w), abs=1e-12)


@given(grouped_rows(), st.booleans())
def test_what_must_not_matter_does_not(rows, equal):
    """A shift of each group, an increasing map, the names of groups; the other sign is the other way round."""
    y, s, groups, w = rows
    found = grouped_roc_auc(y, s, groups, sample_weight=w, equal_groups=equal)
    moved = np.exp(s) + 100.0 * groups
    names = np.array([f"user {g}" for g in groups])
    assert grouped_roc_auc(y, moved, groups, sample_weight=w, equal_groups=equal) == found
    assert grouped_roc_auc(y, s, names, sample_weight=w, equal_groups=equal) == pytest.approx(found, abs=1e-15)
    assert grouped_roc_auc(y, s, names.astype(object), sample_weight=w, equal_groups=equal) == pytest.approx(
        found, abs=1e-15
    )
    assert grouped_roc_auc(y, -s, groups, sample_weight=w, equal_groups=equal) == pytest.approx(
        1 - found, abs=1e-12
    )


@pytest.mark.parametrize("n_groups", [1 << 16, (1 << 16) + 1, 70_000])
def test_groups_beyond_two_bytes_are_counted_right(rng, n_groups):
    """Two rows of each class in each group, so that all of them have pairs."""
    plus, minus = (rng.integers(0, 5, (2, n_groups)).astype(float) for _ in range(2))
    won = [(high > low) + 0.5 * (high == low) for high in plus for low in minus]
    y, s, groups = np.arange(4).repeat(n_groups) < 2, np.concatenate([*plus, *minus]), np.arange(n_groups)
    order = rng.permutation(y.size)
    found = grouped_roc_auc(y[order], s[order], np.tile(groups, 4)[order])
    assert found == pytest.approx(np.mean(won), abs=1e-12)


def test_weights_of_very_different_size_do_not_cancel():
    y, s, groups = [0, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 3], [0, 0, 0, 1, 1, 1]
    w = [1e12, 1e12, 1e12, 1e-6, 1e-6, 2e-6]
    assert grouped_roc_auc(y, s, groups, sample_weight=w, equal_groups=True) == pytest.approx(
        (1 + 1 / 3) / 2, abs=1e-12
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_ranking_is_exactly_that_and_not_certain(rng, sign):
    y, groups, w = rng.random(500) < 0.4, rng.integers(0, 20, 500), rng.random(500) + 0.1
    for weight in (None, w):
        found = grouped_roc_auc_interval(y, sign * y, groups, sample_weight=weight)
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
        assert grouped_roc_auc([0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], sample_weight=[1, 1, 0, 1]) == 1.0


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
        (([0, 1], [1.0, np.nan], [1, 1]), "^y_score has NaN at row 1"),
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
    with pytest.raises(ValueError, match=r"^confidence must be"):
        grouped_roc_auc_interval(*rows, confidence=95)
    with pytest.raises(ValueError, match=r"^scale must be"):
        grouped_roc_auc_interval(*rows, scale="log")
    with pytest.raises(
        ValueError, match=r"^an interval needs at least 2 groups with rows of both classes, got 1\. "
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
    found = grouped_roc_auc_interval(y, s, groups, sample_weight=w, equal_groups=equal)
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
    with pytest.warns(
        FewRowsWarning,
        match="effective number of groups is .*; with fewer than 10 the confidence interval is unreliable",
    ) as told:
        grouped_roc_auc_interval(*sample(rng, 8, 0.3))
    assert told[0].filename == __file__
    with pytest.warns(
        FewRowsWarning, match=r"with fewer than \d\d at an AUC of 0.9\d\d\d the confidence interval is"
    ):
        grouped_roc_auc_interval(*sample(rng, 15, 2.5, 0.0), equal_groups=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grouped_roc_auc_interval(*sample(rng, 60, 1.2))


# -- comparison -----------------------------------------------------------------------------------------------


@given(grouped_rows(), st.booleans())
def test_scorers_are_compared_group_by_group(rows, equal):
    """The difference is that of the means, its error that of the gaps of the groups."""
    y, s, groups, w = rows
    other = np.roll(s, 1)
    shown = groups < 3  # so that there may be one group, which has no spread
    y, s, other, groups = y[shown], s[shown], other[shown], groups[shown]
    w = None if w is None else w[shown]
    settings = {"equal_groups": equal}
    one, two = (grouped_roc_auc(y, scores, groups, sample_weight=w, **settings) for scores in (s, other))
    mass = np.ones(y.size) if w is None else w
    gaps, pairs = [], []
    for g in np.unique(groups):
        mine = groups == g
        if mass[mine & y].sum() * mass[mine & ~y].sum() > 0:
            pairs.append(1.0 if equal else mass[mine & y].sum() * mass[mine & ~y].sum())
            first, second = (reference.auc(y[mine], scores[mine], mass[mine]) for scores in (s, other))
            gaps.append(first - second)
    if len(gaps) == 1:
        with pytest.raises(ValueError, match="needs at least 2 groups"):
            compare_grouped_roc_auc(y, [s, other], groups, sample_weight=w, **settings)
        return
    found = compare_grouped_roc_auc(y, [s, other], groups, sample_weight=w, **settings)
    assert found.auc == pytest.approx([one, two], abs=1e-12)
    assert found.difference[0, 1] == pytest.approx(one - two, abs=1e-12)
    share = np.array(pairs) / sum(pairs)
    apart = np.array(gaps) - share @ gaps
    assert found.stderr[0, 1] == pytest.approx(np.sqrt(sum((share * apart) ** 2 / (1 - share))), abs=1e-7)
    if found.stderr[0, 1] > 1e-6:
        value = abs(found.difference[0, 1]) / found.stderr[0, 1]
        p_value = 2 * student.sf(value, 1 / sum(share**2) - 1)
        assert found.p_value[0, 1] == pytest.approx(p_value, abs=1e-6)


def test_the_scorer_nearest_to_a_perfect_one_says_how_many_groups_are_few(rng):
    y, s, groups = sample(rng, 15, 2.5, 0.0)
    with pytest.warns(FewRowsWarning, match=r"with fewer than \d\d at an AUC of 0.9\d\d\d the confidence"):
        compare_grouped_roc_auc(y, [rng.standard_normal(y.size), s], groups, equal_groups=True)


def test_scorers_that_rank_groups_alike_do_not_differ(rng):
    y, s, groups = sample(rng, 40, 1.0)
    w = rng.random(y.size) + 0.1
    found = compare_grouped_roc_auc(y, {"a": s, "b": s + 7 * groups}, groups, sample_weight=w)
    assert (found.difference[0, 1], found.stderr[0, 1], found.p_value[0, 1]) == (0.0, 0.0, 1.0)


def test_no_difference_is_found_one_time_of_twenty(rng):
    found = 0
    for _ in range(300):
        y, s, groups = sample(rng, 15, 1.0)
        noise = rng.standard_normal((2, y.size))
        found += compare_grouped_roc_auc(y, s + noise, groups).p_value[0, 1] < 0.05
    assert found / 300 < 0.09


def test_a_scorer_with_a_flaw_is_named():
    with pytest.raises(ValueError, match=r"^scorer 'b': the score of row 0 is NaN"):
        compare_grouped_roc_auc([0, 1], {"a": [1, 2], "b": [np.nan, 2]}, [0, 0])


# -- the table of groups --------------------------------------------------------------------------------------


@given(grouped_rows())
def test_the_table_holds_the_groups_one_by_one(rows):
    y, s, groups, w = rows
    table = group_table(y, s, groups, sample_weight=w)
    mass = np.ones(y.size) if w is None else w
    lost = {}
    for k, g in enumerate(table.group):
        mine = groups == g
        assert table.auc[k] == pytest.approx(reference.auc(y[mine], s[mine], mass[mine]), abs=1e-12)
        assert table.rows[k] == pytest.approx(mass[mine].sum())
        assert table.positives[k] == pytest.approx(mass[mine & y].sum())
        lost[g] = mass[mine & y].sum() * mass[mine & ~y].sum() * (1 - table.auc[k])
    with_pairs = [
        g for g in np.unique(groups) if mass[(groups == g) & y].any() and mass[(groups == g) & ~y].any()
    ]
    assert sorted(table.group) == with_pairs
    assert table.n_groups == len(with_pairs)
    assert list(table.lost) == sorted(table.lost, reverse=True)
    assert table.share.sum() == pytest.approx(1.0)
    if sum(lost.values()) > 1e-9:
        assert table.lost == pytest.approx([lost[g] / sum(lost.values()) for g in table.group], abs=1e-9)
    auc = sum(table.share * table.auc)
    assert auc == pytest.approx(grouped_roc_auc(y, s, groups, sample_weight=w), abs=1e-12)


def test_the_interval_of_a_group_is_delongs(rng):
    y, s, groups = sample(rng, 5, 1.0)
    table = group_table(y, s, groups)
    for k, g in enumerate(table.group):
        mine = groups == g
        if 2 <= y[mine].sum() <= mine.sum() - 2:
            found = roc_auc_interval(y[mine], s[mine])
            assert (table.low[k], table.high[k]) == (found.low, found.high)
        else:
            assert np.isnan(table.low[k])


@pytest.mark.parametrize(
    ("sort", "column", "sign"), [("lost", "lost", -1), ("pairs", "share", -1), ("auc", "auc", 1)]
)
def test_only_the_first_groups_are_kept(rng, sort, column, sign):
    y, s, groups = sample(rng, 300, 1.0)
    whole, some = (group_table(y, s, groups, sort=sort, most=most) for most in (300, 7))
    assert some.group.tolist() == whole.group[:7].tolist()
    assert getattr(some, column) == pytest.approx(getattr(whole, column)[:7])
    assert (np.diff(sign * getattr(whole, column)) >= 0).all()
    assert some.n_groups == 300


def test_the_table_counts_what_it_leaves_out():
    with pytest.warns(OneClassGroupsWarning):
        table = group_table([0, 1, 1, 1], [0, 1, 0, 1], ["a", "a", "b", "c"])
    assert (table.n_groups, table.one_class_groups, table.one_class_rows) == (1, 2, 2)
    for settings, message in (
        ({"sort": "size"}, "^sort must be"),
        ({"most": 0}, "^most must be a whole number"),
    ):
        with pytest.raises(ValueError, match=message):
            group_table([0, 1], [0, 1], [0, 0], **settings)
