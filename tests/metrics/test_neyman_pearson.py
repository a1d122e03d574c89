from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

from mbauc.metrics.neyman_pearson import (
    detection_interval,
    false_alarm_threshold,
    negatives_needed,
    np_roc_band,
    threshold_rank,
    violation_probability,
)


def _violation(n, k, alpha):
    """Tong, Feng and Li 2018: at least k of n negatives below the (1 - alpha) quantile, term by term."""
    return sum(comb(n, j) * (1 - alpha) ** j * alpha ** (n - j) for j in range(k, n + 1))


RATES = st.floats(0.01, 0.6)


@given(st.integers(1, 80), st.data(), RATES)
def test_violation_probability_is_the_binomial_tail(n, data, alpha):
    k = data.draw(st.integers(1, n))
    assert violation_probability(n, k, alpha) == pytest.approx(_violation(n, k, alpha), rel=1e-8, abs=1e-14)


@given(RATES, RATES)
def test_fewest_negatives_by_trying_all_numbers(alpha, delta):
    needed = negatives_needed(alpha, delta)
    assert (1 - alpha) ** needed <= delta * (1 + 1e-12)
    assert needed == 1 or (1 - alpha) ** (needed - 1) > delta * (1 - 1e-12)


@given(st.integers(1, 200), RATES, RATES)
def test_the_rank_is_the_smallest_that_keeps_the_promise(n, alpha, delta):
    keeping = [k for k in range(1, n + 1) if _violation(n, k, alpha) <= delta * (1 + 1e-9)]
    if not keeping:
        with pytest.raises(ValueError, match="need at least"):
            threshold_rank(n, alpha, delta)
    elif abs(_violation(n, keeping[0], alpha) / delta - 1) > 1e-8:
        assert threshold_rank(n, alpha, delta) == keeping[0]


def test_a_limit_that_is_met_exactly_is_kept():
    assert _violation(2, 1, 0.5) == 0.75
    assert threshold_rank(2, 0.5, 0.75) == 1


def test_fifty_nine_negatives_for_five_percent():
    assert negatives_needed(0.05, 0.05) == 59
    assert threshold_rank(59, 0.05, 0.05) == 59
    with pytest.raises(ValueError, match=r"alpha=0.05 and delta=0.05 need at least 59 negative rows .* got 58"):
        threshold_rank(58, 0.05, 0.05)


@pytest.mark.parametrize("alpha", [np.float32(1e-6), np.float16(0.01), Fraction(1, 10), 1e-12])
def test_any_real_number_is_a_rate(alpha):
    needed = negatives_needed(alpha, 0.05)
    assert needed == pytest.approx(np.log(0.05) / np.log1p(-float(alpha)), rel=1e-9, abs=1)
    n = 3 * needed
    rank = threshold_rank(n, alpha, 0.05)
    assert violation_probability(n, rank, float(alpha)) <= 0.05
    assert violation_probability(n, rank - 1, float(alpha)) > 0.05


def test_the_promise_is_broken_exactly_as_often_as_stated():
    rng = np.random.default_rng(0)
    found = [false_alarm_threshold(rng.random(300), alpha=0.1, delta=0.1) for _ in range(4000)]
    broken = np.mean([1 - one.threshold > 0.1 for one in found])
    expected = found[0].violation_probability
    assert expected <= 0.1
    assert broken == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000))


def test_ties_only_make_it_safer():
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(2000):
        # above 0.75 lie 21% of the scores, a little too many
        threshold = false_alarm_threshold(
            np.minimum(np.floor(rng.random(200) / 0.79 * 4) / 4, 1), alpha=0.2, delta=0.1
        )
        broken += threshold.threshold < 0.9
    assert 0.02 < broken / 2000 <= 0.1 + 3 * np.sqrt(0.09 / 2000)


@pytest.mark.parametrize(
    ("scores", "alpha", "delta", "message"),
    [
        ([0.1] * 100, 0.0, 0.05, "alpha must be a finite number greater than 0 and less than 1"),
        ([0.1] * 100, 1.0, 0.05, "alpha must be"),
        ([0.1] * 100, 0.05, 1.5, "delta must be"),
        ([0.1] * 100, "five", 0.05, "alpha must be"),
        ([0.1, np.nan], 0.5, 0.5, "NaN at row 1"),
        ([[0.1]], 0.5, 0.5, "one-dimensional"),
        ([], 0.5, 0.5, "empty"),
        ([0.1] * 20, 0.05, 0.05, "got 20"),
    ],
)
def test_bad_input_is_named(scores, alpha, delta, message):
    with pytest.raises(ValueError, match=message):
        false_alarm_threshold(scores, alpha=alpha, delta=delta)


# -- the band -------------------------------------------------------------------------------------------------


def _normal_scores(rng, n_minus, n_plus, d=1.5):
    y = np.repeat([0, 1], [n_minus, n_plus])
    return y, rng.standard_normal(n_minus + n_plus) + d * y


def test_each_limit_of_the_band_is_kept_as_often_as_promised():
    rng, kept, held, tries = np.random.default_rng(0), [], [], 600
    for _ in range(tries):
        band = np_roc_band(*_normal_scores(rng, 200, 100), delta=0.1)
        at = np.searchsorted(-band.false_alarm, -0.3)  # the first limit of at most 0.3
        kept.append(ndtr(-band.threshold[at]) <= band.false_alarm[at])
        held.append(band.low[at] <= ndtr(1.5 - band.threshold[at]) <= band.high[at])
    assert np.mean(kept) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / tries))
    assert np.mean(held) >= 0.9 - 3 * np.sqrt(0.09 / tries)


def test_the_limits_of_the_band_are_those_of_the_thresholds():
    y, s = _normal_scores(np.random.default_rng(0), 150, 50)
    band = np_roc_band(y, s, delta=0.05)
    ranks = np.searchsorted(np.sort(s[y == 0]), band.threshold) + 1
    for rank, limit in zip(ranks, band.false_alarm, strict=True):
        assert violation_probability(150, rank, limit) == pytest.approx(0.05, rel=1e-6)
    assert (np.diff(band.false_alarm) < 0).all()
    for threshold, *ends in zip(band.threshold[::10], band.low[::10], band.high[::10], strict=True):
        exact = binomtest(int((s[y == 1] > threshold).sum()), 50).proportion_ci(0.95, "exact")
        assert ends == pytest.approx([exact.low, exact.high], abs=1e-9)


def test_a_band_of_many_rows_has_few_points():
    band = np_roc_band(*_normal_scores(np.random.default_rng(0), 100_000, 1000))
    assert band.threshold.size <= 1000
    assert band.false_alarm.min() < 1e-4
    assert (band.false_alarm < 0.01).sum() > 100  # spread evenly they would be five


# -- detection at a fixed false-alarm rate --------------------------------------------------------------------


@pytest.mark.parametrize("false_alarm", [0.3, 0.02])
def test_detection_interval_covers(false_alarm):
    rng, truth = np.random.default_rng(0), ndtr(1.5 + ndtri(false_alarm))
    hits = 0
    for _ in range(500):
        found = detection_interval(*_normal_scores(rng, 400, 80), false_alarm)
        assert found.low <= found.detection <= found.high
        hits += found.low <= truth <= found.high
    assert hits / 500 >= 0.95 - 3 * np.sqrt(0.0475 / 500)


@given(
    n=st.integers(1, 60), m=st.integers(1, 30), rate=st.floats(0.02, 0.9), level=st.sampled_from([0.8, 0.95])
)
def test_detection_interval_by_its_definition(n, m, rate, level):
    """A quarter of the error for each end of the threshold, and for each end of the rate above it."""
    scores = np.random.default_rng(n + 100 * m).permutation(n + m) / 7.0
    minus, plus = np.sort(scores[:n]), scores[n:]
    quarter = (1 - level) / 4
    # the negatives that lie below the true threshold are binomial, so that it is where these say
    too_high = [k for k in range(1, n + 1) if _violation(n, k, rate) <= quarter]
    too_low = [k for k in range(1, n + 1) if 1 - _violation(n, k, rate) < quarter]
    if any(abs(_violation(n, k, rate) - end) < 1e-9 for k in range(1, n + 1) for end in (quarter, 1 - quarter)):
        return  # on the edge, where rounding decides
    fewest = (plus > minus[too_high[0] - 1]).sum() if too_high else 0
    most = (plus >= minus[too_low[-1] - 1]).sum() if too_low else m
    found = detection_interval(np.repeat([0, 1], [n, m]), scores, rate, confidence=level)
    ends = [binomtest(int(count), m).proportion_ci(1 - 2 * quarter, "exact") for count in (fewest, most)]
    assert (found.low, found.high) == pytest.approx((ends[0].low, ends[1].high), abs=1e-9)
    # the threshold is a score with no more false alarms than that, and the rate is between those beside it
    assert (minus > found.threshold).sum() <= rate * n
    assert (minus >= found.threshold).sum() > rate * (n - 1) - 1e-9
    above = np.concatenate([[np.inf], minus[::-1], [-np.inf]])
    rates = [[(own > cut).mean() for cut in above] for own in (minus, plus)]
    lower = max(k for k in range(n + 2) if rates[0][k] <= rate)
    higher = min(k for k in range(n + 2) if rates[0][k] >= rate)
    assert rates[1][min(lower, higher)] <= found.detection + 1e-12
    assert found.detection <= rates[1][max(lower, higher)] + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("false_alarm", [0.05, 0.2, 0.4])
def test_detection_interval_covers_with_ties(false_alarm):
    rng, edges = np.random.default_rng(0), np.arange(-4.5, 6.0)
    # rates of scores above each whole number, and the line between them: a coin among the tied
    rates = [np.concatenate([[0.0], ndtr(d - edges[::-1]), [1.0]]) for d in (0.0, 1.5)]
    truth = np.interp(false_alarm, *rates)
    hits = 0
    for _ in range(400):
        y, s = _normal_scores(rng, 400, 80)
        found = detection_interval(y, np.round(s), false_alarm)
        assert found.low <= found.detection <= found.high
        hits += found.low <= truth <= found.high
    assert hits / 400 >= 0.95 - 3 * np.sqrt(0.0475 / 400)


def test_constant_scores_detect_what_a_coin_does():
    found = detection_interval([0, 1] * 100, np.zeros(200), 0.3)
    assert (found.low, found.detection, found.high) == (0.0, pytest.approx(0.3), 1.0)


def test_a_rate_that_the_rows_cannot_see_has_no_lower_end():
    found = detection_interval(*_normal_scores(np.random.default_rng(0), 50, 50), 1e-4)
    assert found.low == 0.0
    assert found.high > 0.0
    assert "at P_F 0.0001" in str(found)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1, np.nan])
def test_rates_outside_are_refused(rate):
    with pytest.raises(ValueError, match="false_alarm must be"):
        detection_interval([0, 1], [0.0, 1.0], rate)
    with pytest.raises(ValueError, match="delta must be"):
        np_roc_band([0, 1], [0.0, 1.0], delta=rate)
