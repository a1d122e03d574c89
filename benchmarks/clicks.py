"""Rows shaped like a click log: one-hot fields hashed into few columns."""

import numpy as np
from scipy import sparse as sp


def click_rows(n=1_000_000, fields=39, width=10_000, seed=0):
    """One-hot fields of very different sizes with skewed categories, hashed into ``width`` columns."""
    rng = np.random.default_rng(seed)
    columns = np.empty((n, fields), dtype=np.int32)
    for field in range(fields):
        categories = int(10 ** rng.uniform(0.7, 5))
        value = np.minimum((rng.pareto(0.8, n) * 3).astype(np.int64), categories)
        columns[:, field] = ((value * 2654435761 + field * 40503 * 65537 + 12345) % 4294967291) % width
    columns.sort(axis=1)
    X = sp.csr_matrix(
        (np.ones(n * fields), columns.ravel(), np.arange(0, n * fields + 1, fields, dtype=np.int32)),
        shape=(n, width),
    )
    X.sum_duplicates()
    X.data[:] = 1.0
    return X


def click_labels(X, share=0.29, seed=1):
    """Clicks whose log-odds are linear in the columns, plus noise that no ranker can see."""
    rng = np.random.default_rng(seed)
    score = X @ rng.normal(scale=0.45, size=X.shape[1]) + rng.normal(scale=0.5, size=X.shape[0])
    return rng.random(X.shape[0]) < 1 / (1 + np.exp(np.quantile(score, 1 - share) - score))
