"""How often 95% intervals of an AUC hold the true one: normal scores, of which the truth is known.

The intervals are DeLong's on the logit scale (the default) and on the linear one, and the bootstrap's; those of
partial AUC; and DeLong's where rows do not count alike.
"""

import warnings

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.timing import report
from mbauc.errors import FewRowsWarning
from mbauc.metrics import partial_roc_auc_interval, roc_auc_bootstrap, roc_auc_interval
from mbauc.metrics.intervals.delong import interval_ends
from mbauc.metrics.intervals.sample_design import enough_rows

SETS = 3000
#: The bootstrap takes its time.
BOOTSTRAP_SETS, RESAMPLES = 500, 500
TRUTHS = (0.75, 0.95, 0.99, 0.999)
#: Positives, negatives, and whether the bootstrap is run.
SIZES = (
    (2000, 2000, False),
    (500, 49_500, False),
    (500, 500, True),
    (200, 1000, False),
    (100, 1000, True),
    (50, 1000, False),
    (20, 1000, True),
    (10, 1000, False),
)
#: Positives, negatives, max_fpr, min_tpr.
REGIONS = (
    (500, 5000, 0.1, 0.0),
    (500, 1000, 0.1, 0.0),
    (100, 1000, 0.1, 0.0),
    (500, 10_000, 0.01, 0.0),
    (500, 1000, 1.0, 0.5),
    (500, 1000, 0.5, 0.5),
)
PARTIAL_SETS = 2000
#: What rows are like, and how much they differ: log-sd of sampling weights, or of sizes of clusters.
DESIGNS = (
    ("500 + 5,000 rows, sampling weights", 1.0),
    ("500 + 5,000 rows, sampling weights", 2.0),
    ("100 + 1,000 rows, sampling weights", 1.0),
    ("150 clusters", 0.0),
    ("300 clusters", 1.2),
    ("150 clusters", 1.2),
    ("300 clusters", 1.6),
)
DESIGN_SETS = 2000


def shift_of(truth):
    """Distance of the means of normal scores of variance one with that AUC: Φ(shift/√2)."""
    return np.sqrt(2.0) * ndtri(truth)


def holds(ends, truth):
    return ends[0] <= truth <= ends[1]


def covered(truth, positives, negatives, bootstrap):
    """Shares of sets: warned of, and in which each interval holds the truth; mean widths."""
    rng = np.random.default_rng([positives, negatives, round(1000 * truth)])
    y = np.arange(positives + negatives) < positives
    smaller = min(positives, negatives)
    warned, hits, widths = 0, dict.fromkeys(("logit", "linear"), 0), dict.fromkeys(("logit", "linear"), 0.0)
    for _ in range(SETS):
        found = roc_auc_interval(y, rng.standard_normal(y.size) + shift_of(truth) * y)
        warned += smaller < enough_rows(found.auc)
        for scale in hits:
            ends = interval_ends(found.auc, found.stderr, smaller, 0.95, scale)
            hits[scale] += holds(ends, truth)
            widths[scale] += ends[1] - ends[0]
    cells = [f"{warned / SETS:.0%}", *(f"{hits[name] / SETS:.1%} ({widths[name] / SETS:.3f})" for name in hits)]
    if not bootstrap:
        return [*cells, ""]
    found = [
        roc_auc_bootstrap(
            y, rng.standard_normal(y.size) + shift_of(truth) * y, resamples=RESAMPLES, random_state=rng
        )
        for _ in range(BOOTSTRAP_SETS)
    ]
    share = np.mean([holds((each.low, each.high), truth) for each in found])
    return [*cells, f"{share:.1%} ({np.mean([each.high - each.low for each in found]):.3f})"]


def covered_partial(positives, negatives, max_fpr, min_tpr, shift):
    """Coverage of the intervals of partial AUC, and how their standard errors compare with the true one."""
    rng = np.random.default_rng(
        [positives, negatives, round(1000 * max_fpr), round(1000 * min_tpr), int(shift)]
    )
    rates = (np.arange(1_000_000) + 0.5) / 1_000_000 * max_fpr
    truth = max_fpr * np.maximum(0.0, ndtr(shift + ndtri(rates)) - min_tpr).mean()
    y = np.arange(positives + negatives) < positives
    largest = max_fpr * (1 - min_tpr)
    hits, areas, stderrs = dict.fromkeys(("logit", "linear"), 0), [], []
    for _ in range(PARTIAL_SETS):
        s = rng.standard_normal(y.size) + shift * y
        found = partial_roc_auc_interval(y, s, max_fpr=max_fpr, min_tpr=min_tpr, standardized=False)
        hits["logit"] += holds((found.low, found.high), truth)
        linear = interval_ends(found.auc / largest, found.stderr / largest, positives, 0.95, "linear")
        hits["linear"] += holds(linear, truth / largest)
        areas.append(found.auc)
        stderrs.append(found.stderr)
    ratio = np.sqrt(np.mean(np.square(stderrs))) / np.std(areas)
    return [
        f"{truth / largest:.2f}",
        *(f"{count / PARTIAL_SETS:.1%}" for count in hits.values()),
        f"{ratio:.2f}",
    ]


def covered_design(what, spread):
    """Mean of the effective size of the positives, and coverage, where rows do not count alike."""
    rng = np.random.default_rng([*what.encode(), round(10 * spread)])
    hits, sizes = 0, []
    for _ in range(DESIGN_SETS):
        if "sampling" in what:
            truth, settings = 0.8, {"weights": "sampling"}
            positives = int(what.split()[0])
            y = np.arange(11 * positives) < positives
            mass = rng.lognormal(sigma=spread, size=y.size)
            s = rng.standard_normal(y.size) + shift_of(truth) * y
            settings["sample_weight"], of_positives = mass, mass[y]
        else:
            clusters = int(what.split()[0])
            rows = np.clip(np.round(4 * rng.lognormal(sigma=spread, size=clusters)), 1, 400).astype(int)
            user = np.repeat(np.arange(clusters), rows)
            y = rng.random(user.size) < 0.4
            # both classes of a cluster have a level of their own, so that pairs within it are like all others
            level = rng.standard_normal((clusters, 2))[user, y.astype(int)]
            truth, settings = float(ndtr(1.5 / 2)), {"clusters": user}
            s = level + rng.standard_normal(user.size) + 1.5 * y
            of_positives = np.bincount(user[y], minlength=clusters)
        found = roc_auc_interval(y, s, **settings)
        hits += holds((found.low, found.high), truth)
        sizes.append(of_positives.sum() ** 2 / (of_positives.astype(float) ** 2).sum())
    return [f"{spread:g}", f"{np.mean(sizes):.0f}", f"{hits / DESIGN_SETS:.1%}"]


def run():
    warnings.simplefilter("ignore", FewRowsWarning)
    rows = [("positives + negatives", "true AUC | warned of | DeLong, logit | DeLong, linear | bootstrap", "")]
    for positives, negatives, bootstrap in SIZES:
        for truth in TRUTHS:
            cells = covered(truth, positives, negatives, bootstrap)
            rows.append((f"{positives:,} + {negatives:,}", " | ".join([f"{truth:g}", *cells]), ""))
    report(
        "coverage",
        rows,
        notes=[
            f"share of {SETS:,} sets with a `FewRowsWarning`, and share whose 95% interval holds the true AUC; "
            f"in brackets the mean width of the intervals; the shares have a standard error of {error(SETS)}; "
            f"bootstrap: {BOOTSTRAP_SETS:,} sets ({error(BOOTSTRAP_SETS)}), {RESAMPLES} resamples"
        ],
    )
    rows = [
        (
            "positives + negatives",
            "max_fpr | min_tpr | share of the region | logit | linear | stderr / true",
            "",
        )
    ]
    for positives, negatives, max_fpr, min_tpr in REGIONS:
        for shift in (1.0, 2.0):
            cells = covered_partial(positives, negatives, max_fpr, min_tpr, shift)
            cells = [f"{max_fpr:g}", f"{min_tpr:g}", *cells]
            rows.append((f"{positives:,} + {negatives:,}", " | ".join(cells), ""))
    report("coverage_partial", rows, notes=[f"{PARTIAL_SETS:,} sets; standard error {error(PARTIAL_SETS)}"])
    rows = [("rows", "log-sd of weights or sizes | effective positives | DeLong, logit", "")]
    rows += [(what, " | ".join(covered_design(what, spread)), "") for what, spread in DESIGNS]
    report("coverage_design", rows, notes=[f"{DESIGN_SETS:,} sets; standard error {error(DESIGN_SETS)}"])


def error(sets):
    """Standard error of a share of 95%."""
    return f"{np.sqrt(0.95 * 0.05 / sets):.1%}"


if __name__ == "__main__":
    run()
