"""The sparse Gram matrix against tabmat and scipy: 1,000,000 rows of 39 ones in 10,000 columns."""

import numpy as np
import tabmat

from benchmarks.clicks import click_rows
from benchmarks.timing import once, peak_megabytes, report
from mbauc import PairMoments


def run(n=1_000_000):
    X = click_rows(n)
    y = np.random.default_rng(0).random(n) < 0.29
    valued = X.copy()
    valued.data = np.random.default_rng(1).standard_normal(X.nnz)
    PairMoments.from_arrays(X[:1000], y[:1000])
    PairMoments.from_arrays(valued[:1000], y[:1000])
    memory = peak_megabytes(lambda: PairMoments.from_arrays(X, y))
    memory_valued = peak_megabytes(lambda: PairMoments.from_arrays(valued, y))
    weight = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    split = tabmat.SparseMatrix(X.tocsc())
    ours, general, theirs = [], [], []
    for _ in range(3):
        ours.append(once(lambda: PairMoments.from_arrays(X, y)))
        general.append(once(lambda: PairMoments.from_arrays(valued, y)))
        theirs.append(once(lambda: split.sandwich(weight)))
    scipys = once(lambda: X.T @ X.multiply(weight[:, None]).tocsr())
    binary, valued_time, tabmats = min(ours), min(general), min(theirs)
    square = 8 * X.shape[1] ** 2 / 2**20
    report(
        "sparse_gram",
        [
            ("moments, data of ones", f"{binary:.2f} s", ""),
            ("tabmat sandwich / moments", f"{tabmats / binary:.1f}", "at least 8"),
            ("scipy product / moments", f"{scipys / binary:.1f}", "at least 12"),
            ("general values / ones", f"{valued_time / binary:.2f}", "at most 2"),
            ("peak extra memory / one d×d matrix", f"{memory / square:.3f}", "at most 1.10"),
            ("the same, general values", f"{memory_valued / square:.3f}", "at most 1.10"),
        ],
        notes=[
            "the moments hold both classes' centred scatters; tabmat and scipy make one uncentred Gram matrix"
        ],
    )


if __name__ == "__main__":
    run()
