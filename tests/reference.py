"""Slow twins: each follows its definition in the paper line by line and nothing else."""

import numpy as np


def pair_moments(X, y, w=None):
    """Eq. (13), and with weights: a double loop over all pairs."""
    X = np.asarray(X, dtype=float)
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    mu, sigma, total = np.zeros(X.shape[1]), np.zeros((X.shape[1],) * 2), 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            x = X[i] - X[j]
            mu += w[i] * w[j] * x
            sigma += w[i] * w[j] * np.outer(x, x)
            total += w[i] * w[j]
    return mu / total, sigma / total


def matched_moments(X_pos, X_neg):
    """Eq. (16): row i with row i."""
    mu, sigma = np.zeros(X_pos.shape[1]), np.zeros((X_pos.shape[1],) * 2)
    for a, b in zip(np.asarray(X_pos, dtype=float), np.asarray(X_neg, dtype=float), strict=True):
        mu += a - b
        sigma += np.outer(a - b, a - b)
    return mu / len(X_pos), sigma / len(X_pos)


def pairwise_risk(X, y, w):
    """Eq. (8): mean of (1 - w'(x⁺ - x⁻))² over all pairs."""
    losses = [(1 - w @ (X[i] - X[j])) ** 2 for i in np.flatnonzero(y) for j in np.flatnonzero(~y)]
    return float(np.mean(losses))


def auc(y, s, w=None):
    """Eq. (5): share of pairs won, ties one half."""
    w = np.ones(len(s)) if w is None else w
    won = total = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            won += w[i] * w[j] * (1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0)
            total += w[i] * w[j]
    return won / total


def objective(sigma, mu, w, l1, l2, factors=None):
    """Eq. (14)."""
    factors = np.ones(len(mu)) if factors is None else factors
    penalty = sum(f * (l1 * abs(v) + l2 / 2 * v**2) for f, v in zip(factors, w, strict=True))
    return 0.5 * w @ sigma @ w - w @ mu + penalty


def coordinate_descent(sigma, mu, l1, l2, factors=None, sweeps=20_000):
    """Eq. (14) minimised one coordinate at a time with the textbook soft threshold."""
    factors = np.ones(len(mu)) if factors is None else factors
    w = np.zeros(len(mu))
    for _ in range(sweeps):
        before = w.copy()
        for j in range(len(mu)):
            rest = mu[j] - sigma[j] @ w + sigma[j, j] * w[j]
            curvature = sigma[j, j] + l2 * factors[j]
            if curvature > 0:
                w[j] = np.sign(rest) * max(abs(rest) - l1 * factors[j], 0.0) / curvature
        if np.abs(w - before).max() < 1e-14:
            break
    return w
