"""How often 95% intervals of the AUC within groups hold the true one: samples of groups of known truth."""

import numpy as np

from benchmarks.coverage import error, holds
from benchmarks.timing import report
from mbauc.losses import PairWeights
from mbauc.metrics.grouped import FEW_GROUPS, GroupedAuc
from mbauc.metrics.intervals.sample_design import enough_rows

SETS = 2000
#: Groups from which the truth is taken.
MANY = 400_000
COUNTS = (6, 12, 25, 50, 200)
#: Distance of the class means in a group on average, and how much it differs between groups.
EFFECTS = ((1.2, 0.0), (1.2, 0.7), (2.5, 0.7))
KINDS = {
    "5 + 20 rows each": lambda rng, n: np.full(n, 25),
    "8 rows on average": lambda rng, n: 1 + rng.geometric(1 / 7, n) + 1,
    "33 rows on average, log-normal": lambda rng, n: np.maximum(2, rng.lognormal(3.0, 1.0, n).astype(int)),
}


def draw(rng, kind, n_groups, shift, spread):
    """AUC of each of so many groups, and its number of pairs."""
    sizes = KINDS[kind](rng, n_groups)
    positives = (
        np.full(n_groups, 5) if kind.startswith("5") else np.clip(rng.binomial(sizes, 0.3), 1, sizes - 1)
    )
    groups = np.repeat(np.arange(n_groups), sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    y = np.arange(groups.size) - first < positives[groups]
    effect = shift + spread * rng.standard_normal(n_groups)
    pairs = PairWeights.build(y, None, groups)
    return GroupedAuc.of(pairs, rng.standard_normal(groups.size) + y * effect[groups])


def covered(kind, shift, spread, equal):
    """A line for each number of groups."""
    rng = np.random.default_rng([*kind.encode(), round(10 * shift), round(10 * spread), equal])

    def sample(n_groups):
        found = draw(rng, kind, n_groups, shift, spread)
        return found.equally() if equal else found

    truth = sample(MANY).auc
    for n_groups in COUNTS:
        aucs, shares = draw(rng, kind, SETS * n_groups, shift, spread)
        hits = warned = width = size = 0.0
        for mine in np.split(np.arange(aucs.size), SETS):
            found = GroupedAuc(aucs[mine], shares[mine])
            found = found.equally() if equal else found
            interval = found.interval()
            hits += holds((interval.low, interval.high), truth)
            warned += found.effective_groups < enough_rows(interval.auc, FEW_GROUPS)
            width += interval.high - interval.low
            size += found.effective_groups
        yield (
            f"{n_groups} of {kind}",
            f"{'groups' if equal else 'pairs'} | {truth:.3f} | {'differ' if spread else 'are alike'} | "
            f"{size / SETS:.0f} | {warned / SETS:.0%} | {hits / SETS:.1%} ({width / SETS:.3f})",
            "",
        )


def run():
    rows = [("groups", "count by | true AUC | AUCs of groups | effective groups | warned of | covers", "")]
    for kind in KINDS:
        for shift, spread in EFFECTS:
            for equal in (False, True):
                if equal or not kind.startswith("5"):
                    rows += covered(kind, shift, spread, equal)
    report(
        "coverage_groups",
        rows,
        notes=[
            f"{SETS:,} sets; shares with a standard error of {error(SETS)}; in brackets the mean width; the "
            f"truth is that of {MANY:,} groups"
        ],
    )


if __name__ == "__main__":
    run()
