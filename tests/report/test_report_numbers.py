import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import make_model, make_rows, of_model
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score

from mbauc.metrics import calibration_error, partial_roc_auc
from mbauc.metrics.curves import average_precision, histogram, lift_at, tied_pairs
from mbauc.metrics.neyman_pearson import np_roc_band
from mbauc.metrics.operating_point import InUse, choose_threshold
from mbauc.metrics.partial_auc import standardized_partial_auc
from mbauc.metrics.probabilities import reliability
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import MOST, slider_alarms, slider_limits, threshold_table
from mbauc.report.evaluation import evaluate


@st.composite
def scored(draw):
    """Rows of both classes with ties; weights are whole or None."""
    n = draw(st.integers(2, 40))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n)), dtype=float) / 2
    w = draw(st.none() | st.lists(st.integers(0, 4), min_size=n - 2, max_size=n - 2))
    return y, s, None if w is None else np.array([1.0, 1.0, *w])


def ones(y, w):
    return np.ones(y.size) if w is None else w


@pytest.mark.parametrize("share", [0.001, 0.3])
def test_rates_in_use_join_the_limits_that_are_worst_together(rng, share):
    y = rng.random(600) < 0.3
    table = threshold_table(RankedScores(y, rng.standard_normal(600) + y))
    at = choose_threshold(table, false_alarm=0.1)
    alarms, precision = at.rates_in_use(share)
    right, wrong = np.array(at.detection) * share, np.array(at.false_alarm) * (1 - share)
    assert alarms == pytest.approx(tuple(right + wrong))
    value, low, high = right / (right + wrong[[0, 2, 1]])
    assert precision == pytest.approx((value, low, high))
    assert low < right[1] / (right[1] + wrong[1]) < high
    # without another share they are those of the rows
    alarms, precision = at.rates_in_use()
    exact = binomtest(int(at.found + at.false_alarms), 600).proportion_ci(0.95, "exact")
    assert alarms == pytest.approx(((at.found + at.false_alarms) / 600, exact.low, exact.high))
    assert precision == at.precision


# -- the table ------------------------------------------------------------------------------------------------


@given(scored(), st.none() | st.floats(-4, 4))
def test_the_table_counts_the_rows_above_every_distinct_score(case, own):
    y, s, w = case
    weight = ones(y, w)
    table = threshold_table(RankedScores(y, s, w), own)
    wanted = set(s[weight > 0].tolist()) | {-np.inf} | ({own} if own is not None else set())
    assert table.threshold.tolist() == sorted(wanted, reverse=True)
    for row, threshold in enumerate(table.threshold):
        assert table.found[row] == weight[y & (s > threshold)].sum()
        assert table.false_alarms[row] == weight[~y & (s > threshold)].sum()
    assert (table.positives, table.negatives) == (weight[y].sum(), weight[~y].sum())
    assert (table.chosen is None) == (own is None)
    if own is not None:
        assert table.threshold[table.chosen] == own


def test_intervals_are_exact_binomial_ones(rng):
    y, s = make_rows(300, 0.2)
    table = threshold_table(RankedScores(y == 1, s, None))
    for row in rng.choice(table.threshold.size, 40, replace=False):
        found, alarms = int(table.found[row]), int(table.false_alarms[row])
        for ends, hits, trials in (
            (table.detection_limits, found, int(table.positives)),
            (table.false_alarm_limits, alarms, int(table.negatives)),
            (table.precision_limits, found, found + alarms),
        ):
            if trials:
                exact = binomtest(hits, trials).proportion_ci(0.95, "exact")
                assert (ends[0][row], ends[1][row]) == pytest.approx((exact.low, exact.high), rel=1e-5)
        one_sided = binomtest(alarms, int(table.negatives), alternative="less").proportion_ci(0.95, "exact")
        assert table.promise[row] == pytest.approx(one_sided.high, rel=1e-5)


def test_the_promise_is_that_of_the_neyman_pearson_band():
    y, s = make_rows(900, 0.3)
    table, band = threshold_table(RankedScores(y == 1, s, None)), np_roc_band(y, s)
    rows = {threshold: row for row, threshold in enumerate(table.threshold)}
    at = np.array([rows[threshold] for threshold in band.threshold])
    assert table.promise[at] == pytest.approx(band.false_alarm, rel=1e-5)
    assert table.detection_limits[0][at] == pytest.approx(band.low, rel=1e-5)
    assert table.detection_limits[1][at] == pytest.approx(band.high, rel=1e-5)


@pytest.mark.parametrize("rate", [0.0002, 0.02, 0.5, 0.9999])
def test_of_many_scores_some_are_kept_and_no_corner_is_lost(rate):
    y, s = make_rows(60_000, rate)
    plus, minus = np.sort(s[y == 1]), np.sort(s[y == 0])
    table = threshold_table(RankedScores(y == 1, s, None), own=0.25)
    assert 500 <= table.threshold.size <= MOST + 2
    assert table.found.tolist() == [(plus > t).sum() for t in table.threshold]
    assert table.false_alarms.tolist() == [(minus > t).sum() for t in table.threshold]
    # both ends of the jump at each of the first negatives: the first hundred false alarms are exact
    for k in range(min(100, minus.size)):
        best = (plus > minus[-1 - k]).sum()
        assert choose_threshold(table, false_alarm=k / minus.size).found == best
    # and so are all limits of the slider, and round ones
    for limit in slider_limits(minus.size):
        allowed = int(np.floor(limit * minus.size + 1e-9))
        assert (
            choose_threshold(table, false_alarm=limit).found
            == (plus > (minus[::-1][allowed] if limit < 1 else -9e9)).sum()
        )
    # elsewhere the polygon stays close to the curve
    x, t = table.false_alarms / minus.size, table.found / plus.size
    exact = (plus.size - np.searchsorted(plus, minus, "right")) / plus.size
    rate_there = np.arange(minus.size - 1, -1, -1) / minus.size
    close = np.interp(rate_there, x, t)
    jump = 1 / plus.size
    assert np.abs(close - exact).max() <= 0.01 + jump


def test_weights_are_numbers_of_rows(rng):
    y, s = make_rows(500, 0.2)
    w = rng.integers(0, 4, y.size)
    weighted = threshold_table(RankedScores(y == 1, s, w.astype(float)))
    repeated = threshold_table(RankedScores(np.repeat(y, w) == 1, np.repeat(s, w), None))
    assert weighted.to_dict() == repeated.to_dict()


# -- positions ------------------------------------------------------------------------------------------------


@given(scored(), st.sampled_from([0, 0.01, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1]))
def test_a_limit_is_kept_with_the_most_detections(case, limit):
    y, s, w = case
    weight = ones(y, w)
    at = choose_threshold(threshold_table(RankedScores(y, s, w)), false_alarm=limit)
    most = -1.0
    for threshold in [*s, -np.inf]:
        if weight[~y & (s > threshold)].sum() / weight[~y].sum() <= limit:
            most = max(most, weight[y & (s > threshold)].sum())
    assert at.found == most
    assert at.false_alarm.value <= limit
    assert at.found == weight[y & (s > at.threshold)].sum()


@given(scored(), st.floats(0, 50))
def test_the_cost_is_the_least_one(case, ratio):
    y, s, w = case
    weight = ones(y, w)
    at = choose_threshold(threshold_table(RankedScores(y, s, w)), cost_ratio=ratio)

    def cost(threshold):
        return ratio * weight[y & (s <= threshold)].sum() + weight[~y & (s > threshold)].sum()

    assert at.cost == pytest.approx(min(cost(t) for t in [*s[weight > 0], -np.inf]))
    assert at.cost == pytest.approx(cost(at.threshold))
    assert all(cost(t) > at.cost - 1e-9 for t in s if t > at.threshold)
    assert at.missed == weight[y].sum() - at.found
    assert at.quiet == weight[~y].sum() - at.false_alarms


@given(scored(), st.integers(0, 60), st.sampled_from([None, 0.0, 0.01, 0.5]), st.sampled_from([None, 1000.0]))
def test_alarms_in_use_are_no_more_than_can_be_looked_at(case, most, share, rows):
    y, s, w = case
    weight = ones(y, w)
    table = threshold_table(RankedScores(y, s, w))
    at = choose_threshold(table, alarms=float(most), in_use=InUse.of(table, rows, share))
    total = weight.sum() if rows is None else rows
    positive = weight[y].sum() / weight.sum() if share is None else share

    def alarms(threshold):
        rates = [(weight[part & (s > threshold)].sum() / weight[part].sum()) for part in (y, ~y)]
        return total * (positive * rates[0] + (1 - positive) * rates[1])

    assert at.alarms == pytest.approx(alarms(at.threshold))
    assert at.alarms <= most
    lower = [-np.inf, *s[weight > 0]]  # any lower threshold with other alarms raises too many
    assert all(alarms(t) > most - 1e-6 or alarms(t) == alarms(at.threshold) for t in lower if t < at.threshold)
    if at.alarms:
        assert at.alarms_precision == pytest.approx(total * positive * at.detection.value / at.alarms, abs=1e-9)
    else:
        assert np.isnan(at.alarms_precision)


def test_rarer_positives_make_alarms_dearer():
    y, s = make_rows(2000, 0.3)
    table = threshold_table(RankedScores(y == 1, s, None))
    here = choose_threshold(table, cost_ratio=5.0)
    rare = choose_threshold(table, cost_ratio=5.0, in_use=InUse.of(table, share=0.01))
    assert rare.threshold > here.threshold
    assert rare.alarms_precision < rare.precision.value
    same = InUse.of(table, 2000.0, y.mean())
    assert choose_threshold(table, cost_ratio=5.0, in_use=same).cost == pytest.approx(here.cost)


def test_numbers_of_alarms_on_the_slider_are_kept_exactly():
    y, s = make_rows(30_000, 0.02)
    table = threshold_table(RankedScores(y == 1, s, None))
    assert table.threshold.size < 2500
    for most in slider_alarms(y.size):
        assert choose_threshold(table, alarms=most).alarms == most


# -- thresholds in few digits ---------------------------------------------------------------------------------


@given(scored(), st.one_of(st.none(), st.floats(-4, 4)))
def test_few_digits_part_the_same_rows(case, own):
    y, s, w = case
    table = threshold_table(RankedScores(y, s, w), own)
    weight = ones(y, w)
    for cut, found, false_alarms in zip(table.cut, table.found, table.false_alarms, strict=True):
        assert weight[y & (s > cut)].sum() == pytest.approx(found)
        assert weight[~y & (s > cut)].sum() == pytest.approx(false_alarms)


def test_thresholds_have_as_few_digits_as_they_need():
    y, s = np.array([0, 1, 0, 1]), np.array([-1.2345678, -0.00012345678, 0.12345678, 2.3456789])
    assert threshold_table(RankedScores(y == 1, s, None)).cut.tolist() == [2.4, 1.0, 0.06, -0.6, -np.inf]
    y, s = make_rows(20_000, 0.02)
    table = threshold_table(RankedScores(y == 1, s, None), float(s[0]) + 1e-9)
    assert np.median([len(repr(cut).lstrip("-0.").replace(".", "")) for cut in table.cut[:-1].tolist()]) <= 5
    # programs that sum in another order must see the same rows
    every = np.unique(s)
    for cut in table.cut[:-1]:
        k = np.searchsorted(every, cut)
        if 0 < k < every.size:
            assert min(cut - every[k - 1], every[k] - cut) >= 0.09 * (every[k] - every[k - 1])


def test_a_position_needs_one_rule():
    y, s = make_rows(50, 0.3)
    table = threshold_table(RankedScores(y == 1, s, None))
    for rules in ({}, {"false_alarm": 0.1, "cost_ratio": 2.0}, {"false_alarm": 0.1, "alarms": 2.0}):
        with pytest.raises(ValueError, match="exactly one of false_alarm, cost_ratio, alarms and at"):
            choose_threshold(table, **rules)
    with pytest.raises(ValueError, match="false_alarm must be"):
        choose_threshold(table, false_alarm=1.5)
    with pytest.raises(ValueError, match="cost_ratio must be"):
        choose_threshold(table, cost_ratio=-1.0)
    assert choose_threshold(threshold_table(RankedScores(y == 1, s, None), own=0.5)).threshold == 0.5


# -- curves ---------------------------------------------------------------------------------------------------


@given(scored())
def test_average_precision_is_that_of_scikit_learn(case):
    y, s, w = case
    assert average_precision(RankedScores(y, s, w)) == pytest.approx(
        average_precision_score(y, s, sample_weight=w)
    )


@given(scored(), st.sampled_from([0.01, 0.1, 0.5, 1.0]))
def test_partial_auc_from_the_top_is_that_of_all_rows(case, most):
    y, s, w = case
    assert standardized_partial_auc(RankedScores(y, s, w), most) == pytest.approx(
        partial_roc_auc(y, s, sample_weight=w, max_fpr=most), abs=1e-12
    )


def test_partial_auc_of_many_rows_is_that_of_all_rows():
    y, s = make_rows(30_000, 0.02)
    for most in (0.1, 0.01):
        assert standardized_partial_auc(RankedScores(y == 1, s, None), most) == pytest.approx(
            partial_roc_auc(y, s, max_fpr=most)
        )


@given(scored())
def test_tied_pairs_by_counting(case):
    y, s, w = case
    weight = ones(y, w)
    pairs = [(weight[i] * weight[j], s[i] == s[j]) for i in np.flatnonzero(y) for j in np.flatnonzero(~y)]
    tied = sum(size for size, equal in pairs if equal) / sum(size for size, _ in pairs)
    assert tied_pairs(RankedScores(y, s, w)) == pytest.approx(tied)


@given(scored(), st.sampled_from([0.05, 0.1, 0.3, 0.5, 1.0]))
def test_lift_counts_the_highest_rows_and_a_part_of_ties(case, share):
    y, s, w = case
    weight = ones(y, w)
    left, found = share * weight.sum(), 0.0
    for score in sorted(set(s.tolist()), reverse=True):
        size = weight[s == score].sum()
        part = min(1.0, left / size) if size else 0.0
        found += part * weight[y & (s == score)].sum()
        left = max(0.0, left - size)
    got = lift_at(RankedScores(y, s, w), share)
    assert got.found == pytest.approx(found / weight[y].sum())
    assert got.lift == pytest.approx(got.found / share)


@given(scored())
def test_bins_of_scores_hold_the_rows_between_their_edges(case):
    y, s, w = case
    weight = ones(y, w)
    bins = histogram(RankedScores(y, s, w))
    for shares, mask in ((bins.plus, y), (bins.minus, ~y)):
        for k, share in enumerate(shares):
            last = k == shares.size - 1
            inside = (s >= bins.edges[k]) & ((s <= bins.edges[k + 1]) if last else (s < bins.edges[k + 1]))
            assert share == pytest.approx(weight[mask & inside].sum() / weight[mask].sum())
    assert bins.outside == 0.0  # fewer than a thousand rows
    assert 1 <= bins.plus.size <= 60


def test_extreme_scores_are_counted_as_outside():
    y, s = make_rows(20_000, 0.3)
    s[10], s[11] = 1e6, -1e6
    bins = histogram(RankedScores(y == 1, s, None))
    assert -20 < bins.edges[0] < bins.edges[-1] < 20
    assert bins.outside == (s < bins.edges[0]).sum() + (s > bins.edges[-1]).sum() >= 2


@given(scored())
def test_reliability_is_that_of_the_calibration_error(case):
    y, s, w = case
    weight, p = ones(y, w), 1 / (1 + np.exp(-s))
    bins = reliability(RankedScores(y, p, w))
    number = int(np.clip(min(weight[y].sum(), weight[~y].sum()) // 5, 4, 15))
    assert bins.error == pytest.approx(calibration_error(y, p, sample_weight=w, bins=number), abs=1e-12)
    assert bins.size.sum() == weight.sum()
    assert (np.diff(bins.predicted) > 0).all()
    assert bins.size @ bins.predicted == pytest.approx(weight @ p)
    assert bins.size @ bins.seen == pytest.approx(weight @ y)
    assert ((bins.low <= bins.seen + 1e-6) & (bins.seen <= bins.high + 1e-6)).all()


@pytest.mark.parametrize("slope", [1.8, 0.0, -0.7])
def test_probabilities_are_those_of_the_model(slope, rng):
    y, s = make_rows(2000, 0.2)
    w = rng.integers(1, 4, y.size).astype(float)
    for weight in (None, w):
        found = evaluate(y, s, weight, origin=of_model(make_model(slope=slope))).calibration
        p = 1 / (1 + np.exp(-slope * s))
        assert found.error == pytest.approx(calibration_error(y, p, sample_weight=weight), abs=1e-12)
        assert found.size @ found.predicted == pytest.approx(p.sum() if weight is None else w @ p)


def test_bins_of_reliability_are_of_equal_size():
    y, s = make_rows(15_000, 0.1)
    p = 1 / (1 + np.exp(-1.8 * s))
    bins = reliability(RankedScores(y == 1, p, None))
    assert bins.size.tolist() == [1000.0] * 15
    ranked = np.argsort(p).reshape(15, 1000)
    assert bins.predicted == pytest.approx(p[ranked].mean(axis=1))
    assert bins.seen == pytest.approx(y[ranked].mean(axis=1))
    assert bins.error == pytest.approx(calibration_error(y, p), abs=1e-12)
