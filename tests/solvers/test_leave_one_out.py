import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from scipy.special import ndtr

from mbauc.errors import PenaltyWarning
from mbauc.solvers import MatrixOperator, RidgePath, choose_l2, search_l2
from mbauc.solvers.leave_one_out import (
    Spectrum,
    best_place,
    effective_rows,
    expected_separation,
    l2_grid,
    warn_of_units,
)
from mbauc.solvers.matrix_free.lanczos import Lanczos


@pytest.fixture
def problem(rng):
    d = 300
    A = rng.standard_normal((2 * d, d)) * np.geomspace(1, 0.01, d)
    target = np.sign(A[:, :5].sum(axis=1) + rng.standard_normal(2 * d))
    return A.T @ A / (2 * d), A.T @ target / (2 * d)


def test_risk_and_degrees_of_freedom_by_definition(problem):
    sigma, mu = problem
    factors = np.ones(300)
    factors[:3] = 0.0
    path = RidgePath(sigma, mu, factors)
    for l2 in (1e-4, 0.1, 10.0):
        w = path.coefficients(l2)[0]
        solved = path.spectrum.evaluate(np.array([l2]))
        assert solved.risk[0] == pytest.approx(1 - 2 * w @ mu + w @ sigma @ w, rel=1e-9)
        assert solved.gain[0] == pytest.approx(w @ mu, rel=1e-9)
        assert solved.size[0] == pytest.approx(factors @ w**2, rel=1e-8)
        hat = np.linalg.solve(sigma + l2 * np.diag(factors), sigma)
        assert path.spectrum.degrees_of_freedom(np.array([l2]))[0] == pytest.approx(np.trace(hat), rel=1e-8)


def test_the_expected_separation_is_that_of_its_definition(problem):
    """Rows of each class shrink their own scores by 1 + t/n, and the noise of the means is in μ'Hμ."""
    spectrum, l2 = RidgePath(*problem, np.ones(300)).spectrum, np.array([0.01, 0.3, 10.0])
    solved, degrees, sizes = spectrum.evaluate(l2), spectrum.degrees_of_freedom(l2), (400.0, 1500.0)
    found = expected_separation(solved, degrees, l2, sizes)
    for k in range(l2.size):
        left = 1.0 - solved.gain[k]
        seen = degrees[k] - l2[k] * solved.size[k] / left
        t = scipy.optimize.brentq(lambda t, seen=seen: sum(t / (1 + t / n) for n in sizes) - seen, 0.0, 1e6)
        # what both classes vary on the training rows, of which each has a share by its own shrinkage
        within = (solved.risk[k] - left**2) / sum((1 + t / n) ** -2 for n in sizes)
        gain = solved.gain[k] - left * t * sum(1 / n for n in sizes)
        assert found[k] == pytest.approx(gain / np.sqrt(2 * within), rel=1e-9)


def test_pairs_count_for_three_times_the_smaller_class_at_most():
    assert effective_rows((100.0, 300.0)) == effective_rows((300.0, 100.0)) == 225.0
    # 1/rows = (1/n₊ + 1/n₋)/3: half of that for classes of one size, and nearly all of it for a rare class
    assert effective_rows((50.0, 50.0)) == 75.0
    assert effective_rows((50.0, 5e9)) == pytest.approx(150.0)


def test_products_choose_what_all_eigenvalues_would(problem):
    sigma, mu = problem
    for sizes in ((200.0, 400.0), (50.0, 60.0)):
        exact = choose_l2(RidgePath(sigma, mu, np.ones(300)).spectrum, sizes)
        rough = search_l2(MatrixOperator(sigma, mu), np.ones(300), sizes, 300)
        assert exact / 1.8 < rough < exact * 1.8
        assert search_l2(MatrixOperator(sigma, mu), np.ones(300), sizes, 300) == rough


def test_the_search_heeds_penalty_factors(problem):
    sigma, mu = problem
    factors = np.repeat([0.0, 0.01, 100.0], [10, 140, 150])
    exact = choose_l2(RidgePath(sigma, mu, factors).spectrum, (200.0, 400.0))
    assert exact / 3 < search_l2(MatrixOperator(sigma, mu), factors, (200.0, 400.0), 300) < exact * 3


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_quadrature_brackets_the_risk_of_every_l2(problem, steps):
    sigma, mu = problem
    process = Lanczos(lambda v: sigma @ v, mu)
    for _ in range(steps):
        process.step()
    for l2 in np.logspace(-6, 2, 9):
        solved = np.linalg.solve(sigma + l2 * np.eye(300), mu)
        truth = mu @ solved + l2 * solved @ solved
        low, high = (
            float((weights * (nodes + 2 * l2) / (nodes + l2) ** 2).sum())
            for nodes, weights in (process.gauss(), process.radau())
        )
        assert low <= truth * (1 + 1e-9)
        assert truth <= high * (1 + 1e-9)


def test_a_quadrature_survives_a_lapack_driver_that_fails(problem, monkeypatch):
    sigma, mu = problem

    def rules():
        process = Lanczos(lambda v: sigma @ v, mu)
        for _ in range(12):
            process.step()
        return [*process.gauss(), *process.radau()]

    expected = rules()
    real = scipy.linalg.eigh_tridiagonal
    drivers = []

    def fail_by_default(*args, lapack_driver="auto", **options):
        drivers.append(lapack_driver)
        if lapack_driver == "auto":
            raise np.linalg.LinAlgError("stemr (eigh_tridiagonal) did not converge")
        return real(*args, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr("mbauc.solvers.matrix_free.lanczos.eigh_tridiagonal", fail_by_default)
    for one, other in zip(rules(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
    assert drivers == ["auto", "stev"] * 3


def test_an_invariant_space_ends_the_process_with_the_exact_rule():
    A, v = np.diag([1.0, 1.0, 4.0, 4.0]), np.ones(4)
    process = Lanczos(lambda x: A @ x, v)
    assert [process.step() for _ in range(4)] == [True, True, False, False]
    for nodes, weights in (process.gauss(), process.radau()):
        assert weights @ (1 / (nodes + 1)) == pytest.approx(v @ np.linalg.solve(A + np.eye(4), v))
    assert not Lanczos(lambda x: A @ x, np.zeros(4)).step()


def test_l2_is_sought_further_down_where_that_helps():
    # six columns that matter beside one of noise in units 1e5 times as large
    sigma = np.diag([1.0] * 6 + [1e10])
    mu = np.array([0.4] * 6 + [0.0])
    path = RidgePath(sigma, mu, np.ones(7))
    l2 = choose_l2(path.spectrum, (500.0, 4500.0))
    assert l2 < 10
    scores = path.coefficients(l2)[0] * np.sqrt(np.diagonal(sigma))
    assert scores[:6].min() > 100 * abs(scores[6])


def test_units_beyond_double_precision_are_said():
    with pytest.warns(PenaltyWarning, match="differ by a factor of 1e\\+16: .* scale=True"):
        warn_of_units(np.array([1.0, 1e16, 0.0]))
    warn_of_units(np.array([1.0, 1e10, 0.0]))


def test_more_rows_ask_for_less_penalty_and_units_cancel(problem):
    sigma, mu = problem
    spectrum = RidgePath(sigma, mu, np.ones(300)).spectrum
    chosen = [choose_l2(spectrum, (n, n)) for n in (60, 600, 60_000)]
    assert chosen[0] > chosen[1] > chosen[2]
    scaled = RidgePath(sigma * 1e6, mu * 1e3, np.ones(300)).spectrum
    assert choose_l2(scaled, (600, 600)) == pytest.approx(chosen[1] * 1e6, rel=1e-6)


def test_nothing_to_learn_and_nothing_to_choose_from():
    zero = RidgePath(np.zeros((2, 2)), np.zeros(2), np.ones(2)).spectrum
    assert choose_l2(zero, (10, 10)) == 1.0
    endless = Spectrum(np.array([1.0, np.inf]), np.ones(2), np.ones(2))
    assert choose_l2(endless, (10, 10)) == 1.0
    spectrum = RidgePath(np.eye(2), np.ones(2), np.zeros(2)).spectrum
    assert choose_l2(spectrum, (10, 10)) == 1.0
    crowded = RidgePath(np.eye(5), np.full(5, 0.3), np.array([0, 0, 0, 0, 1.0])).spectrum
    assert choose_l2(crowded, (1, 1)) > 1.0


def by_hand(X, y, w, i):
    """Score of row i, and those of the others, under weights that were fitted without it."""
    kept = np.arange(len(y)) != i
    plus, minus = X[kept & y], X[kept & ~y]
    A = np.cov(plus.T, bias=True) + np.cov(minus.T, bias=True) + w * np.eye(X.shape[1])
    return X @ np.linalg.solve(A, plus.mean(axis=0) - minus.mean(axis=0))


@pytest.mark.parametrize(
    ("plus", "minus", "d", "l2"), [(60, 60, 20, 0.1), (30, 90, 40, 1.0), (24, 120, 30, 0.3)]
)
def test_the_separation_is_that_of_leaving_out_each_row(plus, minus, d, l2):
    expected, measured = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.arange(plus + minus) < plus
        X = rng.standard_normal((plus + minus, d)) * np.geomspace(0.5, 2.0, d) + 0.5 * y[:, None]
        scores = [by_hand(X, y, l2, i) for i in range(len(y))]
        # a row against the rows of the other class, under the weights without it, in units of their differences
        differences = [s[i] - s[~y if y[i] else y].mean() for i, s in enumerate(scores)]
        own = np.array([d if y[i] else -d for i, d in enumerate(differences)])
        spread = own[y].var() + own[~y].var()
        measured.append((own[y].mean() + own[~y].mean()) / 2 / np.sqrt(spread))
        mu = X[y].mean(axis=0) - X[~y].mean(axis=0)
        sigma = np.cov(X[y].T, bias=True) + np.cov(X[~y].T, bias=True) + np.outer(mu, mu)
        spectrum, grid = RidgePath(sigma, mu, np.ones(d)).spectrum, np.array([l2])
        degrees = spectrum.degrees_of_freedom(grid)
        expected.append(expected_separation(spectrum.evaluate(grid), degrees, grid, (plus, minus))[0])
    np.testing.assert_allclose(ndtr(np.mean(expected)), ndtr(np.mean(measured)), atol=0.02)


def test_losses_are_alike_within_two_parts_in_ten_thousand():
    losses = np.full(81, 1.0001)
    losses[10] = 1.0
    assert best_place(losses) == 48  # where the multiple of the mean eigenvalue is one
    losses[11:60] = 1.001
    assert best_place(losses) == 60
    losses[60:] = losses[:10] = 1.001
    assert best_place(losses) == 10


def test_of_losses_that_are_alike_the_one_nearest_to_the_mean_eigenvalue_is_taken():
    grid = l2_grid(3.0, 1.0)
    assert grid[best_place(np.full(grid.size, 0.4))] == pytest.approx(3.0)
    assert best_place(np.where(grid < 200, 0.41, 0.4)) == np.flatnonzero(grid >= 200)[0]
    assert best_place(np.where(grid > 0.1, 0.4001, 0.4)) == np.flatnonzero(grid <= 0.1)[-1]
    assert best_place(np.full(grid.size, np.inf)) == grid.size - 1
    # so it is if the grid begins further down
    longer = l2_grid(3.0, 1e-9)
    assert longer.size > grid.size
    assert longer[best_place(np.full(longer.size, 0.4))] == pytest.approx(3.0)


def test_weights_that_use_up_the_rows_are_no_choice(rng):
    X = rng.standard_normal((40, 100))
    y = np.arange(40) < 10
    mu = X[y].mean(axis=0) - X[~y].mean(axis=0)
    sigma = np.cov(X[y].T, bias=True) + np.cov(X[~y].T, bias=True) + np.outer(mu, mu)
    spectrum, l2 = RidgePath(sigma, mu, np.ones(100)).spectrum, np.array([1e-8, 1e3])
    found = expected_separation(spectrum.evaluate(l2), spectrum.degrees_of_freedom(l2), l2, (10.0, 30.0))
    assert found[0] == -np.inf
    assert np.isfinite(found[1])
