import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from sklearn.metrics import roc_auc_score

import reference
from mbauc.errors import FewRowsWarning
from mbauc.metrics import partial_roc_auc, partial_roc_auc_interval, roc_auc, roc_auc_interval

few_rows = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
REGIONS = ({"max_fpr": 0.1}, {"min_tpr": 0.7}, {"max_fpr": 0.5, "min_tpr": 0.4})


@st.composite
def scored(draw):
    n = draw(st.integers(2, 25))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n)))
    return y, s, w


shares = st.floats(0.01, 1.0)


@given(scored(), shares, st.floats(0.0, 0.99))
def test_equals_the_integral(case, max_fpr, min_tpr):
    y, s, w = case
    for weight in (None, w):
        area = partial_roc_auc(y, s, sample_weight=weight, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
        assert area == pytest.approx(reference.partial_area(y, s, max_fpr, min_tpr, weight), abs=1e-4)


@given(scored(), shares)
def test_equals_scikit_learn_one_way(case, max_fpr):
    y, s, w = case
    if max_fpr < 1:
        assert partial_roc_auc(y, s, max_fpr=max_fpr) == pytest.approx(
            roc_auc_score(y, s, max_fpr=max_fpr), abs=1e-9
        )
        assert partial_roc_auc(y, s, sample_weight=w, max_fpr=max_fpr) == pytest.approx(
            roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=w), abs=1e-9
        )
    assert partial_roc_auc(y, s) == pytest.approx(roc_auc(y, s), abs=1e-12)


@given(scored(), shares, st.floats(0.0, 0.99))
def test_both_ways_are_the_same_region_seen_from_the_other_class(case, max_fpr, min_tpr):
    """Swapping the classes and the sign of the scores mirrors the curve at the falling diagonal."""
    y, s, _ = case
    here = partial_roc_auc(y, s, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
    there = partial_roc_auc(~y, -s, max_fpr=1 - min_tpr, min_tpr=1 - max_fpr, standardized=False)
    assert here == pytest.approx(there, abs=1e-9)


def test_chance_is_one_half_and_perfection_one(rng):
    y = np.arange(40_000) % 2
    for region in ({"max_fpr": 0.2}, {"min_tpr": 0.7}, {"max_fpr": 0.6, "min_tpr": 0.3}):
        assert partial_roc_auc(y, y, **region) == pytest.approx(1.0)
        assert partial_roc_auc(y, np.zeros(y.size), **region) == pytest.approx(0.5)
        assert partial_roc_auc(y, rng.random(y.size), **region) == pytest.approx(0.5, abs=0.01)
    assert partial_roc_auc(y, np.zeros(y.size), max_fpr=0.3, min_tpr=0.7) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_fpr": 0.0}, "max_fpr must be"),
        ({"max_fpr": 1.2}, "max_fpr must be"),
        ({"min_tpr": 1.0}, "min_tpr must be .* less than 1"),
        ({"min_tpr": -0.1}, "min_tpr must be"),
        ({"standardized": "yes"}, "standardized must be True or False"),
        ({"sample_weight": [1.0]}, "one weight for each row"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        partial_roc_auc([0, 1], [0.0, 1.0], **settings)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_are_ties_whatever_their_order(value):
    for y in ([1] * 50 + [0] * 50, [0] * 50 + [1] * 50):
        assert partial_roc_auc(y, np.full(100, value)) == pytest.approx(0.5)


class TestInterval:
    @few_rows
    @given(scored())
    def test_without_a_region_it_is_that_of_the_auc(self, case):
        y, s, w = case
        assume(min(y.sum(), (~y).sum()) >= 2)
        for settings in ({}, {"clusters": np.arange(y.size)}, {"sample_weight": w, "weights": "sampling"}):
            for scale in ("logit", "linear"):
                found = partial_roc_auc_interval(y, s, scale=scale, **settings)
                whole = roc_auc_interval(y, s, scale=scale, **settings)
                assert vars(found) == pytest.approx(vars(whole), abs=1e-9)

    @pytest.mark.slow
    @few_rows
    @pytest.mark.parametrize("region", REGIONS)
    @pytest.mark.parametrize("design", ["plain", "sampling", "clusters"])
    def test_agrees_with_the_bootstrap(self, rng, region, design):
        user = np.repeat(np.arange(500), 5)
        y = rng.random(2500) < 0.4
        s = rng.standard_normal(500)[user] + rng.standard_normal(2500) + 1.5 * y
        w = rng.lognormal(sigma=0.7, size=2500)
        settings = {
            "plain": {},
            "sampling": {"sample_weight": w, "weights": "sampling"},
            "clusters": {"clusters": user},
        }[design]
        found = partial_roc_auc_interval(y, s, **settings, **region)
        draws = []
        for _ in range(500):
            if design == "clusters":
                rows = (5 * rng.integers(500, size=500)[:, None] + np.arange(5)).ravel()
            else:
                rows = np.concatenate([rng.choice(np.flatnonzero(mask), mask.sum()) for mask in (y, ~y)])
            draws.append(
                partial_roc_auc(
                    y[rows], s[rows], sample_weight=w[rows] if design == "sampling" else None, **region
                )
            )
        # five standard errors of a standard deviation of so many draws
        assert found.stderr == pytest.approx(np.std(draws), rel=5 / np.sqrt(2 * 500))
        assert found.auc == partial_roc_auc(y, s, sample_weight=settings.get("sample_weight"), **region)
        assert found.low < found.auc < found.high

    @pytest.mark.slow
    @pytest.mark.parametrize("region", REGIONS)
    def test_covers_and_has_the_right_width(self, rng, region):
        """Normal scores one and a half apart."""
        t = (np.arange(100_000) + 0.5) / 100_000 * region.get("max_fpr", 1.0)
        curve = np.maximum(0.0, ndtr(1.5 + ndtri(t)) - region.get("min_tpr", 0.0))
        truth = region.get("max_fpr", 1.0) * curve.mean()
        y = np.arange(1700) < 500
        found = [
            partial_roc_auc_interval(y, rng.standard_normal(1700) + 1.5 * y, standardized=False, **region)
            for _ in range(400)
        ]
        assert 0.92 <= np.mean([each.low <= truth <= each.high for each in found]) <= 0.985
        spread = np.std([each.auc for each in found])
        assert np.mean([each.stderr for each in found]) == pytest.approx(spread, rel=0.15)

    def test_frequencies_are_repeated_rows(self, rng):
        y, w = rng.random(1200) < 0.5, rng.integers(1, 4, 1200)
        s = rng.standard_normal(1200) + y
        for region in REGIONS:
            found = partial_roc_auc_interval(y, s, sample_weight=w, weights="frequency", **region)
            repeated = partial_roc_auc_interval(np.repeat(y, w), np.repeat(s, w), **region)
            assert vars(found) == pytest.approx(vars(repeated), abs=1e-9)

    def test_the_same_region_seen_from_the_other_class(self, rng):
        y = rng.random(1500) < 0.5
        s = rng.standard_normal(1500) + y
        here = partial_roc_auc_interval(y, s, max_fpr=0.6, min_tpr=0.3)
        there = partial_roc_auc_interval(~y, -s, max_fpr=0.7, min_tpr=0.4)
        assert vars(here) == pytest.approx(vars(there), abs=1e-9)
        area = partial_roc_auc_interval(y, s, max_fpr=0.6, min_tpr=0.3, standardized=False)
        width = (here.high - here.low) / here.stderr
        assert width == pytest.approx((area.high - area.low) / area.stderr)

    @few_rows
    @given(shares, st.floats(0.0, 0.99))
    def test_all_of_the_region_or_nothing_of_it_is_not_certain(self, max_fpr, min_tpr):
        y = np.repeat([0, 1], 2000)
        rows, largest = 2000 * min(max_fpr, 1 - min_tpr), max_fpr * (1 - min_tpr)
        for sign in (1, -1):
            found = partial_roc_auc_interval(y, sign * y, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
            assert found.auc == pytest.approx(largest * (sign + 1) / 2, abs=1e-12)
            assert (found.high - found.low) / largest == pytest.approx(1 - 0.025 ** (1 / rows))

    @pytest.mark.parametrize("region", REGIONS)
    @pytest.mark.parametrize("standardized", [True, False])
    def test_on_the_linear_scale_it_is_so_many_standard_errors_in_any_unit(self, rng, region, standardized):
        y = rng.random(3000) < 0.5
        s = rng.standard_normal(3000) + y
        settings = {"standardized": standardized, **region}
        found = partial_roc_auc_interval(y, s, scale="linear", confidence=0.9, **settings)
        half = ndtri(0.95) * found.stderr
        assert (found.low, found.high) == pytest.approx((found.auc - half, found.auc + half))

    @pytest.mark.parametrize("region", REGIONS)
    def test_rows_of_a_cluster_count_together(self, rng, region):
        """Each row five times over: clusters see through it, the plain interval does not."""
        y = rng.random(2000) < 0.4
        s = rng.standard_normal(2000) + y
        rows = np.tile(np.arange(2000), 5)
        once = partial_roc_auc_interval(y, s, **region)
        naive = partial_roc_auc_interval(y[rows], s[rows], **region)
        clustered = partial_roc_auc_interval(y[rows], s[rows], clusters=rows, **region)
        assert clustered.stderr == pytest.approx(once.stderr, rel=0.01)
        assert naive.stderr < 0.5 * once.stderr

    def test_few_rows_in_the_region_are_warned_of(self, rng):
        y = rng.random(2000) < 0.5
        with pytest.warns(FewRowsWarning, match="negative rows in the region: with fewer than 100"):
            partial_roc_auc_interval(y, rng.standard_normal(2000) + y, max_fpr=0.05)
        y = np.repeat([0, 1], 2000)
        s = np.where(np.arange(4000) == 3999, -1, y)  # one positive row below all others
        with pytest.warns(
            FewRowsWarning, match="^share of the region 0.9995 of 200 negative rows in the region"
        ):
            partial_roc_auc_interval(y, s, max_fpr=0.1)

    @few_rows
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"max_fpr": 0.0}, "max_fpr must be"),
            ({"confidence": 95}, "confidence must be a finite number greater than 0 and less than 1, got 95"),
            ({"scale": "log"}, "scale must be 'logit' or 'linear', got 'log'"),
            ({"sample_weight": np.ones(4)}, "weights must be 'frequency'"),
        ],
    )
    def test_bad_settings_are_named(self, settings, message):
        with pytest.raises(ValueError, match=message):
            partial_roc_auc_interval([0, 0, 1, 1], [0.0, 1.0, 2.0, 0.5], **settings)
