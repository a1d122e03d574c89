import numpy as np
import pytest
from scipy import stats

from mbauc.metrics import RankTests, holm, rank_tests

#: Demšar 2006, Table 5(a): critical values of the Nemenyi test at 5% for 2 to 10 methods.
NEMENYI = dict(zip(range(2, 11), (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164), strict=True))


@pytest.fixture
def trees():
    """Mean ranks of four variants of C4.5 on 14 data sets, from Demšar's example."""
    return RankTests(
        names=["plain", "m", "cf", "m+cf"],
        mean_rank=np.array([44.0, 28.0, 40.5, 27.5]) / 14,
        friedman_p_value=float(stats.chi2.sf(9.28, 3)),
        wilcoxon_p_value=np.ones((4, 4)),
        iman_davenport_p_value=float(stats.f.sf(3.69, 3, 39)),
        n_datasets=14,
    )


def test_ranks_over_data_sets(rng):
    base = rng.random(15)
    table = {"best": base + 0.2, "middle": base + 0.1, "worst": base}
    found = rank_tests(table)
    assert (found.names, found.n_datasets) == (["best", "middle", "worst"], 15)
    np.testing.assert_array_equal(found.mean_rank, [1, 2, 3])
    assert found.friedman_p_value == pytest.approx(stats.friedmanchisquare(*table.values()).pvalue)
    assert found.wilcoxon_p_value[0, 2] == pytest.approx(stats.wilcoxon(base + 0.2, base).pvalue)
    np.testing.assert_array_equal(found.wilcoxon_p_value, found.wilcoxon_p_value.T)
    np.testing.assert_array_equal(found.wilcoxon_holm_p_value, holm(found.wilcoxon_p_value))
    assert found.iman_davenport_p_value == 0.0
    equal = rank_tests({"a": base, "b": base, "c": base})
    assert (equal.friedman_p_value, equal.iman_davenport_p_value, equal.wilcoxon_p_value.min()) == (1, 1, 1)
    assert equal.nemenyi_p_value.min() == 1.0
    two = rank_tests({"a": base, "b": base + rng.standard_normal(15)})
    assert np.isnan([two.friedman_p_value, two.iman_davenport_p_value]).all()


@pytest.mark.parametrize(("k", "critical"), NEMENYI.items())
def test_critical_differences_are_those_of_demsar(rng, k, critical):
    found = rank_tests({str(name): scores for name, scores in enumerate(rng.random((k, 12)))})
    assert found.critical_difference() / np.sqrt(k * (k + 1) / (6 * 12)) == pytest.approx(critical, abs=1.5e-3)
    assert found.critical_difference(0.9) < found.critical_difference() < found.critical_difference(0.99)


def test_the_example_of_demsar(trees):
    assert trees.critical_difference() == pytest.approx(1.25, abs=0.005)
    assert trees.critical_difference(0.9) == pytest.approx(1.12, abs=0.005)
    against = trees.holm_against("plain")
    assert list(against) == ["m", "cf", "m+cf"]
    # p = 0.019, 0.607, 0.016 in the example; none is adjusted to less than a smaller one
    assert list(against.values()) == pytest.approx([3 * 0.016, 0.607, 3 * 0.016], abs=2e-3)
    assert "not adjusted" in str(trees)
    assert str(trees) == repr(trees)


def test_nemenyi_and_the_critical_difference_tell_the_same(trees):
    p = trees.nemenyi_p_value
    apart = np.abs(trees.mean_rank[:, None] - trees.mean_rank[None, :])
    np.testing.assert_array_equal(p, p.T)
    np.testing.assert_array_equal(np.diag(p), 1.0)
    np.testing.assert_array_equal(p < 0.05, apart > trees.critical_difference())
    np.testing.assert_array_equal(p < 0.10, apart > trees.critical_difference(0.9))


def test_iman_davenport_is_less_timid_than_friedman(rng):
    """Demšar's formula from Friedman's χ²; both hold their level where no method is better."""
    friedman = iman = 0
    for _ in range(100):
        scores = rng.random((4, 10))
        found = rank_tests(dict(zip("abcd", scores, strict=True)))
        chi = stats.friedmanchisquare(*scores).statistic
        wanted = stats.f.sf(9 * chi / (10 * 3 - chi), 3, 27)
        assert found.iman_davenport_p_value == pytest.approx(wanted, rel=1e-9)
        friedman += found.friedman_p_value < 0.05
        iman += found.iman_davenport_p_value < 0.05
    assert friedman <= iman
    assert 0.02 < iman / 100 < 0.09


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda tests: tests.holm_against("C5"),
            "control must be one of 'plain', 'm', 'cf', 'm\\+cf', got 'C5'",
        ),
        (
            lambda tests: tests.critical_difference(95),
            "confidence must be a finite number greater than 0 and less than 1, got 95",
        ),
        (lambda _: rank_tests({"a": [1.0, 2.0]}), "at least two methods"),
        (lambda _: rank_tests({"a": [1.0, 2.0], "b": [1.0]}), "a: 2, b: 1"),
    ],
)
def test_bad_input_is_named(trees, call, message):
    with pytest.raises(ValueError, match=message):
        call(trees)
