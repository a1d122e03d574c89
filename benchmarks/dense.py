"""Dense fits against one dsyrk of the same matrix, logistic regression, and the memory of X."""

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.linear_model import LogisticRegression

from benchmarks.timing import interleaved, peak_megabytes, report
from mbauc import MBAClassifier, PairMoments


def table(n, d, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=dtype)
    y = (X[:, :5].sum(axis=1) + 3 * rng.standard_normal(n)) > 4
    return X, y.astype(int)


def smooth_table(n, d, seed=0):
    """Columns that are running means of noise, as neighbouring pixels are."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, d + 8)).cumsum(axis=1)
    X = (noise[:, 8:] - noise[:, :-8]) / np.sqrt(8)
    score = X @ rng.standard_normal(d)
    return X, (score + score.std() * rng.standard_normal(n) > np.quantile(score, 0.8)).astype(int)


def _hundreds_of_columns(name, X, y):
    narrow = X.astype(np.float32)
    times = interleaved(
        {
            "dsyrk": lambda: dsyrk(1.0, X.T),
            "fit": lambda: MBAClassifier().fit(X, y),
            "gram": lambda: MBAClassifier(solver="gram").fit(X, y),
            "gram32": lambda: MBAClassifier(solver="gram").fit(narrow, y),
            "moments": lambda: PairMoments.from_arrays(X, y),
            "moments32": lambda: PairMoments.from_arrays(narrow, y),
            "logistic": lambda: LogisticRegression().fit(X, y),
        },
        repeats=6,
    )
    solver = MBAClassifier().fit(X, y).solver_.name
    return [
        (f"{name}: dsyrk", f"{times['dsyrk']:.3f} s", ""),
        (f"LogisticRegression / fit ({solver})", f"{times['logistic'] / times['fit']:.1f}", "at least 2"),
        ("fit from moments / dsyrk", f"{times['gram'] / times['dsyrk']:.2f}", "at most 1.4"),
        ("fit from moments, float32 / float64", f"{times['gram32'] / times['gram']:.2f}", "below 1"),
        ("float32 moments / float64 moments", f"{times['moments32'] / times['moments']:.2f}", "below 1"),
    ]


def run():
    X, y = table(1_000_000, 100)
    times = interleaved(
        {
            "dsyrk": lambda: dsyrk(1.0, X.T),
            "fit": lambda: MBAClassifier().fit(X, y),
            "fit, l2 given": lambda: MBAClassifier(l2=1e-3).fit(X, y),
            "logistic": lambda: LogisticRegression().fit(X, y),
        },
        repeats=4,
    )
    memory = peak_megabytes(lambda: MBAClassifier().fit(X, y))
    rows = [
        ("1,000,000 × 100: dsyrk", f"{times['dsyrk']:.3f} s", ""),
        ("fit / dsyrk", f"{times['fit'] / times['dsyrk']:.2f}", "at most 1.3"),
        ("fit with l2 given / dsyrk", f"{times['fit, l2 given'] / times['dsyrk']:.2f}", "at most 1.3"),
        ("LogisticRegression / fit", f"{times['logistic'] / times['fit']:.1f}", "at least 3"),
        ("peak extra memory / X", f"{memory / (X.nbytes / 2**20):.1%}", "at most 10%"),
    ]
    rows += _hundreds_of_columns("60,000 × 780, uncorrelated", *table(60_000, 780))
    rows += _hundreds_of_columns("60,000 × 780, neighbours correlated", *smooth_table(60_000, 780))
    report("dense", rows)


if __name__ == "__main__":
    run()
