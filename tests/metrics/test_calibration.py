"""Calibration: maps against slow twins, and what holds for all of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from mbauc.metrics import Calibration, calibration_error, fit_calibration, roc_auc
from mbauc.metrics.calibration import _fit_isotonic, choose_calibration, fit_logistic, pool_adjacent_violators
from mbauc.metrics.ranked import RankedScores


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=7))
def test_pools_are_those_of_all_ways_to_pool(rows):
    values, weight = np.array(rows, dtype=float).T
    best = np.inf
    for cuts in itertools.product([False, True], repeat=values.size - 1):
        starts = np.flatnonzero([True, *cuts])
        means = np.add.reduceat(values * weight, starts) / np.add.reduceat(weight, starts)
        if (np.diff(means) >= 0).all():
            fitted = np.repeat(means, np.diff([*starts, values.size]))
            best = min(best, weight @ (values - fitted) ** 2)
    ends = pool_adjacent_violators(values, weight)
    means = [np.average(values[a:b], weights=weight[a:b]) for a, b in itertools.pairwise(ends)]
    assert (np.diff(means) > 0).all()
    found = weight @ (values - np.repeat(means, np.diff(ends))) ** 2
    assert found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("parted", [False, True])
def test_the_line_is_that_of_greatest_likelihood(parted):
    rng = np.random.default_rng(3)
    s = 1e4 + 20 * rng.standard_normal(80)
    y = s > np.median(s) if parted else rng.random(80) < expit((s - 1e4) / 10)
    weight = rng.integers(1, 4, 80).astype(float)
    plus, minus = weight[y].sum(), weight[~y].sum()
    target = np.where(y, (plus + 1) / (plus + 2), 1 / (minus + 2))

    def loss(line):
        odds = line[0] * (s - 1e4) / 20 + line[1]
        return weight @ (np.logaddexp(0, odds) - target * odds)

    slow = minimize(
        loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
    )
    found = fit_logistic(RankedScores(y, s, weight))
    np.testing.assert_allclose(found.log_odds(s), slow.x[0] * (s - 1e4) / 20 + slow.x[1], atol=1e-5)


@given(st.lists(st.tuples(st.integers(-20, 20), st.booleans(), st.integers(1, 3)), min_size=4, max_size=40))
def test_maps_rise_and_are_finite_whatever_the_rows(rows):
    s, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    ranked = RankedScores(y == 1, s, weight)
    if not 0 < ranked.positive.sum() < y.size:
        return
    grid = np.linspace(-40.0, 40.0, 333)
    repeated = RankedScores(np.repeat(y == 1, weight.astype(int)), np.repeat(s, weight.astype(int)))
    for fit in (fit_logistic, _fit_isotonic):
        found = fit(ranked)
        odds = found.log_odds(grid)
        assert np.isfinite(odds).all()
        assert (np.diff(odds) > 0).all()
        assert np.ptp(found.log_odds([s.min(), s.max()])) >= 0.01 * (1 - 1e-9) * (s.min() < s.max())
        np.testing.assert_allclose(odds, fit(repeated).log_odds(grid), rtol=1e-6, atol=1e-6)
        assert roc_auc(y, found.log_odds(s), sample_weight=weight) == pytest.approx(
            roc_auc(y, s, sample_weight=weight), abs=1e-12
        )


@pytest.mark.parametrize(
    "hits", [np.tile(np.arange(100) < 20, 2), np.arange(200) < 100], ids=["nothing", "the contrary"]
)
def test_the_line_of_scores_that_say_nothing_or_the_contrary_rises_a_little(hits):
    line = fit_logistic(RankedScores(hits, np.repeat([3.0, 5.0], 100)))
    assert np.ptp(line.log_odds([3.0, 5.0])) == pytest.approx(0.01)
    assert line.probability([3.0, 5.0]).mean() == pytest.approx(hits.mean(), abs=0.01)


def test_a_pool_counts_one_row_more_of_the_share_of_all():
    s = np.repeat([7.0, 8.0, 9.0], [10, 20, 10])
    y = np.concatenate([np.arange(10) < 1, np.arange(20) < 2, np.arange(10) < 5])
    found = _fit_isotonic(RankedScores(y, s))
    # the first two values are one pool, around the mean of its scores
    assert [knot for knot, _ in found.knots] == pytest.approx([(70 + 160) / 30, 9.0])
    assert [height for _, height in found.knots] == pytest.approx(logit([(3 + 0.2) / 31, (5 + 0.2) / 11]))
    assert found.share == 0.2


# -- the choice -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_simplest_map_within_one_standard_error_is_taken(weighted):
    rng = np.random.default_rng(1)
    s = rng.standard_normal(400)
    y = rng.random(400) < expit(2 * s - 1)
    weight = rng.integers(1, 6, 400) if weighted else np.ones(400, dtype=int)

    def losses(odds):
        return np.logaddexp(0.0, np.where(y, -odds, odds))

    line = choose_calibration(y, s, sample_weight=weight)
    assert line.calibration.kind == "logistic"
    verdicts = []
    for offset in np.linspace(-1.5, 1.5, 31):
        current = Calibration("moments", 2.0, offset)
        found = choose_calibration(y, s, sample_weight=weight, current=current)
        assert found.log_loss["current"] == pytest.approx(
            np.average(losses(current.log_odds(s)), weights=weight)
        )
        assert found.log_loss["logistic"] == line.log_loss["logistic"]
        if min(found.log_loss, key=found.log_loss.get) == "logistic":
            gap = np.repeat(losses(current.log_odds(s)) - losses(line.log_odds), weight)
            verdicts.append(gap.mean() <= gap.std(ddof=1) / np.sqrt(gap.size))
            assert (found.calibration is current) == verdicts[-1]
            assert ("simpler" in found.reason) == verdicts[-1]
    assert set(verdicts) == {True, False}


def test_what_is_told_of_the_chosen_map_is_held_out():
    """Each row's log-odds are those of a map that did not see its label, and add up to the loss."""
    rng = np.random.default_rng(0)
    s = rng.standard_normal(300)
    y = rng.random(300) < expit(s)
    found = choose_calibration(y, s)
    kind = found.calibration.kind
    loss = np.logaddexp(0.0, np.where(y, -found.log_odds, found.log_odds)).mean()
    assert loss == pytest.approx(found.log_loss[kind], rel=1e-12)
    seen = found.calibration.log_odds(s)
    assert found.log_loss[kind] > np.logaddexp(0.0, np.where(y, -seen, seen)).mean()


def test_folds_are_drawn_by_the_seed():
    rng = np.random.default_rng(0)
    s = rng.standard_normal(200)
    y = rng.random(200) < expit(s)
    losses = [choose_calibration(y, s, random_state=seed).log_loss for seed in (0, 0, 1)]
    assert losses[0] == losses[1]
    assert losses[0] != losses[2]


@pytest.mark.parametrize("seed", range(8))
def test_each_fold_is_fitted_to_rows_of_both_classes(seed):
    s = np.random.default_rng(0).standard_normal(30)
    y = np.arange(30) < 2
    assert all(np.isfinite(loss) for loss in choose_calibration(y, s, random_state=seed).log_loss.values())


def test_the_map_that_the_rows_come_from_is_found():
    rng = np.random.default_rng(0)
    s = rng.standard_normal(20_000)
    u = rng.random(s.size)
    right = Calibration("moments", 2.0, -1.0)
    assert fit_calibration(u < right.probability(s), s, current=right) is right
    wrong = Calibration("moments", 5.0)
    line = choose_calibration(u < right.probability(s), s, current=wrong)
    assert line.calibration.kind == "logistic"
    assert list(line.log_loss) == ["current", "logistic", "isotonic"]
    assert line.calibration.slope == pytest.approx(2.0, abs=0.1)
    bent = expit(np.where(s < 0, -3.0, 1.0) + 0.2 * s)
    found = fit_calibration(u < bent, s, current=wrong)
    assert found.kind == "isotonic"
    fresh = rng.standard_normal(20_000)
    chance = expit(np.where(fresh < 0, -3.0, 1.0) + 0.2 * fresh)
    y = rng.random(fresh.size) < chance
    assert (
        calibration_error(y, found.probability(fresh)) < 0.015 < calibration_error(y, wrong.probability(fresh))
    )


def test_another_share_of_positives_is_bayes_rule():
    before = Calibration("isotonic", 0.1, knots=((0.0, -1.0), (1.0, 2.0)), share=0.2)
    p = before.probability([-1.0, 0.3, 5.0])
    likelihood = p / (1 - p) * (0.8 / 0.2)
    after = before.with_share(0.01)
    np.testing.assert_allclose(after.probability([-1.0, 0.3, 5.0]), likelihood / (likelihood + 99))
    assert after.share == 0.01
    with pytest.raises(ValueError, match="share of positives"):
        Calibration("moments", 1.0).with_share(0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "logistic", "slope": -1.0},
        {"kind": "isotonic", "slope": 1.0},
        {"kind": "logistic", "slope": 1.0, "knots": ((0, 0), (1, 1))},
        {"kind": "isotonic", "slope": 1.0, "knots": ((0, 0), (1, 0))},
        {"kind": "isotonic", "slope": 1.0, "knots": ((0, np.nan),)},
    ],
)
def test_maps_that_do_not_rise_are_refused(wrong):
    with pytest.raises(ValueError, match=r"slope|knots"):
        Calibration(**wrong)
