"""The demonstration: a made-up fraud table, the ranker, a rival, and what to look at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators import MBAClassifierCV
from mbauc.metrics import roc_auc_interval
from mbauc.progress import progress

Array = NDArray[np.float64]

_COLUMNS, _INFORMATIVE, _POSITIVE = 40, 12, 0.02
_BLOCK = 20_000


def imbalanced_table(rows: int, seed: int, *, verbose: bool = False) -> tuple[Array, NDArray[np.int64]]:
    """Correlated columns of which a dozen are shifted in the 2% of positive rows, with heavy-tailed noise."""
    shape_rng = np.random.default_rng([seed, 0])
    mixing = shape_rng.standard_normal((_COLUMNS, _COLUMNS)) / np.sqrt(_COLUMNS) + np.eye(_COLUMNS)
    shift = np.zeros(_COLUMNS)
    shift[:_INFORMATIVE] = shape_rng.uniform(0.2, 0.6, _INFORMATIVE)
    X, y = np.empty((rows, _COLUMNS)), np.empty(rows, dtype=np.int64)
    with progress(rows, "making data", show=verbose, delay=0.0) as advance:
        for start in range(0, rows, _BLOCK):
            part = slice(start, min(start + _BLOCK, rows))
            rng = np.random.default_rng([seed, 1, start])
            y[part] = rng.random(part.stop - part.start) < _POSITIVE
            noise = rng.standard_t(8, size=(part.stop - part.start, _COLUMNS))
            X[part] = (noise + y[part, None] * shift) @ mixing
            advance(part.stop - part.start)
    return X, y


def run(rows: int, folder: Path, seed: int) -> Iterator[str]:
    """Fit, evaluate and plot; yields what to tell the user, line by line."""
    from sklearn.linear_model import LogisticRegression

    folder.mkdir(parents=True, exist_ok=True)
    test_rows = max(rows // 4, 1000)
    yield f"A table of {rows:,} rows to train on and {test_rows:,} to test on, {_COLUMNS} columns, 2% positive."
    X, y = imbalanced_table(rows + test_rows, seed, verbose=True)
    train, test = slice(0, rows), slice(rows, None)

    started = time.perf_counter()
    ranker = MBAClassifierCV(random_state=seed, verbose=True).fit(X[train], y[train])
    seconds = time.perf_counter() - started
    plus, minus = ranker.moments_.counts
    yield (
        f"MBAClassifierCV: {plus:,} × {minus:,} = {plus * minus:,} pairs, exactly, with "
        f"{ranker.n_splits_} folds × {len(ranker.cv_results_['params'])} values of l2: {seconds:.2f} s"
    )
    started = time.perf_counter()
    rival = LogisticRegression(max_iter=1000).fit(X[train], y[train])
    yield f"LogisticRegression, one value of C, no cross-validation: {time.perf_counter() - started:.2f} s"

    scored = {
        "MBAClassifierCV": ranker.decision_function(X[test]),
        "LogisticRegression": rival.decision_function(X[test]),
    }
    for name, s in scored.items():
        yield f"test AUC {roc_auc_interval(y[test], s)}  {name}"
    path = folder / "roc.png"
    try:
        from mbauc.plots import roc_plot, save_figure

        save_figure(roc_plot(y[test], scored, title=f"{test_rows:,} test rows, 2% positive"), path)
    except ImportError:
        yield "No plot: matplotlib is missing. Install it with: pip install 'mbauc[plots]'"
    else:
        yield f"ROC curves: {path}"
