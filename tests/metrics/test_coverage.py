"""Intervals hold the truth as often as they say; docs/results/coverage.md has more of it."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtri

from mbauc.errors import FewRowsWarning
from mbauc.metrics import (
    compare_roc_auc,
    partial_roc_auc_interval,
    roc_auc,
    roc_auc_bootstrap,
    roc_auc_interval,
)

SETS = 2000


def shift(truth):
    """Distance of the means of two normal scores of variance one with that AUC: Φ(shift/√2)."""
    return np.sqrt(2.0) * ndtri(truth)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("positives", "rows", "truths"), [(500, 1000, (0.75, 0.95, 0.98)), (500, 10_000, (0.75, 0.95))]
)
def test_a_95_percent_interval_holds_the_truth_19_times_of_20(rng, positives, rows, truths):
    y = np.arange(rows) < positives
    hits = dict.fromkeys(truths, 0)
    for _ in range(SETS):
        noise = rng.standard_normal(rows)
        for truth in hits:
            found = roc_auc_interval(y, noise + shift(truth) * y)
            hits[truth] += found.low <= truth <= found.high
    for truth, count in hits.items():
        assert 0.93 <= count / SETS <= 0.97, truth


def binormal(rng, positives, negatives, truth):
    y = np.arange(positives + negatives) < positives
    return y, rng.standard_normal(y.size) + shift(truth) * y


@pytest.mark.parametrize("positives", [10, 50, 99])
def test_few_positives_are_warned_of(rng, positives):
    y, s = binormal(rng, positives, 1000, 0.75)
    with pytest.warns(
        FewRowsWarning, match=f"^{positives} positive rows: with fewer than 100 the confidence interval"
    ):
        roc_auc_interval(y, s)


@pytest.mark.parametrize("truth", [0.5, 0.75, 0.95, 0.98])
def test_enough_positives_are_not_warned_of(rng, truth):
    rows = 100 if truth < 0.98 else 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        roc_auc_interval(*binormal(rng, rows, 1000, truth))


METRICS = {
    "interval": roc_auc_interval,
    "comparison": lambda y, s, **settings: compare_roc_auc(y, [np.zeros(s.size), s], **settings),
    "bootstrap": lambda y, s, **settings: roc_auc_bootstrap(y, s, resamples=2, random_state=0, **settings),
    "partial": partial_roc_auc_interval,
}


@pytest.mark.parametrize("metric", METRICS)
class TestEffectiveRows:
    def test_sampling_weights_that_differ_leave_few(self, rng, metric):
        y, s = binormal(rng, 500, 5000, 0.75)
        w = rng.lognormal(sigma=2.0, size=y.size)
        kish = w[y].sum() ** 2 / (w[y] ** 2).sum()
        assert kish < 100
        with pytest.warns(FewRowsWarning, match=f"^{kish:.4g} effective positive rows: with fewer than 100"):
            METRICS[metric](y, s, sample_weight=w, weights="sampling")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            METRICS[metric](y, s, sample_weight=np.full(y.size, 0.3), weights="sampling")
            METRICS[metric](y, s, sample_weight=100 * w, weights="frequency")

    def test_clusters_of_different_sizes_are_few(self, rng, metric):
        """A tenth of the clusters has nearly all rows."""
        sizes = np.where(np.arange(300) % 10 == 0, 60, 2)
        user = np.repeat(np.arange(300), sizes)
        y = rng.random(user.size) < 0.5
        with pytest.warns(
            FewRowsWarning, match="effective clusters with positive rows, .* with fewer than 100"
        ):
            METRICS[metric](y, rng.standard_normal(user.size) + y, clusters=user)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_an_auc_near_1_needs_more_rows(self, rng, metric, sign):
        y, s = binormal(rng, 100, 1000, 0.997)
        near, auc = round((sign + 1) / 2), roc_auc(y, sign * s)
        with pytest.warns(FewRowsWarning, match=f" of 100 positive rows: this near to {near} the") as caught:
            METRICS[metric](y, sign * s)
        assert f"fewer than {int(np.ceil(2 / min(auc, 1 - auc))):,} of a class" in str(caught[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            METRICS[metric](y, sign * y)


@pytest.mark.parametrize("metric", [roc_auc_interval, partial_roc_auc_interval])
def test_the_warning_names_the_line_of_the_caller(rng, metric):
    with pytest.warns(FewRowsWarning) as caught:
        metric(*binormal(rng, 50, 1000, 0.9))
    assert caught[0].filename == __file__
    with pytest.warns(FewRowsWarning) as caught:
        compare_roc_auc(np.arange(90) < 50, rng.standard_normal((2, 90)))
    assert caught[0].filename == __file__


@pytest.mark.slow
def test_where_no_warning_comes_the_interval_holds_the_truth(rng):
    """Around the number of rows from which on an AUC of 0.99 is not warned of."""
    told, hits = 0, 0
    for _ in range(1000):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = roc_auc_interval(*binormal(rng, 220, 1000, 0.99))
        told += bool(caught)
        hits += not caught and found.low <= 0.99 <= found.high
    assert 0.2 < told / 1000 < 0.7
    assert hits / (1000 - told) >= 0.94
