import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

import reference
from mbauc import PairMoments
from mbauc.solvers import Penalty, solve_elastic_net, solve_ridge
from mbauc.solvers.matrix_free.elastic_net import elastic_net_path_matrix_free, solve_elastic_net_matrix_free
from mbauc.solvers.operator import MatrixOperator


class Counted(MatrixOperator):
    """Products that count themselves."""

    count = 0

    def product(self, v):
        self.count += 1
        return super().product(v)


class ClickProducts:
    """Σ of one-hot rows, X'DX - m₊m₋' - m₋m₊', never formed."""

    def __init__(self, X, y):
        self._X, self._weight = X, np.where(y, 1 / y.sum(), 1 / (~y).sum())
        self._plus, self._minus = X.T @ (self._weight * y), X.T @ (self._weight * ~y)
        self.mu = self._plus - self._minus
        self.diagonal = X.power(2).T @ self._weight - 2 * self._plus * self._minus
        self.diagonal[np.diff(X.tocsc().indptr) == 0] = 0.0

    def product(self, v):
        image = self._X.T @ (self._weight * (self._X @ v))
        return image - self._plus * (self._minus @ v) - self._minus * (self._plus @ v)


def clicks(n=4000, d=2000, fields=39, seed=0):
    """Rows of one-hot fields whose categories follow Zipf's law, hashed to d columns."""
    rng = np.random.default_rng(seed)
    columns, score = np.empty((n, fields), dtype=np.int64), np.zeros(n)
    for field, size in enumerate(np.geomspace(3, 5000, fields).astype(int)):
        share = 1 / np.arange(1, size + 1) ** 1.1
        category = rng.choice(size, n, p=share / share.sum())
        score += 0.4 * rng.standard_normal(size)[category]
        columns[:, field] = rng.integers(0, d, size)[category]
    y = rng.random(n) < 1 / (1 + np.exp(np.quantile(score, 0.8) - score))
    X = sp.csr_matrix(
        (np.ones(n * fields), columns.ravel(), np.arange(0, n * fields + 1, fields)), shape=(n, d)
    )
    X.sum_duplicates()
    return X, y


@pytest.fixture(scope="module")
def click_pairs():
    return ClickProducts(*clicks())


def moments(rng, n=200, d=30, spread=1.0):
    """Σ and μ of real rows; column scales spread over as many powers of ten."""
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    y = X[:, :5].sum(axis=1) + 3 * rng.standard_normal(n) > 1
    m = PairMoments.from_arrays(X * 10.0 ** rng.uniform(-spread, 0, d), y)
    return m.second_moment, m.mean_difference


def assert_same_minimum(sigma, mu, penalty, **options):
    exact = solve_elastic_net(sigma, mu, penalty)
    pairs = Counted(sigma, mu)
    solution = solve_elastic_net_matrix_free(pairs, penalty, tol=1e-12, **options)
    assert solution.objective == pytest.approx(exact.objective, abs=1e-11)
    np.testing.assert_array_equal(np.sign(solution.coef), np.sign(exact.coef))
    assert solution.optimality < 1e-5
    assert 0.0 <= solution.excess_risk == solution.excess_bound <= 1e-12
    assert solution.iterations == pairs.count
    return solution


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("share", [0.9, 0.1, 0.01])
def test_equals_the_solver_that_has_sigma(rng, share, l2):
    sigma, mu = moments(rng)
    assert_same_minimum(sigma, mu, Penalty(share * np.abs(mu).max(), l2, np.ones(30)))


@pytest.mark.parametrize("share", [0.3, 0.001])
def test_scales_spread_over_many_powers_of_ten(rng, share):
    sigma, mu = moments(rng, spread=2.5)
    diagonal = np.diagonal(sigma)
    assert diagonal.max() / diagonal.min() > 1e4
    factors = np.sqrt(diagonal)
    assert_same_minimum(sigma, mu, Penalty(share * np.abs(mu / factors).max(), 0.0, factors))
    assert_same_minimum(sigma, mu, Penalty(share * np.abs(mu).max(), 0.0, np.ones(30)))


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 7),
    share=st.floats(1e-2, 1.5),
    l2=st.sampled_from([0.0, 0.01, 1.0]),
    data=st.data(),
)
def test_equals_textbook_coordinate_descent(seed, d, share, l2, data):
    rng = np.random.default_rng(seed)
    y = np.arange(3 * d + 2) % 2 == 0
    mu, sigma = reference.pair_moments(rng.standard_normal((3 * d + 2, d)), y)
    factors = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=d, max_size=d)))
    l1 = share * np.abs(mu).max()
    solution = solve_elastic_net_matrix_free(MatrixOperator(sigma, mu), Penalty(l1, l2, factors), tol=1e-8)
    slow = reference.coordinate_descent(sigma, mu, l1, l2, factors)
    best = reference.objective(sigma, mu, slow, l1, l2, factors)
    assert solution.objective == reference.objective(sigma, mu, solution.coef, l1, l2, factors) or (
        solution.objective
        == pytest.approx(reference.objective(sigma, mu, solution.coef, l1, l2, factors), abs=1e-12)
    )
    assert 2 * (solution.objective - best) <= solution.excess_risk + 1e-12
    assert solution.excess_risk <= 1e-8


def test_singular_sigma(rng):
    sigma, mu = moments(rng, d=8)
    twice, mu2 = np.block([[sigma, sigma], [sigma, sigma]]), np.r_[mu, mu]
    l1 = 0.01 * np.abs(mu).max()
    single = solve_elastic_net(sigma, mu, Penalty(l1, 0.0, np.ones(8)))
    double = solve_elastic_net_matrix_free(MatrixOperator(twice, mu2), Penalty(l1, 0.0, np.ones(16)), tol=1e-12)
    assert double.objective == pytest.approx(single.objective, abs=1e-11)
    np.testing.assert_allclose(double.coef[:8] + double.coef[8:], single.coef, atol=1e-5)


def test_unpenalised_features(rng):
    sigma, mu = moments(rng)
    factors = np.ones(30)
    for free in ([4], [4, 7, 20]):
        factors[free] = 0.0
        solution = assert_same_minimum(sigma, mu, Penalty(0.1 * np.abs(mu).max(), 0.0, factors))
        assert solution.coef[free].all()


def test_without_l1_it_is_ridge(rng):
    sigma, mu = moments(rng)
    penalty = Penalty(0.0, 0.05, np.linspace(0.5, 2, 30))
    solution = solve_elastic_net_matrix_free(MatrixOperator(sigma, mu), penalty, tol=1e-13)
    np.testing.assert_allclose(solution.coef, solve_ridge(sigma, mu, penalty).coef, atol=1e-6)


def test_without_any_penalty_it_is_least_squares(rng):
    sigma, mu = moments(rng, d=10)
    solution = solve_elastic_net_matrix_free(
        MatrixOperator(sigma, mu), Penalty(0.0, 0.0, np.ones(10)), tol=1e-13
    )
    np.testing.assert_allclose(solution.coef, np.linalg.solve(sigma, mu), atol=1e-5)


def test_from_the_largest_mean_difference_on_all_is_zero_without_a_product(rng):
    sigma, mu = moments(rng)
    factors = np.linspace(0.5, 2, 30)
    top = np.abs(mu / factors).max()
    for l1 in (top, 2 * top):
        pairs = Counted(sigma, mu)
        solution = solve_elastic_net_matrix_free(pairs, Penalty(l1, 0.0, factors), tol=0.0)
        assert not solution.coef.any()
        assert (solution.iterations, pairs.count, solution.excess_risk) == (0, 0, 0.0)
    below = solve_elastic_net_matrix_free(MatrixOperator(sigma, mu), Penalty(0.999 * top, 0.0, factors))
    assert np.count_nonzero(below.coef) == 1


def test_columns_that_never_occur_keep_zero_weights(rng):
    sigma, mu = moments(rng, d=5)
    wide = np.zeros((7, 7))
    wide[:5, :5] = sigma
    pairs, penalty = MatrixOperator(wide, np.r_[mu, 0.0, 0.0]), Penalty(1e-3, 0.0, np.r_[np.ones(6), 0.0])
    cold = solve_elastic_net_matrix_free(pairs, penalty)
    warm = solve_elastic_net_matrix_free(pairs, penalty, start=np.ones(7))
    for solution in (cold, warm):
        assert not solution.coef[5:].any()
        assert solution.coef[:5].all()
    again = solve_elastic_net_matrix_free(pairs, penalty, start=cold.coef + np.r_[np.zeros(5), 1.0, 1.0])
    assert not again.coef[5:].any()


def test_rounding_in_columns_that_never_vary_moves_no_weight(rng):
    class Rounded(MatrixOperator):
        def product(self, v):
            return super().product(v) + np.r_[np.zeros(5), 1e-12, 1e-12]

    sigma, mu = moments(rng, d=5)
    wide = np.zeros((7, 7))
    wide[:5, :5] = sigma
    penalty = Penalty(1e-3, 0.0, np.r_[np.ones(5), 0.0, 0.0])
    solution = solve_elastic_net_matrix_free(Rounded(wide, np.r_[mu, 0.0, 0.0]), penalty)
    assert solution.coef[:5].all()
    assert not solution.coef[5:].any()


def test_a_path_keeps_the_order_and_saves_products(click_pairs):
    d = click_pairs.mu.size
    top = np.abs(click_pairs.mu).max()
    shares = [0.03, 1.0, 0.1, 0.05]
    path = elastic_net_path_matrix_free(click_pairs, [top * s for s in shares], 0.0, np.ones(d))
    alone = [solve_elastic_net_matrix_free(click_pairs, Penalty(top * s, 0.0, np.ones(d))) for s in shares]
    for warm, cold in zip(path, alone, strict=True):
        assert warm.objective == pytest.approx(cold.objective, abs=1e-6)
        assert warm.excess_risk <= 1e-6
    assert path[1].iterations == 0
    assert path[3].iterations < alone[3].iterations
    assert path[0].iterations < alone[0].iterations
    again = solve_elastic_net_matrix_free(click_pairs, Penalty(top * 0.03, 0.0, np.ones(d)), start=path[0].coef)
    assert again.iterations == 1
    np.testing.assert_array_equal(again.coef, path[0].coef)


@pytest.mark.parametrize(("share", "at_most"), [(0.1, 28), (0.01, 88), (0.001, 166)])
def test_few_products_on_clicks(click_pairs, share, at_most):
    seen = []
    penalty = Penalty(share * np.abs(click_pairs.mu).max(), 0.0, np.ones(click_pairs.mu.size))

    def watch(state, iteration, excess_risk, auc):
        w = state["coef"]
        product = click_pairs.product(w)
        objective = 0.5 * w @ product - w @ click_pairs.mu + penalty.value(w)
        mean = w @ click_pairs.mu
        assert auc == pytest.approx(ndtr(mean / np.sqrt(w @ product - mean**2)), abs=1e-9)
        seen.append((iteration, objective, excess_risk))

    solution = solve_elastic_net_matrix_free(click_pairs, penalty, tol=1e-6, watch=watch)
    iterations, objectives, bounds = np.array(seen).T
    assert solution.iterations <= at_most
    np.testing.assert_array_equal(np.diff(iterations), 1)
    assert (np.diff(objectives) <= 1e-14).all()
    assert (np.diff(bounds) <= 1e-14).all()
    assert (bounds >= 2 * (objectives - solution.objective) - 1e-12).all()
    assert bounds[-1] <= 1e-6 < bounds[-2]


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("factors", [np.ones(30), np.r_[0.0, 0.0, np.ones(28)]])
@pytest.mark.parametrize("faces", [1, 20])
def test_goes_on_to_the_same_bits_wherever_it_was_stopped(rng, monkeypatch, factors, faces):
    monkeypatch.setattr("mbauc.solvers.matrix_free.face_descent._FACES_IN_A_ROW", faces)
    sigma, mu = moments(rng, spread=2.0)
    pairs, penalty = MatrixOperator(sigma, mu), Penalty(0.003 * np.abs(mu).max(), 0.0, factors)
    whole = solve_elastic_net_matrix_free(pairs, penalty, tol=1e-10)
    calls = 0

    def stop_at(number):
        def watch(state, iteration, excess_risk, auc):
            nonlocal calls
            calls += 1
            if calls == number:
                kept.update({name: array.copy() for name, array in state.items()})
                raise Interrupted

        return watch

    for number in range(1, 1000):
        kept, calls = {}, 0
        try:
            solve_elastic_net_matrix_free(pairs, penalty, tol=1e-10, watch=stop_at(number))
        except Interrupted:
            resumed = solve_elastic_net_matrix_free(pairs, penalty, tol=1e-10, resume=kept)
            np.testing.assert_array_equal(resumed.coef, whole.coef)
            assert resumed.iterations == whole.iterations
            assert resumed.excess_risk == whole.excess_risk
        else:
            break
    assert number > 20


def test_stopping_early_warns_and_says_how_far_off(click_pairs):
    penalty = Penalty(1e-3 * np.abs(click_pairs.mu).max(), 0.0, np.ones(click_pairs.mu.size))
    with pytest.warns(ConvergenceWarning, match=r"after 5 products .* > tol=1e-06. Increase max_iter"):
        solution = solve_elastic_net_matrix_free(click_pairs, penalty, max_iter=5)
    assert solution.excess_risk > 1e-6


def test_a_tolerance_below_rounding_ends(rng):
    sigma, mu = moments(rng, spread=2.0)
    pairs, penalty = MatrixOperator(sigma, mu), Penalty(0.01 * np.abs(mu).max(), 0.0, np.ones(30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve_elastic_net_matrix_free(pairs, penalty, tol=0.0, max_iter=2000)
    assert solution.excess_risk < 1e-13
    assert solution.iterations < 300


def test_arguments_are_checked(rng):
    sigma, mu = moments(rng, d=3)
    pairs, penalty = MatrixOperator(sigma, mu), Penalty(0.01, 0.0, np.ones(3))
    with pytest.raises(ValueError, match="tol must be a finite number"):
        solve_elastic_net_matrix_free(pairs, penalty, tol=-1.0)
    with pytest.raises(ValueError, match="max_iter must be a whole number"):
        solve_elastic_net_matrix_free(pairs, penalty, max_iter=0)
    with pytest.raises(ValueError, match="start must be 3 finite weights"):
        solve_elastic_net_matrix_free(pairs, penalty, start=np.ones(2))
    with pytest.raises(ValueError, match="NaN or infinity"):
        solve_elastic_net_matrix_free(pairs, penalty, start=np.array([0.0, np.nan, 1.0]))
    with pytest.raises(ValueError, match="pull, direction, signs, recent, numbers is missing"):
        solve_elastic_net_matrix_free(pairs, penalty, resume={"coef": np.zeros(3)})


@pytest.mark.parametrize("share", [0.1, 0.01, 0.001])
def test_an_estimated_stop_is_not_far_from_what_it_says(click_pairs, share):
    products = click_pairs
    penalty = Penalty(share * float(np.abs(products.mu).max()), 0.0, np.ones(products.mu.size))
    rough = solve_elastic_net_matrix_free(products, penalty, tol=1e-4)
    exact = solve_elastic_net_matrix_free(products, penalty, tol=1e-8, max_iter=5000)
    assert rough.excess_risk <= 1e-4
    assert 2 * (rough.objective - exact.objective) <= 1e-4
    assert rough.iterations < exact.iterations
