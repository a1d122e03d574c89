import math
import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from mbauc.metrics import calibration_error, normalized_entropy

PROBABILITIES = st.one_of(
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 1.0, 0.5, 0.25, 5e-324, 1.0 - 2**-53]),
    st.integers(0, 10).map(lambda k: k / 10),
)


@st.composite
def predictions(draw):
    n = draw(st.integers(2, 25))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    p = np.array(draw(st.lists(PROBABILITIES, min_size=n, max_size=n)))
    w = np.array(draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n)))
    return y, p, w


def slow_log_loss(y, p, w):
    """Mean of -log(probability of what happened), probabilities clipped."""
    eps = 2.0**-52
    lost = 0.0
    for label, probability, weight in zip(y, p, w, strict=True):
        right = probability if label else 1 - probability
        lost -= weight * math.log(min(max(right, eps), 1 - eps))
    return lost / sum(w)


def slow_calibration_error(y, p, w, groups, norm):
    """Distance of the share of positives from the mean probability, group by group."""
    gaps, sizes = [], []
    for group in sorted(set(groups)):
        rows = [i for i in range(len(p)) if groups[i] == group]
        size = sum(w[i] for i in rows)
        gaps.append(abs(sum(w[i] * y[i] for i in rows) / size - sum(w[i] * p[i] for i in rows) / size))
        sizes.append(size)
    if norm == "max":
        return max(gaps)
    power = 1 if norm == "l1" else 2
    mean = sum(size * gap**power for size, gap in zip(sizes, gaps, strict=True)) / sum(sizes)
    return mean ** (1 / power)


def slow_quantile_bin(p, w, bins, i):
    """Where the middle of all rows with the probability of row i lies among the rows in order."""
    lighter = sum(weight for value, weight in zip(p, w, strict=True) if value < p[i])
    equal = sum(weight for value, weight in zip(p, w, strict=True) if value == p[i])
    return min(int(bins * ((lighter + equal / 2) / sum(w))), bins - 1)


@given(predictions())
def test_normalized_entropy(case):
    y, p, w = case
    rate = (w * y).sum() / w.sum()
    entropy = -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
    assert normalized_entropy(y, p, sample_weight=w) == pytest.approx(
        slow_log_loss(y, p, w) / entropy, rel=1e-9
    )
    theirs = sklearn.metrics.log_loss(y, p, sample_weight=w)
    assert normalized_entropy(y, p, sample_weight=w) == pytest.approx(theirs / entropy, rel=1e-12)
    assert normalized_entropy(y, np.full(len(y), rate), sample_weight=w) == pytest.approx(1.0, rel=1e-9)
    assert normalized_entropy(y, y, sample_weight=w) == pytest.approx(0.0, abs=1e-12)


@given(predictions(), st.integers(1, 8), st.sampled_from(["l1", "l2", "max"]))
def test_calibration_error_equals_the_definition(case, bins, norm):
    y, p, w = case
    # weights of whole quarters: what lies on the edge of two bins is no matter of rounding
    for weight in (np.ones(len(y)), np.ceil(4 * w) / 4):
        groups = [slow_quantile_bin(p, weight, bins, i) for i in range(len(p))]
        found = calibration_error(y, p, sample_weight=weight, bins=bins, norm=norm)
        assert found == pytest.approx(slow_calibration_error(y, p, weight, groups, norm), abs=1e-9)
        edges = np.linspace(0, 1, bins + 1)
        groups = [next(k for k in range(1, bins + 1) if value <= edges[k]) for value in p]
        found = calibration_error(y, p, sample_weight=weight, bins=bins, norm=norm, strategy="uniform")
        assert found == pytest.approx(slow_calibration_error(y, p, weight, groups, norm), abs=1e-9)


@given(predictions(), st.integers(1, 8))
def test_calibration_error_equals_that_of_scikit_learns_curve(case, bins):
    y, p, _ = case
    share, mean = calibration_curve(y, p, n_bins=bins)
    found = calibration_error(y, p, bins=bins, strategy="uniform", norm="max")
    assert found == pytest.approx(np.abs(share - mean).max(), abs=1e-12)


def test_equal_weight_bins_of_distinct_probabilities(rng):
    p = np.sort(rng.random(600))
    y = rng.random(600) < p**2
    share, mean = calibration_curve(y, p, n_bins=12, strategy="quantile")
    assert calibration_error(y, p, bins=12) == pytest.approx(np.abs(share - mean).mean())
    order = rng.permutation(600)
    assert calibration_error(y[order], p[order], bins=12) == pytest.approx(np.abs(share - mean).mean())


def test_ties_are_never_parted(rng):
    """Half of the rows have one probability, and a bin for themselves."""
    p = np.where(np.arange(1000) < 500, 0.3, 0.5 + 0.5 * rng.random(1000))
    y = np.arange(1000) % 2
    groups = np.where(p == 0.3, -1, 0)
    groups[p != 0.3] = [slow_quantile_bin(p, np.ones(1000), 10, i) for i in np.flatnonzero(p != 0.3)]
    expected = slow_calibration_error(y, p, np.ones(1000), groups.tolist(), "l1")
    assert calibration_error(y, p, bins=10) == pytest.approx(expected)
    assert calibration_error(y, np.full(1000, 0.3), bins=10) == pytest.approx(0.2)


@given(predictions(), st.sampled_from(["quantile", "uniform"]))
def test_weights_are_repeated_rows_and_zeros_are_nothing(case, strategy):
    y, p, w = case
    times = np.floor(w).astype(int)
    times[:2] += 1
    many = np.repeat(y, times), np.repeat(p, times)
    assert normalized_entropy(y, p, sample_weight=times) == pytest.approx(normalized_entropy(*many))
    found = calibration_error(y, p, sample_weight=times, bins=5, strategy=strategy)
    assert found == pytest.approx(calibration_error(*many, bins=5, strategy=strategy), abs=1e-12)


def test_calibrated_probabilities_have_little_error(rng):
    p = rng.random(200_000)
    y = rng.random(200_000) < p
    for strategy in ("quantile", "uniform"):
        assert calibration_error(y, p, strategy=strategy) < 0.01
        assert calibration_error(y, p**2, strategy=strategy) > 0.1
        l1, l2, largest = (calibration_error(y, p**2, strategy=strategy, norm=n) for n in ("l1", "l2", "max"))
        assert l1 <= l2 <= largest


def test_input_of_every_kind(rng):
    p = np.round(rng.random(200), 3)
    y = (rng.random(200) < p).astype(int)
    for metric in (normalized_entropy, calibration_error):
        expected = metric(y, p)
        both = np.column_stack([1 - p, p])
        for given_ in (p.tolist(), both, both.tolist(), np.asfortranarray(both)):
            assert metric(y, given_) == pytest.approx(expected)
        assert metric(y, both.astype(np.float32)) == pytest.approx(expected, rel=1e-5)
        assert metric(np.where(y, "yes", "no"), p) == expected
        assert metric(2 * y - 1, p) == metric(y == 1, p) == expected


def test_one_class_will_do_where_nothing_is_divided_by_the_base_rate():
    assert calibration_error([0, 0], [0.5, 0.25]) == pytest.approx(0.375)
    with pytest.raises(ValueError, match="all rows that count are positive"):
        normalized_entropy([1, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="all rows that count are negative"):
        normalized_entropy([0, 1], [0.5, 0.5], sample_weight=[1.0, 0.0])


@pytest.mark.parametrize(
    ("y", "p", "settings", "message"),
    [
        (
            [0, 1],
            [0.5, 1.5],
            {},
            r"y_prob has 1.5 at row 1; probabilities lie between 0 and 1. Scores of decision_fun",
        ),
        ([0, 1], [-0.1, 0.5], {}, "y_prob has -0.1 at row 0"),
        ([0, 1], [0.5, np.nan], {}, "y_prob has nan at row 1"),
        ([0, 1], [[0.5, 0.5], [0.2, np.inf]], {}, "y_prob has inf at row 1"),
        ([0, 1], [[0.5, 0.5], [0.2, 0.7]], {}, r"y_prob has 0.2 and 0.7 at row 1; .* must add up to 1"),
        ([0, 1], [[0.2], [0.3]], {}, r"shape \(n,\), or \(n, 2\) .* got shape \(2, 1\)"),
        ([0, 1], 0.5, {}, r"got shape \(\)"),
        ([0, 1], ["a", "b"], {}, "y_prob must hold numbers"),
        ([0, 1], [0.5], {}, "y_true has 2 labels and y_prob 1 scores"),
        ([0, 1, 2], [0.5, 0.5, 0.5], {}, "y_true has 3 classes"),
        ([], [], {}, "y_true is empty"),
        ([0, 1], [0.5, 0.5], {"sample_weight": [1.0]}, "one weight for each row"),
    ],
)
def test_bad_input_is_named(y, p, settings, message):
    for metric in (normalized_entropy, calibration_error):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=message):
                metric(y, p, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 0}, "bins must be a whole number of at least 1"),
        ({"bins": 1.5}, "bins must be"),
        ({"strategy": "kmeans"}, "strategy must be 'quantile' or 'uniform', got 'kmeans'"),
        ({"norm": 2}, "norm must be 'l1', 'l2' or 'max', got 2"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        calibration_error([0, 1], [0.5, 0.5], **settings)
