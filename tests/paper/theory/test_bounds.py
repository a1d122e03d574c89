import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

import reference
from mbauc.paper.theory import linear_tail, mean_tail, residual_tail, second_moment_tail, weight_bound
from mbauc.solvers import Penalty, solve_elastic_net, solve_ridge
from strategies import tables

PENALTIES = st.floats(1e-3, 10.0)


def differences(X, y, weight=None):
    """All x⁺ - x⁻, and the probability to draw each."""
    plus, minus = np.flatnonzero(y), np.flatnonzero(~y)
    weight = np.ones(len(y)) if weight is None else weight
    apart = np.array([X[i] - X[j] for i in plus for j in minus])
    share = np.array([weight[i] * weight[j] for i in plus for j in minus])
    return apart, share / share.sum()


def largest_squared_length(X):
    return ((X - X.mean(axis=0)) ** 2).sum(axis=1).max()


def minimiser(sigma, mu, l1, l2):
    penalty = Penalty(l1, l2, np.ones(mu.size))
    return (solve_elastic_net(sigma, mu, penalty, tol=1e-9) if l1 > 0 else solve_ridge(sigma, mu, penalty)).coef


class TestPrinted:
    def test_second_moment(self):
        # (24) and (25) put into (23)
        d, R_x, norm, S, gamma = 7, 1.3, 0.6, 5000, 0.11
        L, variance = 4 * R_x / S, 2 * R_x * norm / S
        want = 2 * d * math.exp(-(gamma**2) / 2 / (variance + L * gamma / 3))
        got = second_moment_tail(gamma, S, d=d, R_x=R_x, sigma_norm=norm, constants="paper")
        assert got == pytest.approx(want)
        lemma = 2 * d * math.exp(-S * gamma**2 / (4 * R_x * norm + 8 / 3 * gamma * R_x))
        assert got == pytest.approx(lemma)

    def test_linear(self):
        # (26) and (27) put into (23) with d = 1
        R_x, R_w, norm, S, gamma = 1.3, 0.7, 0.6, 500, 0.11
        L, variance = 4 * math.sqrt(R_x * R_w) / S, 2 * R_w * norm / S
        want = 2 * math.exp(-(gamma**2) / 2 / (variance + L * gamma / 3))
        got = linear_tail(gamma, S, R_x=R_x, R_w=R_w, sigma_norm=norm, constants="paper")
        assert got == pytest.approx(want)
        lemma = 2 * math.exp(-S * gamma**2 / (4 * R_w * norm + 8 / 3 * gamma * math.sqrt(R_x * R_w)))
        assert got == pytest.approx(lemma)

    def test_lemma_3_i_is_false_as_printed(self):
        # x = ±1 with P(+1) = 0.01 in both classes: a squared difference is 4 with probability 0.0198, else 0
        S, gamma, q = 100_000, 0.00708, 2 * 0.01 * 0.99
        sigma = 4 * q
        # |4 K / S - 0.0792| > 0.00708 means K > 2157 or K < 1803; both ends are whole numbers
        exact = binom.sf(2157, S, q) + binom.cdf(1802, S, q)
        bounds = {
            name: second_moment_tail(gamma, S, d=1, R_x=1.0, sigma_norm=sigma, constants=name)
            for name in ("paper", "rigorous")
        }
        assert exact == pytest.approx(5.7e-5, rel=0.02)
        assert bounds["paper"] == pytest.approx(6.5e-7, rel=0.02)
        assert bounds["rigorous"] == pytest.approx(9.2e-4, rel=0.02)
        assert bounds["paper"] < exact < bounds["rigorous"]


class TestRigorous:
    def test_written_out(self):
        d, R_x, R_w, norm, trace, S, t = 7, 1.3, 0.7, 0.6, 2.0, 5000, 0.11
        assert second_moment_tail(t, S, d=d, R_x=R_x, sigma_norm=norm) == pytest.approx(
            2 * d * math.exp(-S * t**2 / 2 / (4 * R_x * norm + 4 * R_x * t / 3))
        )
        assert mean_tail(t, S, d=d, R_x=R_x, trace=trace) == pytest.approx(
            (d + 1) * math.exp(-S * t**2 / 2 / (trace + 4 * math.sqrt(R_x) * t / 3))
        )
        assert linear_tail(t, S, R_x=R_x, R_w=R_w, d=d, trace=trace) == pytest.approx(
            mean_tail(t / (2 * math.sqrt(R_w)), S, d=d, R_x=R_x, trace=trace)
        )
        largest = 4 * math.sqrt(R_x) * (1 + math.sqrt(R_x * R_w))
        assert residual_tail(t, S, d=d, R_x=R_x, R_w=R_w) == pytest.approx(
            (d + 1) * math.exp(-S * t**2 / 2 / (4 * R_x + largest * t / 3))
        )

    @given(table=tables(max_rows=8), l1=st.one_of(st.just(0.0), PENALTIES), l2=PENALTIES)
    def test_terms_are_as_short_and_vary_as_little_as_the_inequalities_say(self, table, l1, l2):
        X, y, weight = table
        x, share = differences(X, y, weight)
        R_x = largest_squared_length(X)
        mu, sigma = share @ x, (x.T * share) @ x
        norm = np.linalg.norm(sigma, 2)
        slack = 1 + 1e-9
        tiny = 1e-9 * (1 + R_x) ** 2

        terms = x[:, :, None] * x[:, None, :] - sigma
        assert np.linalg.norm(terms, 2, axis=(1, 2)).max() <= 4 * R_x * slack + tiny
        square = np.einsum("k,kij,kjl->il", share, terms, terms)
        assert np.linalg.norm(square, 2) <= 4 * R_x * norm * slack + tiny

        lengths = np.linalg.norm(x - mu, axis=1)
        assert lengths.max() <= 4 * math.sqrt(R_x) * slack + tiny
        assert share @ lengths**2 <= np.trace(sigma) * slack + tiny

        w = minimiser(sigma, mu, l1, l2)
        R_w = weight_bound(l1, l2)
        residuals = x * (x @ w - 1)[:, None]
        lengths = np.linalg.norm(residuals - share @ residuals, axis=1)
        assert lengths.max() <= 4 * math.sqrt(R_x) * (1 + math.sqrt(R_x * R_w)) * slack + tiny
        assert share @ lengths**2 <= 4 * R_x * slack + tiny

    @pytest.mark.parametrize("kind", ["rare", "spread"])
    def test_hold_over_many_draws(self, kind):
        rng = np.random.default_rng(0)
        if kind == "rare":
            # few rows far from the rest: the case in which variances are as large as R_x allows
            X = np.full((60, 2), -1.0)
            X[[0, 30], 0] = X[[1, 31], 1] = 1.0
        else:
            X = rng.uniform(-1, 1, size=(60, 2))
        y = np.arange(60) < 30
        x, share = differences(X, y)
        R_x = (X**2).sum(axis=1).max()
        mu, sigma = share @ x, (x.T * share) @ x
        norm, l2, S, draws = np.linalg.norm(sigma, 2), 0.1, 2000, 20_000
        w = minimiser(sigma, mu, 0.0, l2)
        # how often each pair is drawn says all about a draw
        counts = rng.multinomial(S, share, size=draws) / S
        apart = np.einsum("nk,ki,kj->nij", counts, x, x, optimize=True) - sigma
        shift = counts @ x - mu
        errors = {
            "second": np.linalg.norm(apart, 2, axis=(1, 2)),
            "mean": np.linalg.norm(shift, axis=1),
            "residual": np.linalg.norm(apart @ w - shift, axis=1),
        }
        tails = {
            "second": lambda t: second_moment_tail(t, S, d=2, R_x=R_x, sigma_norm=norm),
            "mean": lambda t: mean_tail(t, S, d=2, R_x=R_x, trace=np.trace(sigma)),
            "residual": lambda t: residual_tail(t, S, d=2, R_x=R_x, R_w=weight_bound(l2=l2)),
        }
        for name, seen in errors.items():
            thresholds = np.quantile(seen, [0.5, 0.9, 0.99, 0.999])
            beyond = np.array([(seen > t).mean() for t in thresholds])
            assert (beyond <= tails[name](thresholds)).all()

    @pytest.mark.parametrize("l2", [0.05, 0.5])
    def test_linear_tail_holds_for_weights_fitted_to_the_same_draw(self, l2):
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, size=(40, 3)) + 0.3 * (np.arange(40) < 10)[:, None]
        y = np.arange(40) < 10
        x, share = differences(X, y)
        mu, sigma = share @ x, (x.T * share) @ x
        S, ridge = 200, l2 * np.eye(3)
        counts = rng.multinomial(S, share, size=20_000) / S
        sigmas = np.einsum("nk,ki,kj->nij", counts, x, x, optimize=True)
        mus = counts @ x
        fitted = np.linalg.solve(sigmas + ridge, mus[:, :, None])[:, :, 0]
        products = np.abs(((np.linalg.solve(sigma + ridge, mu) - fitted) * (mu - mus)).sum(axis=1))
        thresholds = np.quantile(products, [0.5, 0.9, 0.99, 0.999])
        bound = linear_tail(
            thresholds,
            S,
            R_x=largest_squared_length(X),
            R_w=weight_bound(l2=l2),
            d=3,
            trace=np.trace(sigma),
        )
        assert ([(products > t).mean() for t in thresholds] <= bound).all()


class TestArguments:
    def test_probabilities_are_capped_and_fall(self):
        gammas = np.linspace(0, 2, 50)
        tails = second_moment_tail(gammas, 1000, d=5, R_x=1.0, sigma_norm=0.5)
        assert tails[0] == 1.0
        assert tails.max() == 1.0
        assert (np.diff(tails) <= 0).all()
        assert tails[-1] < 1e-12
        sizes = second_moment_tail(0.2, [10, 1000, 100_000], d=5, R_x=1.0, sigma_norm=0.5)
        assert (np.diff(sizes) < 0).all()
        assert isinstance(mean_tail(0.1, 10, d=5, R_x=1.0, trace=1.0), float)

    def test_rows_that_are_all_alike_never_err(self):
        assert mean_tail(1e-9, 1, d=3, R_x=0.0, trace=0.0) == 0.0
        assert second_moment_tail([0.0, 1e-9], 1, d=3, R_x=0.0, sigma_norm=0.0).tolist() == [1.0, 0.0]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"gamma": -0.1}, "gamma must be at least 0"),
            ({"gamma": [0.1, np.nan]}, "gamma must be at least 0"),
            ({"gamma": "much"}, "gamma must be a number"),
            ({"pairs": 0}, "pairs must be at least 1"),
            ({"d": 0}, "d must be"),
            ({"R_x": -1.0}, "R_x must be"),
            ({"sigma_norm": np.inf}, "sigma_norm must be"),
            ({"constants": "printed"}, "constants must be"),
        ],
    )
    def test_bad_ones_are_named(self, change, message):
        settings = {"gamma": 0.1, "pairs": 10, "d": 2, "R_x": 1.0, "sigma_norm": 1.0} | change
        with pytest.raises(ValueError, match=message):
            second_moment_tail(settings.pop("gamma"), settings.pop("pairs"), **settings)

    def test_missing_ones_are_named(self):
        with pytest.raises(ValueError, match="d and trace must be given"):
            linear_tail(0.1, 10, R_x=1.0, R_w=1.0, sigma_norm=1.0)
        with pytest.raises(ValueError, match="sigma_norm must be given"):
            linear_tail(0.1, 10, R_x=1.0, R_w=1.0, d=2, trace=1.0, constants="paper")
        with pytest.raises(ValueError, match="R_w must be"):
            residual_tail(0.1, 10, R_x=1.0, R_w=0.0, d=2)


class TestWeightBound:
    @given(table=tables(), l1=st.one_of(st.just(0.0), PENALTIES), l2=st.one_of(st.just(0.0), PENALTIES))
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_holds_for_ridge_lasso_and_elastic_net(self, table, l1, l2):
        assume(l1 + l2 > 0)
        X, y, weight = table
        w = minimiser(*reversed(reference.pair_moments(X, y, weight)), l1, l2)
        assert w @ w <= weight_bound(l1, l2) * (1 + 1e-6)

    @pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.3), (0.3, 0.0), (0.3, 0.3)])
    def test_cannot_be_smaller(self, l1, l2):
        # one difference x in one dimension: s = w x is ½ for the right x
        r = math.sqrt(weight_bound(l1, l2))
        x = 1 / (2 * r)
        w = minimiser(np.array([[x * x]]), np.array([x]), l1, l2)
        assert w[0] == pytest.approx(r)

    @given(l1=PENALTIES, l2=PENALTIES)
    def test_both_penalties_bound_better_than_either(self, l1, l2):
        assert weight_bound(l1=l1) == pytest.approx(1 / (16 * l1**2))
        assert weight_bound(l2=l2) == pytest.approx(1 / (4 * l2))
        assert weight_bound(l1, l2) <= min(weight_bound(l1=l1), weight_bound(l2=l2)) * (1 + 1e-12)

    def test_bad_penalties(self):
        with pytest.raises(ValueError, match="must not both be 0"):
            weight_bound()
        with pytest.raises(ValueError, match="l1 must be"):
            weight_bound(l1=-1.0)
        with pytest.raises(ValueError, match="l2 must be"):
            weight_bound(l2=np.nan)
