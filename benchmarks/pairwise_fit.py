"""All-pairs losses: cross-validation against logistic regression's, and a large fit against the squared one."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.clicks import click_labels, click_rows
from benchmarks.datasets import folder
from benchmarks.timing import interleaved, report
from mbauc import MBAClassifier, PairwiseAUCClassifier, PairwiseAUCClassifierCV
from mbauc.paper.datasets import load

#: Solvers of logistic regression that suit many rows and few columns.
SOLVERS = ("lbfgs", "newton-cholesky", "liblinear")
#: Values of l2, and of C.
VALUES = 10


def run():
    rows = [*compare_cross_validation(), *compare_large_fits()]
    report(
        "pairwise_fit",
        rows,
        ["times of one run, in turns; the fastest of logistic regression's solvers counts"],
    )


def compare_cross_validation():
    """Five folds and ten penalties on a9a, both with the same folds, scored by AUC."""
    data = load("a9a", folder())
    X, y, X_test, y_test = data.X, data.y, data.X_test, data.y_test
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    models = {
        "squared hinge": PairwiseAUCClassifierCV("squared_hinge", l2_grid=np.logspace(0, -4, VALUES), cv=folds),
        "logistic": PairwiseAUCClassifierCV("logistic", l2_grid=np.logspace(0, -4, VALUES), cv=folds),
    }
    for solver in SOLVERS:
        models[solver] = LogisticRegressionCV(
            Cs=VALUES,
            cv=folds,
            scoring="roc_auc",
            solver=solver,
            max_iter=1000,
            n_jobs=2,
            use_legacy_attributes=False,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = interleaved({name: lambda m=model: m.fit(X, y) for name, model in models.items()}, repeats=3)
    auc = {name: 100 * roc_auc_score(y_test, model.decision_function(X_test)) for name, model in models.items()}
    rival = min(SOLVERS, key=times.get)
    rows = [
        (f"a9a, 5 folds × {VALUES}: {n}, seconds", f"{times[n]:.2f}", f"test AUC {auc[n]:.2f}") for n in models
    ]
    for name in ("squared hinge", "logistic"):
        ratio = times[name] / times[rival]
        rows.append((f"all-pairs {name} / LogisticRegressionCV ({rival})", f"{ratio:.2f}", "at most 2"))
    return rows


def compare_large_fits():
    """1,000,000 × 10,000 rows shaped like a click log, in memory."""
    X = click_rows(1_200_000)
    y = click_labels(X)
    X, X_test, y, y_test = X[:1_000_000], X[1_000_000:], y[:1_000_000], y[1_000_000:]
    models = {
        "squared": MBAClassifier(solver="matrix-free"),
        "squared hinge": PairwiseAUCClassifier("squared_hinge"),
        "logistic": PairwiseAUCClassifier("logistic"),
    }
    times = interleaved({name: lambda m=model: m.fit(X, y) for name, model in models.items()}, repeats=3)
    rows = []
    for name, model in models.items():
        auc = 100 * roc_auc_score(y_test, model.decision_function(X_test))
        rows.append((f"1M × 10k: {name}, seconds", f"{times[name]:.2f}", f"test AUC {auc:.2f}"))
        rows.append((f"1M × 10k: {name}, sweeps", f"{model.n_iter_}", ""))
    rows += [
        (f"1M × 10k: {name} / squared", f"{times[name] / times['squared']:.2f}", "at most 10")
        for name in ("squared hinge", "logistic")
    ]
    return rows


if __name__ == "__main__":
    run()
