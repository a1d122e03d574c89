"""AUC and DeLong's interval from ranges of scores are those of all scores at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from local_parts import LocalParts, cut
from mbauc import metrics
from mbauc.errors import FewRowsWarning, PartError
from mbauc.metrics.parts_auc import ReadScores
from mbauc.metrics.rank_sums import RankSums
from mbauc.metrics.ranked import RankedScores

SCORES = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(allow_nan=False),
    st.sampled_from([np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.7e308]),
)


@st.composite
def scored(draw, least=1, max_rows=30):
    """(y, s, weight or None) with so many rows of positive weight of each class."""
    y = [1, 0] * least + draw(st.lists(st.integers(0, 1), max_size=max_rows))
    s = draw(st.lists(SCORES, min_size=len(y), max_size=len(y)))
    weight = None
    if draw(st.booleans()):
        more = len(y) - 2 * least
        weights = st.sampled_from([0.0, 1.0, 2.0, 0.25, 7.5])
        weight = np.array([1.5] * (2 * least) + draw(st.lists(weights, min_size=more, max_size=more)))
    return np.array(y), np.array(s), weight


def in_ranges(y, s, weight, cuts):
    """Sums over the ranges between the cuts, merged from below."""
    s = s + 0.0
    place = np.searchsorted(np.unique(cuts), s, side="left") if len(cuts) else np.zeros(s.size, dtype=int)
    ranges = [
        RankSums.of(RankedScores(y[own] == 1, s[own], None if weight is None else weight[own]))
        for own in (place == k for k in range(len(np.unique(cuts)) + 1))
    ]
    return sum(ranges[1:], ranges[0])


@given(scored(), st.lists(SCORES, max_size=5))
def test_auc_by_definition(case, cuts):
    y, s, weight = case
    sums = in_ranges(y, s, weight, cuts)
    assert sums.auc == pytest.approx(reference.auc(y == 1, s, weight), abs=1e-13)
    used = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    assert sums.counts == (int((used & (y == 1)).sum()), int((used & (y == 0)).sum()))


@given(scored(least=3), st.lists(SCORES, max_size=5), st.sampled_from(["logit", "linear"]))
@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_the_interval_is_that_of_one_machine(case, cuts, scale):
    y, s, weight = case
    ours = in_ranges(y, s, weight, cuts).interval(0.9, scale)
    meaning = None if weight is None else "frequency"
    local = metrics.roc_auc_interval(y, s, sample_weight=weight, weights=meaning, confidence=0.9, scale=scale)
    assert ours.auc == pytest.approx(local.auc, abs=1e-13)
    assert ours.stderr == pytest.approx(local.stderr, rel=1e-7, abs=1e-12)
    assert (ours.low, ours.high) == pytest.approx((local.low, local.high), abs=1e-6)


@given(scored(least=2), st.lists(SCORES, max_size=3))
def test_the_variance_by_definition(case, cuts):
    y, s, _ = case
    assert in_ranges(y, s, None, cuts).variance == pytest.approx(reference.delong(y == 1, s)[1], abs=1e-13)


@given(scored(max_rows=12), st.lists(SCORES, min_size=2, max_size=4))
def test_merging_from_the_left_or_from_the_right(case, cuts):
    y, s, weight = case
    s, cuts = s + 0.0, np.unique(np.array(cuts) + 0.0)
    place = np.searchsorted(cuts, s, side="left")
    ranges = [
        RankSums.of(
            RankedScores(y[place == k] == 1, s[place == k], None if weight is None else weight[place == k])
        )
        for k in range(cuts.size + 1)
    ]
    left = sum(ranges, RankSums())
    right = ranges[-1]
    for one in ranges[-2::-1]:
        right = one + right
    assert left.counts == right.counts
    np.testing.assert_allclose(left.auc, right.auc, rtol=1e-13)
    np.testing.assert_allclose(left.below_spread, right.below_spread, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gap", [100.0, 9.0, 5.0, -100.0])
def test_scores_that_rank_almost_perfectly_keep_their_digits(weighted, gap):
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.1).astype(int)
    s = rng.standard_normal(20_000) + gap * y
    weight = rng.uniform(0.1, 3.0, 20_000) if weighted else None
    meaning = "frequency" if weighted else None
    local = metrics.roc_auc_interval(y, s, sample_weight=weight, weights=meaning)
    for cuts in ([], np.quantile(s, [0.2, 0.5, 0.89, 0.9, 0.95])):
        ours = in_ranges(y, s, weight, cuts).interval(0.95, "logit")
        assert ours.auc == pytest.approx(local.auc, abs=1e-15)
        assert ours.stderr == pytest.approx(local.stderr, rel=1e-6, abs=0.0)
        assert (ours.low, ours.high) == pytest.approx((local.low, local.high), abs=1e-13)


def test_it_is_not_the_mean_of_the_parts():
    """Each half ranks perfectly, and all rows do not: scores of one half are larger throughout."""
    y, s = np.tile([0, 1], 100), np.tile([0.0, 1.0], 100)
    s[100:] += 10.0
    parts = cut([100], s[:, None], y)
    by_part = [metrics.roc_auc(y[own], s[own]) for own in (slice(0, 100), slice(100, 200))]
    assert by_part == [1.0, 1.0]
    assert parts.rank(ReadScores(np.array([0, 1])), RankSums.of).auc == pytest.approx(0.75)


# -- reading scores --------------------------------------------------


def test_zeros_of_either_sign_are_ties():
    s, y = np.array([0.0, -0.0]), np.array([0, 1])
    read = ReadScores(np.array([0, 1]))(0, [(s[:, None], y)])
    assert np.array_equal(np.signbit(read.values), [False, False])
    assert RankSums.of(read).auc == 0.5


def test_scores_that_are_missing_are_said_with_part_and_row():
    s, y = np.zeros((20, 1)), np.arange(20) % 2
    s[13] = np.nan
    with pytest.raises(PartError, match=r"partition 1 .*score of row 8 is NaN"):
        cut([5], s, y, blocks=2).rank(ReadScores(np.array([0, 1])), RankSums.of)


def test_parts_without_rows_or_weights():
    y, s, weight = np.arange(20) % 2, np.arange(20.0)[:, None], np.ones(20)
    weight[:5] = 0.0
    parts = LocalParts([*cut([0, 5], s, y, weight)._parts, []])
    found = parts.rank(ReadScores(np.array([0, 1])), RankSums.of)
    assert found.auc == pytest.approx(metrics.roc_auc(y, s[:, 0], sample_weight=weight), abs=1e-15)


@pytest.mark.parametrize("y", [np.zeros(4, dtype=int), np.array([1, 1, 1, 0])])
def test_an_interval_needs_two_rows_of_each_class(y):
    sums = RankSums.of(RankedScores(y == 1, np.arange(4.0), None))
    with pytest.raises(ValueError, match=r"AUC needs both classes|at least 2 rows of each class"):
        sums.interval(0.95, "logit")


def test_few_rows_are_warned_of():
    sums = RankSums.of(RankedScores(np.arange(120) < 49, np.arange(120.0), None))
    with pytest.warns(FewRowsWarning, match="49 positive rows, 71 negative rows: with fewer than 100"):
        sums.interval(0.95, "logit")
    with pytest.raises(ValueError, match="scale must be"):
        sums.interval(0.95, "probit")
    with pytest.raises(ValueError, match="confidence must be a finite number greater than 0"):
        sums.interval(95, "logit")
