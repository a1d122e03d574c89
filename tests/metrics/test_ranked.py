"""All that starts from one RankedScores, against the slow twins; and what is refused on the way to one."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score

import reference
from mbauc.losses import Region
from mbauc.metrics.curves import average_precision, lift_at, roc_curve, tied_pairs
from mbauc.metrics.intervals import bootstrap
from mbauc.metrics.intervals.delong import auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design
from mbauc.metrics.neyman_pearson import detection_at, promise_band, violation_probability
from mbauc.metrics.operating_point import choose_threshold
from mbauc.metrics.partial_auc import partial_area, standardized_partial_auc
from mbauc.metrics.rank_sums import RankSums
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import auc, placement_spread, placements
from mbauc.metrics.thresholds import spread_thresholds, threshold_table

SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 5e-324]))
ALL_SCORES = st.one_of(SCORES, st.sampled_from([np.inf, -np.inf]))


@st.composite
def rows(draw, scores=SCORES, least=2):
    """(y, s, whole weights or None) with at least so many rows with weight of each class."""
    y = [True, False] * least + draw(st.lists(st.booleans(), max_size=20))
    s = draw(st.lists(scores, min_size=len(y), max_size=len(y)))
    more = len(y) - 2 * least
    weight = draw(st.none() | st.lists(st.integers(0, 3), min_size=more, max_size=more))
    weight = None if weight is None else np.array([1.0] * (2 * least) + weight)
    order = draw(st.permutations(range(len(y))))
    return np.array(y)[order], np.array(s)[order], None if weight is None else weight[order]


def repeated(y, s, weight):
    """Each row as often as its weight says."""
    times = np.ones(y.size, dtype=int) if weight is None else weight.astype(int)
    return np.repeat(y, times), np.repeat(s, times)


@given(rows(), st.sampled_from([0.05, 0.1, 0.37, 1.0, "one row", "half of the rows"]))
def test_every_consumer_of_one_ranking_agrees_with_its_slow_twin(case, share):
    y, s, weight = case
    ranked = RankedScores.validate(y, s, weight)
    y_each, s_each = repeated(*case)
    negatives = int((~y_each).sum())
    if isinstance(share, str):  # a rate that the curve takes exactly, perhaps more than once
        share = (1 if share == "one row" else negatives // 2) / negatives
    # AUC, three ways; DeLong's variance, two
    area, variance = reference.delong(y_each, s_each)
    assert reference.auc(y, s, weight) == pytest.approx(area, abs=1e-12)
    found, sums = auc_interval(ranked, frequency_design(ranked), 0.9), RankSums.of(ranked)
    for value in (auc(ranked), found.auc, sums.auc):
        assert value == pytest.approx(area, abs=1e-12)
    assert found.stderr**2 == pytest.approx(variance, abs=1e-12)
    assert sums.variance == pytest.approx(variance, abs=1e-12)
    assert placements(ranked)[y] @ ranked.weights[y] / ranked.plus.total == pytest.approx(area, abs=1e-12)
    mass = ranked.weights[y], ranked.weights[~y]
    assert bootstrap._auc(bootstrap._ranks(ranked), *mass) == pytest.approx(area, abs=1e-12)
    # the curve at every distinct score, and up to a false-alarm rate
    points = reference.roc_curve(y, s, weight)
    curve, start = roc_curve(ranked), roc_curve(ranked, max_fpr=share)
    known = {tuple(point) for point in points.round(12)}
    assert {*zip(curve.false_alarm.round(12), curve.detection.round(12), strict=True)} == known
    assert start.false_alarm[-1] >= share - 1e-12
    np.testing.assert_allclose(start.detection, curve.detection[: start.detection.size], atol=1e-12)
    slow = reference.partial_area(y, s, share, 0.25, weight, steps=20_000)
    assert partial_area(ranked, Region(share, 0.25)) == pytest.approx(slow, abs=2e-4)
    assert standardized_partial_auc(ranked, 1.0) == pytest.approx(area, abs=1e-12)
    # precision, ties and gains
    precision = average_precision_score(y_each, s_each)
    assert average_precision(ranked) == pytest.approx(precision, abs=1e-12)
    equal = s_each[y_each][:, None] == s_each[~y_each]
    assert tied_pairs(ranked) == pytest.approx(equal.mean(), abs=1e-12)
    assert lift_at(ranked, 1.0).found == pytest.approx(1.0)
    # thresholds: counts, exact limits, and the choice
    table = threshold_table(ranked)
    assert table.threshold.tolist() == spread_thresholds(ranked).tolist()
    for at, hits, alarms, high in zip(
        table.threshold, table.found, table.false_alarms, table.promise, strict=True
    ):
        assert hits == (y_each & (s_each > at)).sum()
        assert alarms == (~y_each & (s_each > at)).sum()
        wanted = binomtest(int(alarms), int(table.negatives), alternative="less").proportion_ci(0.95, "exact")
        assert high == pytest.approx(wanted.high, rel=1e-5)
    chosen = choose_threshold(table, false_alarm=share)
    allowed = [t for t in table.threshold if (s_each[~y_each] > t).mean() <= share]
    assert chosen.found == max((y_each & (s_each > t)).sum() for t in allowed)
    # the promise: how likely the limit at a threshold is broken
    band = promise_band(ranked, table.threshold[-2::-1], 0.1)
    for at, limit in zip(band.threshold, band.false_alarm, strict=True):
        rank = (s_each[~y_each] <= at).sum()
        if rank:
            assert violation_probability(negatives, rank, limit) == pytest.approx(0.1, rel=1e-6)
    if weight is None:
        spread = placement_spread(ranked)
        assert spread.plus / y.sum() + spread.minus / (~y).sum() == pytest.approx(variance, abs=1e-12)
        if share < 1:
            on_curve = np.interp(share, points[:, 0], points[:, 1])
            assert detection_at(ranked, share, 0.9).detection == pytest.approx(on_curve, abs=1e-12)
    # nobody has changed what they all share
    for part, mask in zip(ranked.classes, (y, ~y), strict=True):
        used = mask & (ranked.weights > 0)
        np.testing.assert_array_equal(part.values, np.sort(s[used]))
        assert part.total == ranked.weights[used].sum()


@given(rows(ALL_SCORES))
def test_infinite_scores_are_ranked_like_all_others(case):
    y, s, weight = case
    ranked = RankedScores.validate(y, s, weight)
    assert auc(ranked) == pytest.approx(reference.auc(y, s, weight), abs=1e-12)
    curve = roc_curve(ranked)
    known = {tuple(point) for point in reference.roc_curve(y, s, weight).round(12)}
    assert {*zip(curve.false_alarm.round(12), curve.detection.round(12), strict=True)} == known
    assert np.trapezoid(curve.detection, curve.false_alarm) == pytest.approx(auc(ranked), abs=1e-12)


@given(rows(), st.data())
def test_rows_can_be_taken_apart_and_put_together(case, data):
    y, s, weight = case
    ranked = RankedScores.validate(y, s, weight)
    at = data.draw(st.integers(0, y.size))
    pieces = [ranked.take(slice(at)), ranked.take(np.arange(at, y.size))]
    whole = pickle.loads(pickle.dumps(RankedScores.concatenate(pieces)))
    np.testing.assert_array_equal(whole.positive, y)
    np.testing.assert_array_equal(whole.values, s)
    np.testing.assert_array_equal(whole.weights, np.ones(y.size) if weight is None else weight)
    assert (whole.weight is None) == (weight is None)
    assert auc(whole) == auc(ranked)


@given(rows())
def test_an_increasing_map_sorts_nothing_again_and_changes_no_rank(case):
    y, s, weight = case
    ranked = RankedScores.validate(y, s, weight)
    mapped = ranked.map_increasing(lambda values: values // 2)
    again = RankedScores.validate(y, s // 2, weight)
    for kept, sorted_again in zip(mapped.classes, again.classes, strict=True):
        np.testing.assert_array_equal(kept.values, sorted_again.values)
        assert kept.total == sorted_again.total
    assert auc(mapped) == auc(again)


# -- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "s", "weight", "settings", "message"),
    [
        ([0, 1], [[0.1, 0.2]], None, {}, r"^y_score must be one-dimensional, got shape \(1, 2\)"),
        ([0, 1], ["low", "high"], None, {}, "^y_score must hold numbers, one for each row, got dtype <U4"),
        (
            [0, 1],
            [0.1, None],
            None,
            {"s_name": None},
            "^the score of row 1 is NaN; drop the row or give it a score",
        ),
        ([0, 1], [0.1, np.nan], None, {"s_name": "p"}, "^p has NaN at row 1"),
        (
            [0, 1],
            [0.1, -np.inf],
            None,
            {"finite": True},
            "^y_score has -inf at row 1; every score must be finite",
        ),
        ([0, 1, 1], [0.1, 0.2], None, {"s_name": None}, "^y_true has 3 labels and there are 2 scores"),
        ([0, 1, 2], [0.1, 0.2, 0.3], None, {"y_name": "t"}, "t has 3 classes .* for example t == positive"),
        ([0, 1, 1], [0.1, 0.2], None, {"y_name": "t", "s_name": "p"}, "^t has 3 labels and p 2 scores"),
        ([1, 1], [0.1, 0.2], None, {}, "one class only"),
        ([2, 2], [0.1, 0.2], None, {"both_classes": False}, "unknown whether that is the positive one"),
        ([0, 2], [0.1, 0.2], None, {"classes": (0, 1)}, "label 2 at row 1"),
        ([0, 1], [0.1, 0.2], [0.0, 1.0], {}, "zero for all rows of a class; rows of both are needed"),
        ([0, 1], [0.1, 0.2], [-1.0, 1.0], {}, "sample_weight has -1.0 at row 0"),
        ([0, 1], [0.1, 0.2], None, {"pos_label": 2}, r"pos_label must be one of the labels \[0, 1\], got 2"),
    ],
)
def test_one_validator_names_what_is_wrong(y, s, weight, settings, message):
    with pytest.raises(ValueError, match=message):
        RankedScores.validate(y, s, weight, **settings)


def test_labels_say_who_is_positive():
    assert RankedScores.validate(["ham", "spam"], [0, 1]).pos_label == "spam"
    ham = RankedScores.validate(["ham", "spam"], [0, 1], pos_label="ham")
    assert (ham.positive.tolist(), ham.pos_label) == ([True, False], "ham")
    alone = RankedScores.validate([1, 1], [0, 1], both_classes=False)
    assert (alone.plus.total, alone.minus.total) == (2.0, 0.0)
    assert RankedScores.validate([0, 1], np.float32([0.5, 1.0])).values.dtype == np.float64
