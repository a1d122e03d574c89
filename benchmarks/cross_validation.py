"""Cross-validation against one fit, and a ridge path against one eigendecomposition."""

import numpy as np
from scipy.linalg import eigh

from benchmarks.dense import table
from benchmarks.timing import interleaved, report
from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.solvers import RidgePath


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
        ("scored by true AUC / one fit", f"{times['auc'] / times['fit']:.2f}", "at most 6"),
    ]
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
