"""The penalty that nobody sets, on tables that are known to fool such choices, beside the best of a grid.

Each kind of table is made for several seeds; figures are means over them, the loss is that of the worst.
The best of the grid is the best *on the test rows* of 57 values of l2, columns as they are or standardised.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV

from benchmarks.nasty_tables import tables
from benchmarks.timing import report
from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.metrics import roc_auc
from mbauc.rows.scores import scores
from mbauc.solvers.problem import Problem

_SHARES = np.logspace(-8, 6, 57)
_RIVALS = {
    "LogisticRegression": lambda: LogisticRegression(max_iter=500),
    "RidgeClassifier": lambda: RidgeClassifier(class_weight="balanced"),
    "RidgeClassifierCV": lambda: RidgeClassifierCV(np.logspace(-3, 5, 9), class_weight="balanced"),
}


def fitted_auc(ranker, table):
    """Test AUC in percent, and whether the fit warned of its penalty."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ranker.fit(table.X, table.y)
    return 100 * roc_auc(table.y_test, ranker.decision_function(table.X_test)), any(
        "l2" in str(one.message) or "units" in str(one.message) for one in said
    )


def best_of_grid(table):
    """Best test AUC of any l2, with columns as they are and standardised."""
    moments = PairMoments.from_arrays(table.X, table.y)
    found = []
    for scale in (False, True):
        problem = Problem(moments, np.ones(moments.n_features), scale=scale)
        W = problem.grid([0.0], list(_SHARES * problem.variances.mean()), tol=1e-6, max_iter=1000)[0]
        found.append(max(100 * roc_auc(table.y_test, s) for s in scores(table.X_test, W)))
    return found


def run(seeds: int = 3) -> None:
    warnings.simplefilter("ignore")
    rankers = {
        "default": MBAClassifier,
        "matrix-free": lambda: MBAClassifier(solver="matrix-free"),
        "CV": lambda: MBAClassifierCV(random_state=0),
        **_RIVALS,
    }
    kept: dict[str, list[list[float]]] = {}
    warned: dict[str, int] = {}
    for seed in range(seeds):
        for table in tables(seed):
            aucs = [fitted_auc(make(), table) for make in rankers.values()]
            warned[table.name] = warned.get(table.name, 0) + aucs[0][1]
            kept.setdefault(table.name, []).append([*best_of_grid(table), *(auc for auc, _ in aucs)])
            print(
                table.name,
                seed,
                [f"{value:.2f}" for value in kept[table.name][-1]],
                file=sys.stderr,
                flush=True,
            )
    rows = []
    for name, values in kept.items():
        mean, found = np.mean(values, axis=0), np.array(values)
        worst = (found[:, :2].max(axis=1) - found[:, 2]).max()
        own = (found[:, 0] - found[:, 2]).max()
        said = f"{warned[name]} of {seeds}" if warned[name] else ""
        cells = [*(f"{value:.2f}" for value in mean), f"{worst:.2f}", f"{own:.2f}", said]
        rows.append((name, " | ".join(cells), ""))
    head = ["best l2", "best l2, scaled", *rankers, "worst loss", "to unscaled l2", "warned"]
    report(
        "automatic_penalty",
        [("table", " | ".join(head), ""), *rows],
        notes=[
            "test AUC in percent, mean of the seeds; losses of the default to the best of the grid, worst seed"
        ],
    )


if __name__ == "__main__":
    run()
