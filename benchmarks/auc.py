"""AUC and DeLong's interval of 10,000,000 scores against scikit-learn and against sorting them."""

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.timing import interleaved, once, report
from mbauc.metrics import roc_auc, roc_auc_interval


def run(n=10_000_000):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    s = rng.standard_normal(n) + y
    took = interleaved(
        {
            "sort": lambda: np.sort(s),
            "auc": lambda: roc_auc(y, s),
            "interval": lambda: roc_auc_interval(y, s),
        }
    )
    theirs = min(once(lambda: roc_auc_score(y, s)) for _ in range(2))
    report(
        "auc",
        [
            ("np.sort", f"{took['sort']:.3f} s", ""),
            ("roc_auc_score / roc_auc", f"{theirs / took['auc']:.0f}", "at least 20"),
            ("roc_auc / np.sort", f"{took['auc'] / took['sort']:.2f}", ""),
            ("roc_auc_interval / np.sort", f"{took['interval'] / took['sort']:.2f}", "at most 1.5"),
        ],
        notes=["10,000,000 scores, 30% positive, all checks of the input are timed as well"],
    )


if __name__ == "__main__":
    run()
