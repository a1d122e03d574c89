"""Rows whose scores are sums of curves, straight lines, or one interaction."""

import numpy as np


def make_rows(truth, n=1200, d=4, seed=0):
    """(X, y): standard normal columns and labels by a noisy score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = {
        "lines": X[:, 0] - X[:, 1],
        "curves": 2 * np.abs(X[:, 0]) + np.sin(3 * X[:, 1]) - 1,
        "product": 2 * X[:, 0] * X[:, 1],
        "both": X[:, 0] ** 2 + X[:, 2] + 2 * X[:, 1] * X[:, 3],
    }[truth]
    return X, (score + rng.normal(size=n) > np.quantile(score, 0.6)).astype(int)
