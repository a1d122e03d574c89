"""Cross-validation against one fit, dense and wide sparse, and a ridge path against one eigendecomposition."""

import numpy as np
from scipy.linalg import eigh

from benchmarks.clicks import click_labels, click_rows
from benchmarks.dense import table
from benchmarks.timing import interleaved, once, report
from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.solvers import RidgePath


def wide_rows():
    """60,000 rows of 39 fields in 2^20 columns, where Σ is not formed."""
    X = click_rows(60_000, width=1 << 20)
    y = click_labels(X)
    times = interleaved(
        {
            "fit": lambda: MBAClassifier().fit(X, y),
            "cv": lambda: MBAClassifierCV(random_state=0).fit(X, y),
        },
        repeats=3,
    )
    grid = MBAClassifierCV(random_state=0).fit(X, y).cv_results_["param_l2"]
    whole = once(lambda: MBAClassifierCV(l2_grid=grid, random_state=0).fit(X, y))
    return [
        ("60,000 × 2^20, sparse: 5 folds × 20 l2 / one fit", f"{times['cv'] / times['fit']:.2f}", "at most 8"),
        ("the same with all 20 named, so that none is left out", f"{whole / times['fit']:.1f}", ""),
    ]


def run():
    X, y = table(1_000_000, 100)
    times = interleaved(
        {
            "fit": lambda: MBAClassifier().fit(X, y),
            "risk": lambda: MBAClassifierCV(scoring="risk", random_state=0).fit(X, y),
            "binormal": lambda: MBAClassifierCV(scoring="binormal_auc", random_state=0).fit(X, y),
            "auc": lambda: MBAClassifierCV(random_state=0).fit(X, y),
        },
        repeats=3,
    )
    rows = [
        ("5 folds × 20 l2, scored by risk / one fit", f"{times['risk'] / times['fit']:.2f}", "at most 3"),
        ("scored by binormal AUC / one fit", f"{times['binormal'] / times['fit']:.2f}", "at most 3"),
        ("scored by true AUC / one fit", f"{times['auc'] / times['fit']:.2f}", "at most 3"),
    ]
    rows += wide_rows()
    grid = np.logspace(-4, 4, 50)
    for d in (200, 1000):
        A = np.random.default_rng(0).standard_normal((2 * d, d))
        sigma, mu = A.T @ A / (2 * d), A.mean(axis=0)
        times = interleaved(
            {
                "eigh": lambda s=sigma: eigh(s),
                "path": lambda s=sigma, m=mu, k=d: RidgePath(s, m, np.ones(k)).coefficients(grid),
            }
        )
        rows.append((f"ridge path of 50 / eigh, d = {d}", f"{times['path'] / times['eigh']:.2f}", "at most 3"))
    report("cross_validation", rows)


if __name__ == "__main__":
    run()
