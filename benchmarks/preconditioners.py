"""Products that conjugate gradients take under several preconditioners, on clicks real and synthetic."""

import numpy as np
from scipy import sparse as sp
from scipy.linalg import cho_factor, cho_solve, eigh

from benchmarks.clicks import click_labels, click_rows
from benchmarks.datasets import folder
from benchmarks.timing import report
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.readers import read_libsvm
from mbauc.solvers import Penalty, solve_ridge_matrix_free

#: Excess risks to reach.
GOALS = (1e-3, 1e-4, 1e-6)
BLOCK, RANK, SHARE = 1000, 50, 0.1


def products_taken(rows, l2, precondition, best, most=150):
    """Products until the regularised risk is so far above its minimum, for each goal."""
    w, r = np.zeros_like(rows.mu), rows.mu.copy()
    z = precondition(r)
    p, rz = z.copy(), float(r @ z)
    taken = dict.fromkeys(GOALS, most)
    for k in range(1, most + 1):
        q = rows.product(p) + l2 * p
        a = rz / float(p @ q)
        w += a * p
        r -= a * q
        excess = best - float(w @ (rows.mu + r))  # 2 F(w) - 2 F(w*), as (Σ + l2) w = μ - r
        for goal in GOALS:
            if excess <= goal:
                taken[goal] = min(taken[goal], k)
        if excess <= GOALS[-1]:
            break
        z = precondition(r)
        before, rz = rz, float(r @ z)
        p = z + rz / before * p
    return taken


def jacobi(rows, l2):
    diagonal = rows.diagonal + l2
    return lambda r: r / diagonal


def block(rows, l2, sigma):
    """Cholesky of the most frequent columns, the diagonal of the others."""
    size = sigma.shape[0]
    factor = cho_factor(sigma + l2 * np.eye(size))
    diagonal = rows.diagonal + l2

    def precondition(r):
        z = r / diagonal
        z[:size] = cho_solve(factor, r[:size])
        return z

    return precondition


def nystrom(rows, l2, seed=0):
    """Low rank plus multiple of the diagonal, from as many products as its rank, which are not counted."""
    unit = 1 / np.sqrt(rows.diagonal + l2)
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((rows.mu.size, RANK)))[0]
    images = np.array([unit * rows.product(unit * column) + l2 * unit**2 * column for column in basis.T]).T
    values, vectors = eigh(basis.T @ images)
    roots = images @ (vectors / np.sqrt(np.maximum(values, 1e-12)))
    theta, columns = eigh(roots.T @ roots)
    columns = roots @ columns / np.sqrt(np.maximum(theta, 1e-300))
    rest = float(theta.min())

    def precondition(r):
        s = unit * r
        inner = columns.T @ s
        return unit * (columns @ ((rest / theta - 1) * inner) + s)

    return precondition


def gram_of(X, y, columns):
    """Σ among some columns."""
    part = X[:, columns].toarray()
    plus, minus = part[y], part[~y]
    mu = plus.mean(axis=0) - minus.mean(axis=0)
    return np.cov(plus.T, bias=True) + np.cov(minus.T, bias=True) + np.outer(mu, mu)


def data():
    X = click_rows(200_000)
    yield "200,000 synthetic clicks, 10,000 columns, l2 = 0.001", X, click_labels(X), 0.001
    found = folder()
    if found is not None:
        X, y = read_libsvm([found / f"criteo60k.part{k}.bz2" for k in (1, 2)], n_features=1 << 20)
        yield "40,000 rows of Criteo's log, 2^20 columns, l2 = 0.01", sp.csr_matrix(X), y.astype(bool), 0.01


def run():
    lines = []
    for name, X, y, l2 in data():
        rows = build_matrix_operator(X, [np.flatnonzero(y), np.flatnonzero(~y)], None, 2)
        exact = solve_ridge_matrix_free(rows, Penalty(0.0, l2, np.ones(rows.mu.size)), tol=1e-13)
        best = float(rows.mu @ exact.coef)
        frequent = rows.order.columns[:BLOCK]
        some = np.random.default_rng(0).random(y.size) < SHARE
        ways = {
            "diagonal (Jacobi)": jacobi(rows, l2),
            f"Cholesky of the {BLOCK:,} most frequent columns": block(rows, l2, gram_of(X, y, frequent)),
            f"the same from {SHARE:.0%} of the rows": block(rows, l2, gram_of(X[some], y[some], frequent)),
            f"Nyström of rank {RANK}, its own {RANK} products not counted": nystrom(rows, l2),
        }
        for way, precondition in ways.items():
            taken = products_taken(rows, l2, precondition, best)
            lines.append((f"{name}: {way}", ", ".join(str(taken[goal]) for goal in GOALS), ""))
    report(
        "preconditioners",
        lines,
        notes=[f"number of products until the excess risk is at most {', '.join(map(str, GOALS))}"],
    )


if __name__ == "__main__":
    run()
