"""Intervals hold the truth as often as they say; docs/coverage.md has more of it."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtri

from mbauc.errors import FewRowsWarning
from mbauc.metrics import roc_auc_interval

SETS = 2000


def shift(truth):
    """Distance of the means of two normal scores of variance one with that AUC: Φ(shift/√2)."""
    return np.sqrt(2.0) * ndtri(truth)


@pytest.mark.parametrize(("positives", "rows"), [(500, 1000), (500, 10_000)])
def test_a_95_percent_interval_holds_the_truth_19_times_of_20(rng, positives, rows):
    y = np.arange(rows) < positives
    hits = {0.75: 0, 0.95: 0}
    for _ in range(SETS):
        noise = rng.standard_normal(rows)
        for truth in hits:
            found = roc_auc_interval(y, noise + shift(truth) * y)
            hits[truth] += found.low <= truth <= found.high
    for truth, count in hits.items():
        assert 0.93 <= count / SETS <= 0.97, truth


@pytest.mark.parametrize("positives", [10, 20, 49])
def test_few_positives_are_warned_of(rng, positives):
    y = np.arange(1000 + positives) < positives
    with pytest.warns(FewRowsWarning, match=f"{positives} positive rows: with fewer than 50"):
        roc_auc_interval(y, rng.standard_normal(y.size) + y)


def test_enough_positives_are_not_warned_of(rng):
    y = np.arange(1050) < 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        roc_auc_interval(y, rng.standard_normal(y.size) + y)
