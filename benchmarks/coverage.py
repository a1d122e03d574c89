"""How often 95% intervals of an AUC hold the true one: binormal scores, of which the truth is known.

The intervals are DeLong's on the logit scale (the default) and on the linear one, and the bootstrap's.
"""

import warnings

import numpy as np
from scipy.special import ndtri

from benchmarks.timing import report
from mbauc.errors import FewRowsWarning
from mbauc.metrics import roc_auc_bootstrap, roc_auc_interval

SETS = 2000
RESAMPLES = 500
#: Positives, negatives, and whether the bootstrap has the time.
SIZES = (
    (500, 500, True),
    (500, 49_500, False),
    *((positives, 1000, True) for positives in (200, 100, 50, 20, 10)),
)


def covered(truth, positives, negatives, bootstrap, sets=SETS):
    """Share of the sets in which each interval holds the truth, and its mean width."""
    rng = np.random.default_rng([positives, negatives, round(1000 * truth)])
    y = np.arange(positives + negatives) < positives
    shift = np.sqrt(2.0) * ndtri(truth)
    kinds = {
        "logit": lambda s: roc_auc_interval(y, s),
        "linear": lambda s: roc_auc_interval(y, s, scale="linear"),
    }
    if bootstrap:
        kinds["bootstrap"] = lambda s: roc_auc_bootstrap(y, s, resamples=RESAMPLES, random_state=rng)
    hits, widths = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0.0)
    for _ in range(sets):
        s = rng.standard_normal(y.size) + shift * y
        for name, interval in kinds.items():
            found = interval(s)
            hits[name] += found.low <= truth <= found.high
            widths[name] += found.high - found.low
    return {name: (hits[name] / sets, widths[name] / sets) for name in kinds}


def run():
    warnings.simplefilter("ignore", FewRowsWarning)
    rows = [("positives + negatives", "true AUC | DeLong, logit | DeLong, linear | bootstrap", "")]
    for positives, negatives, bootstrap in SIZES:
        for truth in (0.75, 0.95):
            found = covered(truth, positives, negatives, bootstrap)
            cells = [f"{share:.1%} ({width:.3f})" for share, width in found.values()]
            cells += [""] * (3 - len(cells))
            rows.append((f"{positives:,} + {negatives:,}", " | ".join([f"{truth:.2f}", *cells]), ""))
    error = np.sqrt(0.95 * 0.05 / SETS)
    report(
        "coverage",
        rows,
        notes=[
            f"share of {SETS:,} sets whose 95% interval holds the true AUC, and mean width of the intervals; "
            f"the shares have a standard error of {error:.1%}; {RESAMPLES} resamples of the bootstrap"
        ],
    )


if __name__ == "__main__":
    run()
