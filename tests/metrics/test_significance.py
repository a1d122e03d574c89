import numpy as np
import pytest
from scipy import stats

from mbauc.metrics import paired_t_test, win_tie_loss


def test_the_plain_test_is_students(rng):
    a, b = rng.standard_normal((2, 20))
    found, theirs = paired_t_test(a, b), stats.ttest_rel(a, b)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.difference == pytest.approx((a - b).mean())


def test_the_correction_is_that_of_the_variance(rng):
    a, b = rng.standard_normal((2, 20))
    plain, corrected = paired_t_test(a, b), paired_t_test(a, b, test_ratio=0.25)
    assert corrected.stderr == pytest.approx(plain.stderr * np.sqrt(1 + 20 * 0.25))
    assert corrected.p_value > plain.p_value


def test_overlapping_halves_fool_the_plain_test_only(rng):
    """Two rankers that differ by noise alone, judged on halves of one sample again and again."""
    plain = corrected = 0
    for _ in range(150):
        gaps = rng.standard_normal(200)
        means = np.array([rng.permutation(gaps)[:100].mean() for _ in range(20)])
        plain += paired_t_test(means, np.zeros(20)).p_value < 0.05
        corrected += paired_t_test(means, np.zeros(20), test_ratio=1.0).p_value < 0.05
    assert plain / 150 > 0.3
    assert corrected / 150 < 0.1


def test_no_spread_at_all():
    same = paired_t_test([0.5, 0.6, 0.7], [0.5, 0.6, 0.7])
    assert (same.difference, same.statistic, same.p_value) == (0.0, 0.0, 1.0)
    always = paired_t_test([0.6, 0.7, 0.8], [0.5, 0.6, 0.7])
    assert always.difference == pytest.approx(0.1)
    assert (always.statistic, always.p_value) == (np.inf, 0.0)


def test_outcomes_are_counted(rng):
    ours = {"win": 0.9 + 0.01 * rng.random(10), "tie": rng.random(10), "loss": 0.5 + 0.01 * rng.random(10)}
    theirs = {"loss": np.full(10, 0.9), "win": np.full(10, 0.5), "tie": rng.random(10)}
    found = win_tie_loss(ours, theirs)
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    assert found.outcome == {"win": 1, "tie": 0, "loss": -1}
    assert str(found) == "1/1/1"
    assert str(win_tie_loss(theirs, ours)) == "1/1/1"
    few = [{name: scores[:2] for name, scores in each.items()} for each in (ours, theirs)]
    assert win_tie_loss(*few, confidence=1 - 1e-15).ties == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([1.0], [1.0]), "at least 2; got 1 and 1"),
        (lambda: paired_t_test([1.0, 2.0], [1.0]), "got 2 and 1"),
        (lambda: paired_t_test([1.0, np.nan], [1.0, 2.0]), "a has nan at place 1"),
        (lambda: paired_t_test([1.0, 2.0], ["x", "y"]), "b must hold numbers"),
        (lambda: paired_t_test([1.0, 2.0], [1.0, 2.0], test_ratio=-1), "test_ratio must be"),
        (lambda: win_tie_loss({"a": [1, 2]}, {"b": [1, 2]}), "same data sets"),
        (lambda: win_tie_loss({"a": [1, 2]}, {"a": [1]}), "data set 'a': a and b must have"),
        (lambda: win_tie_loss({"a": [1, 2]}, {"a": [1, 2]}, confidence=95), "confidence must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
