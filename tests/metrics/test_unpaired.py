import numpy as np
import pytest
from scipy.special import ndtr

import reference
from mbauc.errors import FewRowsWarning
from mbauc.metrics import (
    AucInterval,
    compare_roc_auc,
    compare_roc_auc_unpaired,
    roc_auc_bootstrap,
    roc_auc_interval,
)


def sample(rng, n, shift=1.0):
    y = rng.random(n) < 0.5
    return y, rng.standard_normal(n) + shift * y


def test_equals_the_definition(rng):
    first, second = sample(rng, 300), sample(rng, 400, 0.5)
    found = compare_roc_auc_unpaired(roc_auc_interval(*first), roc_auc_interval(*second), confidence=0.9)
    (a, v), (b, w) = reference.delong(*first), reference.delong(*second)
    stderr = np.sqrt(v + w)
    assert (found.difference, found.stderr) == pytest.approx((a - b, stderr))
    assert found.p_value == pytest.approx(2 * ndtr(-abs(a - b) / stderr))
    assert (found.low, found.high) == pytest.approx((a - b - 1.6448536 * stderr, a - b + 1.6448536 * stderr))
    back = compare_roc_auc_unpaired(roc_auc_interval(*second), roc_auc_interval(*first))
    assert (back.difference, back.p_value) == (-found.difference, found.p_value)
    assert str(back).startswith(f"{back.difference:+.4f} (95% interval ")


def test_no_difference_is_found_where_there_is_none(rng):
    rejected = 0
    for _ in range(500):
        first, second = roc_auc_interval(*sample(rng, 300)), roc_auc_interval(*sample(rng, 800))
        rejected += compare_roc_auc_unpaired(first, second).p_value < 0.05
    assert 0.025 < rejected / 500 < 0.08


def test_the_same_rows_are_no_independent_ones(rng):
    """What pairing knows the unpaired test cannot."""
    y, s = sample(rng, 1000)
    noisy = s + 0.5 * rng.standard_normal(1000)
    paired = compare_roc_auc(y, [s, noisy])
    unpaired = compare_roc_auc_unpaired(roc_auc_interval(y, s), roc_auc_interval(y, noisy))
    assert unpaired.difference == pytest.approx(paired.difference[0, 1])
    assert unpaired.p_value > 3 * paired.p_value[0, 1]


def test_intervals_of_any_making(rng):
    (y, s), other = sample(rng, 1000), roc_auc_interval(*sample(rng, 500))
    clustered = roc_auc_interval(y, s, clusters=np.arange(1000) // 2)
    resampled = roc_auc_bootstrap(y, s, resamples=400, random_state=0)
    for each in (clustered, resampled):
        found = compare_roc_auc_unpaired(each, other)
        assert found.stderr == pytest.approx(np.sqrt(each.stderr**2 + other.stderr**2))


def test_no_spread_at_all():
    perfect, good = AucInterval(1.0, 0.9, 1.0, 0.0, 0.95), AucInterval(0.9, 0.8, 0.95, 0.03, 0.95)
    with pytest.warns(FewRowsWarning, match="exactly 0 or 1") as caught:
        found = compare_roc_auc_unpaired(perfect, perfect)
    assert caught[0].filename == __file__
    assert (found.difference, found.p_value) == (0.0, 1.0)
    with pytest.warns(FewRowsWarning):
        assert compare_roc_auc_unpaired(perfect, good).stderr == 0.03
    constant = AucInterval(0.5, 0.5, 0.5, 0.0, 0.95)
    assert compare_roc_auc_unpaired(constant, good).p_value < 1e-6


@pytest.mark.parametrize(
    ("first", "settings", "message"),
    [
        (
            [0.9, 0.8],
            {},
            "first must be an AucInterval.*got list. Scores of the same rows go to compare_roc_auc",
        ),
        (
            AucInterval(0.9, 0.8, 0.95, 0.03, 0.95),
            {"confidence": 95},
            "confidence must be a finite number greater than 0",
        ),
    ],
)
def test_bad_input_is_named(first, settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare_roc_auc_unpaired(first, AucInterval(0.9, 0.8, 0.95, 0.03, 0.95), **settings)
