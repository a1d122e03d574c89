"""Which l2 needs no tuning, and which score to cross-validate by: test AUC on public data sets.

Each set twice: the training rows as they come, and a sample of 300 negatives with at least 30 positives.
"""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.datasets import DataSet, load_all
from benchmarks.timing import report
from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.metrics import roc_auc
from mbauc.rows.scores import scores
from mbauc.solvers.problem import Problem

_SHARES = np.logspace(-6, 3, 28)
_FIXED = (1e-3, 0.1, 1.0)


def cases():
    for data in load_all():
        yield data.name, data.X, data.y, data
        if len(data.y) >= 1000:
            rng = np.random.default_rng(0)
            plus, minus = np.flatnonzero(data.y), np.flatnonzero(~data.y)
            few = min(max(30, int(300 * data.y.mean())), plus.size)
            rows = np.concatenate([rng.choice(plus, few, False), rng.choice(minus, 300, False)])
            yield f"{data.name}, few rows", data.X[rows], data.y[rows], data
    for positives in (30, 100, 1000):
        data = even_signal(positives)
        yield data.name, data.X, data.y, data


def even_signal(positives, seed=0, n=5000, d=200):
    """Made-up rows against which the default is weak: few positives, a signal of one size in all directions."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d) / 2
    shift = 0.15 * rng.standard_normal(d)

    def draw(rows, plus):
        y = np.arange(rows) < plus
        return (rng.standard_normal((rows, d)) + y[:, None] * shift) @ mixing, y

    return DataSet(f"made-up, {positives} positives", *draw(n, positives), *draw(20_000, 2000))


def run():
    warnings.simplefilter("ignore")
    names = ["auto", "auto, scaled", *(f"{share:g}" for share in _FIXED)]
    loss = {name: [] for name in names}
    scoring = {name: [] for name in ("roc_auc", "binormal_auc", "risk")}
    rows, rival = [], []
    for name, X, y, data in cases():
        problem = Problem(PairMoments.from_arrays(X, y), np.ones(X.shape[1]), scale=False)
        grid = list(_SHARES * problem.variances.mean())
        fixed = [share * problem.variances.mean() for share in _FIXED]
        W = problem.grid([0.0], grid + fixed, tol=1e-6, max_iter=1000)[0]
        auc = np.array([100 * roc_auc(data.y_test, s) for s in scores(data.X_test, W)])
        best = auc.max()
        rankers = MBAClassifier(), MBAClassifier(scale=True), LogisticRegression(max_iter=2000)
        plain, scaled, logistic = (
            100 * roc_auc(data.y_test, ranker.fit(X, y).decision_function(data.X_test)) for ranker in rankers
        )
        found = [plain, scaled, *auc[len(grid) :]]
        for key, value in zip(names, found, strict=True):
            loss[key].append(best - value)
        chosen = []
        if X.shape[1] <= 1000:
            for how in scoring:
                ranker = MBAClassifierCV(scoring=how, random_state=0).fit(X, y)
                chosen.append(100 * roc_auc(data.y_test, ranker.decision_function(data.X_test)))
                scoring[how].append(best - chosen[-1])
        cells = [f"{best:.2f}", *(f"{value:.2f}" for value in [*found, logistic, *chosen])]
        rival.append(best - logistic)
        rows.append((f"{name} ({X.shape[0]:,} × {X.shape[1]:,})", " | ".join(cells), ""))
    for label, pick in (("mean loss", np.mean), ("worst loss", np.max)):
        cells = [
            "0.00",
            *(f"{pick(loss[key]):.2f}" for key in names),
            f"{pick(rival):.2f}",
            *(f"{pick(scoring[k]):.2f}" for k in scoring),
        ]
        rows.append((label, " | ".join(cells), ""))
    head = " | ".join(
        ["best l2", *(f"l2 {key}" for key in names), "LogisticRegression", *(f"CV {key}" for key in scoring)]
    )
    report(
        "defaults",
        [("data set", head, ""), *rows],
        notes=["test AUC in percent; l2 in units of the mean diagonal of Σ"],
    )


if __name__ == "__main__":
    run()
