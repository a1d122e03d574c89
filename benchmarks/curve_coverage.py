"""How often 95% bands of curves hold the true curve: rows whose log-odds are a sum of known functions.

A curve is compared with two truths: the function itself, and what a fit to very many rows of the same kind
draws. Their difference is what the squared loss makes of log-odds; noise and smoothing are in both.
"""

import numpy as np
from scipy.special import expit, ndtri

from benchmarks.timing import report
from mbauc import AdditiveAUCClassifier

SETS = 60
SIZES = (1_000, 4_000, 16_000, 64_000)
#: Share of positive rows to the log-odds where all functions are zero.
BASES = {0.15: -3.01, 0.02: -5.715}
LIMIT_ROWS = 1_000_000
#: What columns add to log-odds.
FUNCTIONS = {
    "smooth": lambda x: 0.8 * np.sin(2 * x),
    "monotone": lambda x: np.tanh(2 * x),
    "kinked": lambda x: 1.2 * np.maximum(x, 0.0),
    "straight": lambda x: 0.6 * x,
    "flat": np.zeros_like,
}
#: Correlation of any two columns, which are standard normal.
_CORRELATION = 0.3
#: Values of a column, each as likely as the next.
_GRID = ndtri((np.arange(200_000) + 0.5) / 200_000)


def make_rows(rows, base, seed):
    """Columns that have something in common, and labels by the sum of their functions."""
    rng = np.random.default_rng(seed)
    own, common = rng.standard_normal((rows, len(FUNCTIONS))), rng.standard_normal((rows, 1))
    X = np.sqrt(1 - _CORRELATION) * own + np.sqrt(_CORRELATION) * common
    added = sum(add(X[:, j]) for j, add in enumerate(FUNCTIONS.values()))
    return X, rng.random(rows) < expit(base + added)


def draw_limit(base):
    """Curves of a fit to very many rows: log-odds of each column on the grid."""
    X, y = make_rows(LIMIT_ROWS, base, [0, 0])
    ranker = AdditiveAUCClassifier("curves", random_state=0).fit(X, y)
    features = ranker.feature_map_
    added = features.contributions(np.repeat(_GRID[:, None], len(FUNCTIONS), axis=1), ranker.coef_[0])
    drawn = np.zeros((len(FUNCTIONS), _GRID.size))
    for term, heights in zip(features.terms(), added.T, strict=True):
        drawn[term.columns[0]] += ranker.slope_ * heights
    return drawn


def bin_truth(curve, heights, x):
    """Mean of heights on the grid within each bin of a curve, around the mean of the training rows."""
    ends = np.concatenate([[0], np.searchsorted(_GRID, curve.edges, side="right"), [_GRID.size]])
    sums = np.concatenate([[0.0], np.cumsum(heights)])[ends]
    return np.diff(sums) / np.diff(ends) - np.interp(x, _GRID, heights).mean()


def measure(rows, base, limit):
    """Of each set: shares of the rows in bins whose band holds each truth, column by column; half-widths."""
    truths = np.array([add(_GRID) for add in FUNCTIONS.values()]), limit
    held, widths = np.zeros((SETS, 2, len(FUNCTIONS))), np.zeros((SETS, len(FUNCTIONS)))
    for k in range(SETS):
        X, y = make_rows(rows, base, [rows, k + 1])
        curves = AdditiveAUCClassifier("curves", random_state=k).fit(X, y).terms().curves
        for j, curve in enumerate(curves):
            half = ndtri(0.975) * curve.errors
            widths[k, j] = curve.shares @ half
            for place, truth in enumerate(truths):
                off = np.abs(curve.values - bin_truth(curve, truth[j], X[:, j]))
                held[k, place, j] = curve.shares @ (off <= half)
    return held, widths


def run():
    head = ["rows", "truth", *FUNCTIONS, "all"]
    table, errors = [(head[0], " | ".join(head[1:]), "")], []
    for share, base in BASES.items():
        limit = draw_limit(base)
        for rows in SIZES:
            held, widths = measure(rows, base, limit)
            errors.append((held.std(axis=0) / np.sqrt(SETS)).max())
            means = np.concatenate([held.mean(axis=0), held.mean(axis=(0, 2))[:, None]], axis=1)
            what = f"{rows:,}, {share:.0%} positive"
            for truth, found in zip(("log-odds", f"{LIMIT_ROWS:,} rows"), means, strict=True):
                table.append((what, " | ".join([truth, *(f"{one:.0%}" for one in found)]), ""))
            half = [*widths.mean(axis=0), widths.mean()]
            table.append((what, " | ".join(["half of a band", *(f"{one:.2f}" for one in half)]), ""))
    report(
        "curve_coverage",
        table,
        notes=[
            f"share of the rows in bins whose 95% band holds the truth, mean of {SETS} sets; its standard "
            f"error is at most {max(errors):.0%}; the truth is the function in log-odds, or the curve of the "
            f"same fit to {LIMIT_ROWS:,} rows; half of a band is half its width, in log-odds; "
            f"{len(FUNCTIONS)} normal columns, correlation {_CORRELATION:g}"
        ],
    )


if __name__ == "__main__":
    run()
