from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

import reference
from mbauc.errors import FewRowsWarning
from mbauc.metrics import compare_roc_auc, holm, roc_auc_interval

few_rows = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")


def test_interval_covers_and_has_the_right_width(rng):
    hits, widths, estimates = 0, [], []
    truth = 0.7602499389065233  # Φ(1/√2)
    y = np.arange(600) < 100
    for _ in range(300):
        interval = roc_auc_interval(y, rng.standard_normal(600) + y)
        hits += interval.low <= truth <= interval.high
        widths.append(interval.stderr)
        estimates.append(interval.auc)
    assert 0.91 < hits / 300 < 0.985
    assert np.mean(widths) == pytest.approx(np.std(estimates), rel=0.15)


@few_rows
def test_interval_matches_the_definition_of_delong():
    y = np.array([1, 1, 1, 0, 0, 0, 0])
    s = np.array([3.0, 1.0, 2.0, 2.0, 0.0, 1.5, -1.0])
    wins = (s[:3, None] > s[None, 3:]) + 0.5 * (s[:3, None] == s[None, 3:])
    variance = wins.mean(1).var(ddof=1) / 3 + wins.mean(0).var(ddof=1) / 4
    interval = roc_auc_interval(y, s)
    assert interval.auc == pytest.approx(wins.mean())
    assert interval.stderr == pytest.approx(np.sqrt(variance))
    assert 0 < interval.low < interval.auc < interval.high < 1


@pytest.mark.parametrize("sizes", [(120, 120), (120, 700), (700, 120)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_ranking_is_not_certain(sign, sizes):
    y = np.repeat([0, 1], sizes)
    interval = roc_auc_interval(y, sign * y)
    assert interval.auc == (sign + 1) / 2
    assert interval.high - interval.low == pytest.approx(1 - 0.025 ** (1 / 120))
    assert 0 <= interval.low <= interval.auc <= interval.high <= 1


@few_rows
def test_on_the_linear_scale_the_interval_is_symmetric_and_ends_where_areas_do():
    y = np.repeat([0, 1], [30, 20])
    s = np.where(np.arange(50) < 29, -1.0, y)  # one negative ties with half of the positives
    s[:30] = np.where(np.arange(30) == 29, 1.5, -1.0)
    s[30:] = np.where(np.arange(20) < 10, 1.5, 2.0)
    for sign, confidence in ((1, 0.5), (1, 0.99), (-1, 0.99)):
        found = roc_auc_interval(y, sign * s, scale="linear", confidence=confidence)
        half = ndtri((1 + confidence) / 2) * found.stderr
        assert (found.low, found.high) == (
            pytest.approx(max(0.0, found.auc - half)),
            pytest.approx(min(1.0, found.auc + half)),
        )
        assert (found.low == 0.0 or found.high == 1.0) == (confidence == 0.99)


@st.composite
def weighted(draw):
    n = draw(st.integers(4, 20))
    y = np.array([True, True, False, False, *draw(st.lists(st.booleans(), min_size=n - 4, max_size=n - 4))])
    s = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), dtype=float)
    return y, s, w


@few_rows
@given(weighted())
def test_equals_the_definition(case):
    y, s, _ = case
    auc, variance = reference.delong(y, s)
    found = roc_auc_interval(y, s)
    assert (found.auc, found.stderr**2) == pytest.approx((auc, variance), abs=1e-12)


@few_rows
@given(weighted())
def test_frequencies_are_repeated_rows(case):
    y, s, w = case
    found = roc_auc_interval(y, s, sample_weight=w, weights="frequency")
    times = w.astype(int)
    repeated = roc_auc_interval(np.repeat(y, times), np.repeat(s, times))
    assert (found.auc, found.stderr) == pytest.approx((repeated.auc, repeated.stderr), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((repeated.low, repeated.high), abs=1e-9)


@few_rows
@given(weighted())
def test_equal_sampling_weights_say_nothing(case):
    y, s, _ = case
    plain = roc_auc_interval(y, s)
    found = roc_auc_interval(y, s, sample_weight=np.full(len(y), 0.3), weights="sampling")
    alone = roc_auc_interval(y, s, clusters=np.arange(len(y)))
    assert (found.auc, found.stderr) == pytest.approx((plain.auc, plain.stderr), abs=1e-9)
    assert (alone.auc, alone.stderr) == pytest.approx((plain.auc, plain.stderr), rel=1e-12, abs=1e-12)


@st.composite
def clustered(draw):
    y, s, w = draw(weighted())
    more = st.lists(st.integers(0, 6), min_size=len(y) - 4, max_size=len(y) - 4)
    return y, np.array([s, draw(st.permutations(s))]), w, np.array([0, 1, 0, 2, *draw(more)])


@few_rows
@given(clustered())
def test_clusters_equal_the_definition_of_obuchowski(case):
    y, table, w, clusters = case
    auc, covariance = reference.clustered_covariance(y, table, clusters)
    found = compare_roc_auc(y, table, clusters=clusters)
    np.testing.assert_allclose(found.auc, auc, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    assert roc_auc_interval(y, table[0], clusters=clusters).stderr ** 2 == pytest.approx(
        covariance[0, 0], abs=1e-12
    )
    times = w.astype(int)
    repeated = roc_auc_interval(
        *(np.repeat(part, times) for part in (y, table[0])), clusters=np.repeat(clusters, times)
    )
    for weights in ("frequency", "sampling"):
        weighed = roc_auc_interval(y, table[0], sample_weight=w, weights=weights, clusters=clusters)
        assert weighed.stderr == pytest.approx(repeated.stderr, abs=1e-9)


def test_few_clusters_with_a_class_are_not_hidden_by_many_without(rng):
    y = np.arange(1005) < 5
    s = rng.standard_normal(1005) + y
    with pytest.warns(FewRowsWarning):
        plain, alone = roc_auc_interval(y, s), roc_auc_interval(y, s, clusters=np.arange(1005))
    assert alone.stderr == pytest.approx(plain.stderr, rel=1e-12)


@few_rows
def test_clusters_whose_classes_go_up_and_down_together_leave_no_variance():
    """What positives win within a cluster its negatives lose: the sum is zero, but for rounding."""
    for n in range(2, 60):
        y, s = np.repeat([1, 0], n), np.concatenate([2 * np.arange(n) + 1.0, 2 * np.arange(n)])
        found = roc_auc_interval(y, s, clusters=np.tile(np.arange(n), 2))
        assert found.stderr == pytest.approx(0.0, abs=1e-7)
        assert 0.0 <= found.low <= found.auc <= found.high <= 1.0


def test_clusters_of_no_weight_are_not_there(rng):
    y = rng.random(1200) < 0.5
    s, user = rng.standard_normal(1200) + y, np.arange(1200) // 5
    w = np.repeat(rng.random(240) < 0.8, 5).astype(float)
    kept = w > 0
    found = roc_auc_interval(y, s, sample_weight=w, weights="frequency", clusters=user)
    assert found.stderr == pytest.approx(
        roc_auc_interval(y[kept], s[kept], clusters=user[kept]).stderr, rel=1e-12
    )


def test_sampling_weights_agree_with_the_bootstrap(rng):
    y = rng.random(1500) < 0.3
    s = rng.standard_normal(1500) + y
    w = rng.lognormal(sigma=0.8, size=1500)
    found = roc_auc_interval(y, s, sample_weight=w, weights="sampling")
    draws = []
    for _ in range(800):
        rows = np.concatenate([rng.choice(np.flatnonzero(mask), mask.sum()) for mask in (y, ~y)])
        draws.append(reference_auc(y[rows], s[rows], w[rows]))
    assert found.stderr == pytest.approx(np.std(draws), rel=0.1)
    assert found.stderr > 1.2 * roc_auc_interval(y, s).stderr


def reference_auc(y, s, w):
    from mbauc.metrics import roc_auc

    return roc_auc(y, s, sample_weight=w)


def test_rows_of_a_cluster_count_together(rng):
    """Each row five times over: clusters see through it, the plain interval does not."""
    y = rng.random(400) < 0.4
    s = rng.standard_normal(400) + y
    once = roc_auc_interval(y, s)
    rows = np.tile(np.arange(400), 5)
    naive = roc_auc_interval(y[rows], s[rows])
    clustered = roc_auc_interval(y[rows], s[rows], clusters=rows)
    assert clustered.auc == pytest.approx(once.auc)
    assert clustered.stderr == pytest.approx(once.stderr, rel=0.02)
    assert naive.stderr < 0.5 * once.stderr
    named = roc_auc_interval(y[rows], s[rows], clusters=np.char.add("user", rows.astype(str)))
    assert named.stderr == pytest.approx(clustered.stderr)


def test_effects_of_clusters_are_covered(rng):
    """Scores share a term within a cluster, which holds rows of both classes."""
    truth, hits = None, 0
    estimates = []
    for _ in range(200):
        user = np.repeat(np.arange(120), 10)
        y = np.tile(np.arange(10) < 4, 120)
        s = rng.standard_normal(120)[user] * 1.5 + rng.standard_normal(1200) + y
        found = roc_auc_interval(y, s, clusters=user)
        estimates.append(found)
    truth = np.mean([found.auc for found in estimates])
    hits = np.mean([found.low <= truth <= found.high for found in estimates])
    assert 0.9 < hits <= 0.99


class TestComparison:
    def test_equals_the_definition(self, rng):
        y = np.arange(200) < 100
        table = rng.standard_normal((3, 200)) + y * [[0.5], [1.0], [1.5]]
        found = compare_roc_auc(y, table)
        auc, covariance = reference.delong_covariance(y, table)
        np.testing.assert_allclose(found.auc, auc)
        np.testing.assert_allclose(found.covariance, covariance, rtol=1e-10)
        single = [roc_auc_interval(y, s).stderr for s in table]
        np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), single)
        assert found.difference[2, 0] == pytest.approx(auc[2] - auc[0])
        assert found.low[2, 0] < found.difference[2, 0] < found.high[2, 0]
        np.testing.assert_allclose(found.p_value, found.p_value.T)
        assert found.p_value_all < 0.05
        np.testing.assert_array_equal(found.holm_p_value, holm(found.p_value))

    def test_p_values_of_pairs_say_that_they_are_not_adjusted(self, rng):
        y = rng.random(300) < 0.5
        table = rng.standard_normal((3, 300)) + y
        three, two = compare_roc_auc(y, table), compare_roc_auc(y, table[:2])
        for i, j in ((0, 1), (0, 2), (1, 2)):
            told = f"p = {three.p_value[i, j]:.3g} not adjusted, {three.holm_p_value[i, j]:.3g} Holm)"
            assert told in str(three)
        assert "adjusted" not in str(two)
        assert repr(two) == str(two)

    def test_no_difference_is_found_where_there_is_none(self, rng):
        y = rng.random(300) < 0.5
        rejected = all_rejected = 0
        for _ in range(400):
            common = rng.standard_normal(300) + y
            found = compare_roc_auc(y, common + 0.7 * rng.standard_normal((3, 300)))
            rejected += found.p_value[0, 1] < 0.05
            all_rejected += found.p_value_all < 0.05
        assert 0.02 < rejected / 400 < 0.09
        assert 0.02 < all_rejected / 400 < 0.09

    def test_a_scorer_and_its_copy(self, rng):
        y = np.arange(200) < 100
        s = rng.standard_normal(200) + y
        found = compare_roc_auc(y, {"a": s, "b": s, "c": 2 * s + 1})
        np.testing.assert_array_equal(found.difference, 0.0)
        np.testing.assert_array_equal(found.p_value, 1.0)
        assert found.p_value_all == 1.0
        assert "a - b: +0.0000" in str(found)

    def test_one_swapped_pair_is_resolved(self, rng):
        """The two differ in one positive row that has fallen below one negative: known as exact fractions."""
        m, n = 3000, 5000
        y = np.arange(m + n) < m
        s = rng.permutation(m + n).astype(float)
        order = np.argsort(s)
        at = next(k for k in range(4000, m + n) if y[order[k]] and not y[order[k - 1]])
        swapped = s.copy()
        swapped[order[[at, at - 1]]] = s[order[[at - 1, at]]]
        # one placement of each class differs, by 1/n and 1/m; both have the mean 1/mn
        gap = Fraction(1, m * n)
        of_plus = (Fraction(1, n) ** 2 - m * gap**2) / (m - 1) / m
        of_minus = (Fraction(1, m) ** 2 - n * gap**2) / (n - 1) / n
        variance = of_plus + of_minus
        found = compare_roc_auc(y, [s, swapped, 2 * s])
        assert found.difference[0, 1] == pytest.approx(float(gap), rel=1e-9)
        assert found.stderr[0, 1] == pytest.approx(float(variance) ** 0.5, rel=1e-9)
        p_value = 2 * ndtr(-(float(gap**2 / variance) ** 0.5))
        assert p_value == pytest.approx(0.48, abs=0.005)
        np.testing.assert_allclose(
            found.p_value, [[1, p_value, 1], [p_value, 1, p_value], [1, p_value, 1]], rtol=1e-9
        )
        assert found.p_value_all == pytest.approx(p_value, rel=1e-6)

    @pytest.mark.parametrize("weights", [None, "frequency", "sampling"])
    def test_a_swap_within_a_class_is_no_difference(self, rng, weights):
        """Weights in another order have other sums by rounding: that is no difference."""
        y = rng.random(2000) < 0.5
        w = None if weights is None else rng.lognormal(size=2000)
        s = rng.standard_normal(2000) + y
        order = np.argsort(s)
        table = [s]
        for mask in (y, ~y):
            at = next(k for k in range(500, 2000) if mask[order[k]] and mask[order[k - 1]])
            table.append(s.copy())
            table[-1][order[[at, at - 1]]] = s[order[[at - 1, at]]]
        found = compare_roc_auc(y, table, sample_weight=w, weights=weights)
        np.testing.assert_array_equal(found.difference, 0.0)
        np.testing.assert_array_equal(found.p_value, 1.0)
        assert found.p_value_all == 1.0

    def test_all_equal_is_the_test_of_a_pair_for_two(self, rng):
        y = rng.random(300) < 0.5
        found = compare_roc_auc(y, rng.standard_normal((2, 300)) + y)
        assert found.p_value_all == pytest.approx(found.p_value[0, 1], rel=1e-9)

    def test_pairing_sees_what_intervals_hide(self, rng):
        y = rng.random(2000) < 0.3
        s = rng.standard_normal(2000) + y
        better, worse = s, s + 0.5 * rng.standard_normal(2000)
        found = compare_roc_auc(y, {"better": better, "worse": worse})
        a, b = roc_auc_interval(y, better), roc_auc_interval(y, worse)
        assert a.low < b.high
        assert found.p_value[0, 1] < 0.01

    def test_weights_and_clusters(self, rng):
        y = rng.random(300) < 0.5
        table = rng.standard_normal((2, 300)) + y
        w = rng.integers(1, 4, 300)
        found = compare_roc_auc(y, table, sample_weight=w, weights="frequency")
        repeated = compare_roc_auc(np.repeat(y, w), np.repeat(table, w, axis=1))
        np.testing.assert_allclose(found.covariance, repeated.covariance)
        rows = np.tile(np.arange(300), 3)
        once = compare_roc_auc(y, table, clusters=np.arange(300))
        clustered = compare_roc_auc(y[rows], table[:, rows], clusters=rows)
        np.testing.assert_allclose(clustered.covariance, once.covariance)


def test_few_rows_are_warned_of(rng):
    y = np.arange(300) < 20
    s = rng.standard_normal(300) + y
    with pytest.warns(FewRowsWarning, match="20 positive rows: with"):
        roc_auc_interval(y, s)
    with pytest.warns(FewRowsWarning, match="15 clusters with positive rows, 15 clusters with negative rows"):
        roc_auc_interval(np.arange(300) < 150, s, clusters=np.arange(300) // 10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 95}, "confidence must be a finite number greater than 0 and less than 1, got 95"),
        ({"scale": "log"}, "scale must be"),
        ({"weights": "frequency"}, "pass sample_weight as well"),
        ({"sample_weight": np.ones(4)}, "weights must be 'frequency'"),
        ({"sample_weight": np.ones(4), "weights": "importance"}, "weights must be 'frequency'"),
        ({"sample_weight": np.ones(3), "weights": "sampling"}, "one weight for each row"),
        ({"clusters": [1, 2]}, "clusters must have a label for each of the 4 rows"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        roc_auc_interval([0, 0, 1, 1], [0.0, 1.0, 2.0, 0.5], **settings)


@few_rows
def test_too_little_for_a_variance_is_refused():
    with pytest.raises(ValueError, match="at least 2 positive rows, got 1"):
        roc_auc_interval([0, 0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="at least two scorers"):
        compare_roc_auc([0, 0, 1, 1], {"a": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match="scorer 'b': the score of row 2 is NaN"):
        compare_roc_auc([0, 0, 1, 1], {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, np.nan, 4.0]})
