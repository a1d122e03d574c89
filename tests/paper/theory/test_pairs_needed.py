import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from mbauc.paper.theory import (
    Quantities,
    guaranteed_distance,
    guaranteed_gap,
    linear_tail,
    mean_tail,
    pairs_needed,
    residual_tail,
    second_moment_tail,
    weight_bound,
)
from mbauc.solvers import Penalty, solve_elastic_net, solve_ridge
from strategies import tables

SIZES = st.floats(1e-3, 1e3)
QUANTITIES = st.builds(
    lambda d, R_x, norm, share, l2, smallest: Quantities(
        d=d,
        R_x=R_x,
        R_w=weight_bound(l2=l2),
        sigma_norm=norm,
        trace=norm * (1 + share * (d - 1)),
        l2=l2,
        smallest=smallest * norm,
    ),
    st.integers(1, 10_000),
    SIZES,
    SIZES,
    st.floats(0, 1),
    SIZES,
    st.floats(0, 1),
)
SHARES = st.floats(1e-6, 0.5)


def just_enough(tails, size, p):
    """The bounds keep to p with S pairs and not with 1% fewer."""
    assert sum(tail(size) for tail in tails) <= p * (1 + 1e-9)
    if size > 200:
        assert any(tail(0.99 * size) > p / len(tails) for tail in tails)


@given(q=QUANTITIES, epsilon=st.floats(1e-3, 10), p=SHARES)
def test_printed_theorem(q, epsilon, p):
    root = math.sqrt(q.R_x * q.R_w)
    first = math.log(4 * q.d / p) * (48 * q.R_w**2 * q.sigma_norm + 16 * epsilon * q.R_w) * q.R_x
    second = math.log(4 / p) * (48 * q.R_w * q.sigma_norm + 16 * epsilon * root)
    (route,) = pairs_needed(q, epsilon=epsilon, p=p, constants="paper").routes
    assert route.quadratic == pytest.approx(first / (3 * epsilon**2), rel=1e-12, abs=1)
    assert route.linear == pytest.approx(second / (3 * epsilon**2), rel=1e-12, abs=1)
    assert route.pairs == max(route.quadratic, route.linear)


@given(q=QUANTITIES, epsilon=st.floats(1e-3, 10), p=SHARES)
def test_terms_of_the_objective_written_out(q, epsilon, p):
    t = epsilon / (4 * math.sqrt(q.R_w))
    quadratic = math.log(4 * q.d / p) * q.R_x * (96 * q.R_w**2 * q.sigma_norm + 16 * epsilon * q.R_w)
    linear = math.log(2 * (q.d + 1) / p) * 2 * (q.trace + 4 * math.sqrt(q.R_x) * t / 3)
    (route,) = pairs_needed(q, epsilon=epsilon, p=p).routes
    assert route.quadratic == pytest.approx(quadratic / (3 * epsilon**2), rel=1e-12, abs=1)
    assert route.linear == pytest.approx(linear / t**2, rel=1e-12, abs=1)


@given(q=QUANTITIES, delta=st.floats(1e-3, 10), p=SHARES, constants=st.sampled_from(["rigorous", "paper"]))
def test_each_number_of_pairs_is_just_enough_for_its_tails(q, delta, p, constants):
    epsilon = q.modulus * delta**2 / 2
    root = math.sqrt(q.R_w)

    def second(gamma):
        return lambda S: second_moment_tail(
            gamma, max(1, S), d=q.d, R_x=q.R_x, sigma_norm=q.sigma_norm, constants=constants
        )

    def first(t):
        return lambda S: mean_tail(t, max(1, S), d=q.d, R_x=q.R_x, trace=q.trace)

    def product(gamma):
        return lambda S: linear_tail(
            gamma,
            max(1, S),
            R_x=q.R_x,
            R_w=q.R_w,
            d=q.d,
            trace=q.trace,
            sigma_norm=q.sigma_norm,
            constants=constants,
        )

    def residual(t):
        return lambda S: residual_tail(t, max(1, S), d=q.d, R_x=q.R_x, R_w=q.R_w)

    routes = {route.name: route for route in pairs_needed(q, delta=delta, p=p, constants=constants).routes}
    just_enough([second(epsilon / (2 * q.R_w)), product(epsilon / 2)], routes["objective"].pairs, p)
    just_enough([second(epsilon / (2 * q.R_w))], routes["objective"].quadratic, p / 2)
    just_enough([product(epsilon / 2)], routes["objective"].linear, p / 2)
    assert set(routes) == ({"objective", "direct", "residual"} if constants == "rigorous" else {"objective"})
    if constants == "rigorous":
        m = q.modulus
        just_enough([second(m * delta / (2 * root)), first(m * delta / 2)], routes["direct"].pairs, p)
        just_enough([second(m * delta / (2 * root))], routes["direct"].quadratic, p / 2)
        just_enough([first(m * delta / 2)], routes["direct"].linear, p / 2)
        just_enough([residual(q.l2 * delta)], routes["residual"].linear, p)
        assert routes["residual"].quadratic == 0


@given(q=QUANTITIES, delta=st.floats(1e-3, 10), p=SHARES)
def test_the_fewest_pairs_are_shipped(q, delta, p):
    needed = pairs_needed(q, delta=delta, p=p)
    assert needed.pairs == min(route.pairs for route in needed.routes)
    assert needed.pairs == next(route.pairs for route in needed.routes if route.name == needed.route)
    assert isinstance(needed.pairs, int)


@pytest.mark.parametrize("constants", ["rigorous", "paper"])
@pytest.mark.parametrize("target", ["delta", "epsilon"])
@given(q=QUANTITIES, size=st.floats(1e-3, 1), p=SHARES, factor=st.floats(1.01, 100))
def test_grows_and_shrinks_with_what_it_should(constants, target, q, size, p, factor):
    def pairs(quantities=q, value=size, chance=p):
        return pairs_needed(quantities, p=chance, constants=constants, **{target: value}).pairs

    for name in ("R_x", "R_w", "sigma_norm", "trace"):
        assert pairs(replace(q, **{name: getattr(q, name) * factor})) >= pairs()
    assert pairs(replace(q, d=math.ceil(q.d * factor))) >= pairs()
    assert pairs(replace(q, smallest=q.smallest * factor)) <= pairs()
    assert pairs(replace(q, l2=q.l2 * factor)) <= pairs()
    assert pairs(value=size * factor) <= pairs()
    assert pairs(chance=p / factor) >= pairs()


@given(q=QUANTITIES, size=st.integers(1, 10**9), p=SHARES, constants=st.sampled_from(["rigorous", "paper"]))
def test_guarantees_are_the_inverse(q, size, p, constants):
    for target, guaranteed in (("delta", guaranteed_distance), ("epsilon", guaranteed_gap)):
        value = guaranteed(size, q, p=p, constants=constants)
        settings = {"p": p, "constants": constants}
        assert pairs_needed(q, **{target: value * (1 + 1e-9)}, **settings).pairs <= size
        if size > 200:
            assert pairs_needed(q, **{target: value * 0.99}, **settings).pairs > size


def test_no_dependence_on_n_and_only_log_d_at_fixed_radius():
    q = Quantities(d=100, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=1.0, l2=0.1)
    few, many = (pairs_needed(replace(q, d=d), delta=0.1).pairs for d in (100, 10_000))
    assert few < many < 2 * few
    # standardised features: R_x and the trace grow with d
    wide = replace(q, d=10_000, R_x=100.0, trace=100.0)
    assert pairs_needed(wide, delta=0.1).pairs > 100 * few


@given(
    table=tables(max_rows=8),
    seed=st.integers(0, 1000),
    l1=st.one_of(st.just(0.0), st.floats(1e-2, 10.0)),
    l2=st.one_of(st.just(0.0), st.floats(1e-2, 10.0)),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_inequalities_behind_each_route(table, seed, l1, l2):
    """On any data, for any sample: what the tails are put into is true."""
    X, y, _ = table
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    i, j = rng.choice(np.flatnonzero(y), size), rng.choice(np.flatnonzero(~y), size)
    mu, sigma = reference.pair_moments(X, y)
    mu_s, sigma_s = reference.matched_moments(X[i], X[j])
    m = l2 + max(0.0, np.linalg.eigvalsh(sigma)[0] - 1e-12 * np.trace(sigma))
    assume(m >= 1e-6 and not l1 == l2 == 0.0)
    penalty = Penalty(l1, l2, np.ones(mu.size))

    def solve(sigma, mu):
        if l1 > 0:
            return solve_elastic_net(sigma, mu, penalty, tol=1e-10, max_iter=10_000)
        return solve_ridge(sigma, mu, penalty)

    exact, sampled = solve(sigma, mu), solve(sigma_s, mu_s)
    w, v = exact.coef, sampled.coef
    R_w = weight_bound(l1, l2)
    apart, shift = np.linalg.norm(sigma_s - sigma, 2), np.linalg.norm(mu_s - mu)
    distance = np.linalg.norm(w - v)
    # solutions are exact up to their certificates
    errors = exact.optimality * np.abs(mu).max() + sampled.optimality * np.abs(mu_s).max()
    rounding = 1e-9 * (1 + np.trace(sigma)) * (1 + np.linalg.norm(w) + np.linalg.norm(v))
    slack = (10 * errors + rounding) / m
    assert distance <= (math.sqrt(R_w) * apart + shift) / m + slack
    if l2 > 0:
        residual = np.linalg.norm((sigma_s - sigma) @ w - (mu_s - mu))
        assert distance <= residual / l2 + (10 * errors + rounding) / l2
    gap = (0.5 * v @ sigma @ v - v @ mu + penalty.value(v)) - exact.objective
    near = 1e-9 * (1 + abs(exact.objective) + np.trace(sigma) * (v @ v)) + errors * (1 + distance) * 10
    assert gap <= R_w * apart + 2 * math.sqrt(R_w) * shift + near
    assert m * distance**2 / 2 <= gap + near


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "either delta or epsilon"),
        ({"delta": 0.1, "epsilon": 0.1}, "either delta or epsilon"),
        ({"delta": 0.0}, "delta must be"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": 0.1, "p": 0.0}, "p must be"),
        ({"delta": 0.1, "p": 1.0}, "p must be .* less than 1"),
        ({"delta": 0.1, "p": 5}, "p must be"),
        ({"delta": 0.1, "constants": "mine"}, "constants must be"),
        ({"delta": 1e-200}, "delta must be larger"),
        ({"epsilon": 1e-300}, "epsilon must be larger"),
    ],
)
def test_bad_settings_are_named(settings, message):
    q = Quantities(d=10, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=2.0, l2=0.1)
    with pytest.raises(ValueError, match=message):
        pairs_needed(q, **settings)


def test_a_distance_needs_strong_convexity_and_a_gap_does_not():
    q = Quantities(d=10, R_x=1.0, R_w=weight_bound(l1=0.1), sigma_norm=0.5, trace=2.0)
    for ask in (lambda: pairs_needed(q, delta=0.1), lambda: guaranteed_distance(100, q)):
        with pytest.raises(ValueError, match="may not be unique"):
            ask()
    assert pairs_needed(q, epsilon=0.1).pairs > 1
    # without l2 there is no modulus that every sample has
    lasso = pairs_needed(replace(q, smallest=0.2), delta=0.1)
    assert [route.name for route in lasso.routes] == ["objective", "direct"]


@pytest.mark.parametrize(
    ("name", "value"), [("d", 0), ("R_x", -1.0), ("R_w", 0.0), ("trace", np.nan), ("l2", -0.1)]
)
def test_bad_quantities_are_named(name, value):
    good = {"d": 10, "R_x": 1.0, "R_w": 2.5, "sigma_norm": 0.5, "trace": 2.0, "l2": 0.1}
    with pytest.raises(ValueError, match=f"{name} must be"):
        Quantities(**good | {name: value})
    with pytest.raises(ValueError, match="pairs must be"):
        guaranteed_gap(0, Quantities(**good))


def test_rows_that_are_all_alike_need_one_pair():
    q = Quantities(d=2, R_x=0.0, R_w=2.5, sigma_norm=0.0, trace=0.0, l2=0.1)
    assert pairs_needed(q, delta=0.1).pairs == 1
    assert guaranteed_distance(1, q) == 0.0
