"""Which steps the rivals should take if nobody says: test AUC on real data sets over a grid of each.

The grid is judged on test rows: what a step could reach at best. One number is chosen for all sets.
"""

import dataclasses
import warnings
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from sklearn.preprocessing import MaxAbsScaler

from benchmarks.datasets import load_all
from benchmarks.timing import report
from mbauc import MBAClassifier
from mbauc.errors import DivergedError
from mbauc.metrics import roc_auc
from mbauc.paper.rivals import (
    OAM,
    OPAUC,
    AdaOAM,
    FTRLProximal,
    MiniBatchPairwise,
    OnlineLogisticRegression,
    mini_batch_pairwise,
    online_logistic_regression,
    opauc,
)

#: Rows used of larger sets, and columns up to which O(d²) methods take part.
ROWS, COLUMNS = 20_000, 512
#: Sets whose columns differ in size also take part with columns divided by their largest value.
UNEVEN = ("german", "svmguide3", "mammography", "bank")


def logistic(step):
    return OnlineLogisticRegression(random_state=0), patch.object(online_logistic_regression, "AUTO_STEP", step)


def one_pass(step, learning_rate):
    model = OPAUC(random_state=0, learning_rate=learning_rate)
    return model, patch.object(opauc, "AUTO_STEP", 30 * step if learning_rate == "constant" else step)


def mini_batch(step, loss):
    return MiniBatchPairwise(loss, random_state=0), patch.dict(mini_batch_pairwise.AUTO_STEP, {loss: step})


def plain(model):
    return model, nullcontext()


#: Title, model and circumstances for a step, the grid of steps, and whether a row takes O(d²).
GRIDS = [
    ("OnlineLogisticRegression, auto", logistic, (4, 16, 64, 256), False),
    ("FTRLProximal alpha", lambda step: plain(FTRLProximal(step, random_state=0)), (0.03, 0.1, 0.3, 1), False),
    ("OAM sequential C", lambda step: plain(OAM(step, random_state=0)), (1e-5, 1e-4, 1e-3, 1e-2, 0.1), False),
    (
        "OAM gradient C",
        lambda step: plain(OAM(step, update="gradient", random_state=0)),
        (1e-5, 1e-4, 1e-3, 1e-2, 0.1),
        False,
    ),
    ("OPAUC, auto", lambda step: one_pass(step, "invscaling"), (1, 3, 10, 30), True),
    ("OPAUC constant, auto", lambda step: one_pass(step, "constant"), (0.03, 0.1, 0.3, 1), True),
    ("AdaOAM eta0", lambda step: plain(AdaOAM(step, random_state=0)), (0.01, 0.03, 0.1, 0.3, 1), True),
    ("MiniBatchPairwise squared, auto", lambda s: mini_batch(s, "squared"), (3, 10, 30, 100), False),
    ("MiniBatchPairwise hinge, auto", lambda s: mini_batch(s, "hinge"), (30, 100, 300, 1000), False),
    ("MiniBatchPairwise logistic, auto", lambda s: mini_batch(s, "logistic"), (30, 100, 300, 1000), False),
    ("MiniBatchPairwise exponential, auto", lambda s: mini_batch(s, "exponential"), (3, 10, 30, 100), False),
]
#: The set most like a click log.
CLICKS = "criteo-4096"
#: Defaults as they are shipped, for the table of test AUC.
SHIPPED = {
    "OLR": OnlineLogisticRegression,
    "FTRL": FTRLProximal,
    "OAM": OAM,
    "OPAUC": OPAUC,
    "AdaOAM": AdaOAM,
    "MB-PSL": MiniBatchPairwise,
    "MB-PHL": lambda **settings: MiniBatchPairwise("hinge", **settings),
}
WIDE = ("OPAUC", "AdaOAM")


def cases():
    for data in load_all():
        n = data.X.shape[0]
        if n > ROWS:
            some = np.random.default_rng(0).permutation(n)[:ROWS]
            data = dataclasses.replace(data, X=data.X[some], y=data.y[some])
        yield data
        if data.name in UNEVEN:
            scaler = MaxAbsScaler().fit(data.X)
            yield dataclasses.replace(
                data,
                name=f"{data.name}, scaled",
                X=scaler.transform(data.X),
                X_test=scaler.transform(data.X_test),
            )


def auc_on_test_rows(model, data):
    """In percent; a diverged fit counts as one that knows nothing."""
    try:
        model.fit(data.X, data.y)
    except DivergedError:
        return 50.0
    return 100 * roc_auc(data.y_test, model.decision_function(data.X_test))


def run():
    warnings.simplefilter("ignore")
    losses = {title: [] for title, *_ in GRIDS}
    quality = []
    for data in cases():
        wide = data.X.shape[1] > COLUMNS
        cells = [f"{auc_on_test_rows(MBAClassifier(), data):.2f}"]
        for name, kind in SHIPPED.items():
            if wide and name in WIDE:
                cells.append("–")
                continue
            passes = [auc_on_test_rows(kind(random_state=0, max_iter=k), data) for k in (1, 10)]
            cells.append(" / ".join(f"{value:.2f}" for value in passes))
        quality.append((data.name, " | ".join(cells), ""))
        print(quality[-1][0], quality[-1][1], flush=True)
        for title, make, grid, quadratic in GRIDS:
            if not (wide and quadratic):
                values = np.empty(len(grid))
                for k, step in enumerate(grid):
                    model, circumstances = make(step)
                    with circumstances:
                        values[k] = auc_on_test_rows(model, data)
                losses[title].append(values.max() - values)
                if data.name == CLICKS and title.startswith("FTRL"):
                    losses[f"{title}, {CLICKS}"] = [values.max() - values]
    report(
        "rivals_quality",
        [("test AUC, one pass / ten", " | ".join(["MBA", *SHIPPED]), ""), *quality],
        notes=[
            f"default settings; training sets of at most {ROWS:,} rows; MBA makes one pass; "
            f"OPAUC and AdaOAM up to {COLUMNS} columns"
        ],
    )
    rows = []
    for title, values in losses.items():
        grid = next(grid for name, _, grid, _ in GRIDS if title.startswith(name))
        cells = zip(grid, np.mean(values, axis=0), strict=True)
        rows.append((title, ", ".join(f"{step:g}: {loss:.2f}" for step, loss in cells), ""))
    report(
        "rivals_defaults",
        rows,
        notes=["points of test AUC lost against the best step of the grid, mean over the data sets; one pass"],
    )


if __name__ == "__main__":
    run()
