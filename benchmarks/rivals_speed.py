"""One pass over 1,000,000 click rows: the two logistic rivals against SGDClassifier and river."""

import numpy as np
from river import linear_model, optim
from sklearn.linear_model import SGDClassifier

from benchmarks.clicks import click_labels, click_rows
from benchmarks.timing import interleaved, report, seconds
from mbauc.metrics import roc_auc
from mbauc.paper.rivals import FTRLProximal, OnlineLogisticRegression

RIVER_ROWS = 10_000


def river_seconds_a_row(optimizer, X, y):
    """Best time of ``learn_one`` alone: the rows are dictionaries already."""
    rows = [
        dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr[:RIVER_ROWS], X.indptr[1:], strict=False)
    ]
    labels = y[:RIVER_ROWS].tolist()

    def learn():
        model = linear_model.LogisticRegression(optimizer())
        for x, label in zip(rows, labels, strict=True):
            model.learn_one(x, label)

    return seconds(learn, repeats=3) / RIVER_ROWS


def run(n=1_000_000):
    X = click_rows(n + n // 5)
    y = click_labels(X)
    X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    valued = X.copy()
    valued.data = np.abs(np.random.default_rng(1).standard_normal(X.nnz))
    models = {
        "sgd": SGDClassifier(max_iter=1, tol=None, random_state=0),
        "sgd log": SGDClassifier("log_loss", max_iter=1, tol=None, random_state=0),
        "sgd in order": SGDClassifier(max_iter=1, tol=None, shuffle=False),
        "olr": OnlineLogisticRegression(random_state=0),
        "olr in order": OnlineLogisticRegression(shuffle=False),
        "ftrl": FTRLProximal(random_state=0),
        "ftrl in order": FTRLProximal(shuffle=False),
    }
    tasks = {name: (lambda model=model: model.fit(X, y)) for name, model in models.items()}
    for name in ("sgd", "olr", "ftrl"):
        tasks[f"{name} valued"] = lambda model=models[name]: model.fit(valued, y)
    took = interleaved(tasks)
    for name in ("sgd", "olr", "ftrl"):
        models[name].fit(X, y)  # again, after the fits to other values
    auc = {name: roc_auc(y_test, model.decision_function(X_test)) for name, model in models.items()}
    rivers = {
        "olr": river_seconds_a_row(optim.SGD, X, y),
        "ftrl": river_seconds_a_row(optim.FTRLProximal, X, y),
    }
    rows = [("SGDClassifier(max_iter=1)", f"{took['sgd']:.2f} s", "")]
    for name, title, limit in (
        ("olr", "OnlineLogisticRegression", 0.35),
        ("ftrl", "FTRLProximal", 0.6),
    ):
        rows += [
            (f"{title} / SGDClassifier", f"{took[name] / took['sgd']:.2f}", f"at most {limit}"),
            (f"{title} / SGDClassifier('log_loss')", f"{took[name] / took['sgd log']:.2f}", ""),
            (
                "the same, values other than one",
                f"{took[f'{name} valued'] / took['sgd valued']:.2f}",
                "",
            ),
            ("both with shuffle=False", f"{took[f'{name} in order'] / took['sgd in order']:.2f}", ""),
            (
                f"river / {title}(shuffle=False), a row",
                f"{rivers[name] / (took[f'{name} in order'] / n):,.0f}",
                "at least 100",
            ),
            (f"river / {title}, a row", f"{rivers[name] / (took[name] / n):,.0f}", ""),
        ]
    rows += [
        ("test AUC of SGDClassifier: hinge, logistic", f"{auc['sgd']:.4f}, {auc['sgd log']:.4f}", ""),
        ("test AUC of OnlineLogisticRegression", f"{auc['olr']:.4f}", "no lower"),
        ("test AUC of FTRLProximal", f"{auc['ftrl']:.4f}", "no lower"),
    ]
    report(
        "rivals_speed",
        rows,
        notes=[
            "default settings throughout; fits include all checks of the input; "
            f"river learns from the first {RIVER_ROWS:,} rows, converted to dictionaries beforehand"
        ],
    )


if __name__ == "__main__":
    run()
