"""Slow twins of curves and interactions: each follows its definition and nothing else."""

import math
from itertools import pairwise

import numpy as np

from mbauc.basis.columns import Steps


def step_code(x, edges):
    """The bin of a number: how many edges are below it; missing ones come last."""
    return len(edges) + 1 if math.isnan(x) else sum(edge < x for edge in edges)


def level_code(x, kept):
    """The level of a code: its place among the kept ones, then all others, then missing ones."""
    if math.isnan(x):
        return len(kept) + 1
    return next((place for place, one in enumerate(kept) if one == x), len(kept))


def number_value(x, number):
    """A number between its bounds, standardised; 0 where it is missing."""
    if math.isnan(x):
        return 0.0
    return (min(max(x, number.low), number.high) - number.center) / number.scale


def column_code(x, column):
    """The indicator of a column that is 1."""
    return step_code(x, column.edges) if isinstance(column, Steps) else level_code(x, column.kept)


def encode(features, X):
    """All features of rows as a dense matrix, entry by entry."""
    blocks = []
    for column, x in zip(features.columns, X.T, strict=True):
        block = np.zeros((len(X), column.width))
        for row, value in enumerate(x):
            block[row, column_code(value, column)] = 1.0
        blocks.append(block)
    for number in features.numbers:
        values = [number_value(x, number) for x in X[:, number.column]]
        blocks.append(np.reshape(values, (-1, 1)))
    for a, b in features.pairs:
        height, width = (max(features.coarse[j]) + 1 for j in (a, b))
        block = np.zeros((len(X), height, width))
        for row, x in enumerate(X):
            first = features.coarse[a][column_code(x[a], features.columns[a])]
            second = features.coarse[b][column_code(x[b], features.columns[b])]
            block[row, first, second] = 1.0
        blocks.append(block.reshape(len(X), -1))
    return np.hstack(blocks)


def dense_reduction(reduction):
    """T as one matrix."""
    blocks = [np.eye(block) if isinstance(block, int) else block for block in reduction.blocks]
    T = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        T[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return T


def roughness(f, totals):
    """Sum of squared differences of neighbouring bins over their distance in rank, in units of π²."""
    used = [k for k in range(len(totals)) if totals[k] > 0]
    whole, below, rank = sum(totals), 0.0, {}
    for k in used:
        rank[k] = (below + totals[k] / 2) / whole
        below += totals[k]
    return sum((f[b] - f[a]) ** 2 / (rank[b] - rank[a]) for a, b in pairwise(used)) / math.pi**2


def interaction_gain(groups, functions, rough, residual, noise, penalty):
    """What an interaction gains, from its coordinates row by row: Σ (gₖ² - ν)/(1 + pₖ)."""
    (first, second), (f, h), (p, q) = groups, functions, rough
    gain = 0.0
    for k in range(f.shape[1]):
        for m in range(h.shape[1]):
            g = sum(r * f[i, k] * h[j, m] for r, i, j in zip(residual, first, second, strict=True))
            gain += (g**2 - noise) / (1 + penalty * (p[k] + q[m]))
    return gain


def log_evidence(covariance, mu, noise, prior):
    """Log density of μ = Cw + noise of covariance νC, where w has these precisions, up to a constant."""
    M = covariance @ np.diag(1 / prior) @ covariance + noise * covariance
    return -0.5 * np.linalg.slogdet(M)[1] - 0.5 * mu @ np.linalg.solve(M, mu)
