"""The demonstration: a made-up fraud table, the ranker, a rival, and what to look at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators import MBAClassifierCV
from mbauc.metrics import roc_auc_interval
from mbauc.runtime.progress import progress

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


def run(rows: int, folder: Path, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Fit, evaluate and plot; ``say`` is told how it goes, and what was measured comes back."""
    from sklearn.linear_model import LogisticRegression

    folder.mkdir(parents=True, exist_ok=True)
    test_rows = max(rows // 4, 1000)
    say(f"A table of {rows:,} rows to train on and {test_rows:,} to test on, {_COLUMNS} columns, 2% positive.")
    X, y = imbalanced_table(rows + test_rows, seed, verbose=True)
    train, test = slice(0, rows), slice(rows, None)

    seconds, scored = {}, {}
    started = time.perf_counter()
    ranker = MBAClassifierCV(random_state=seed, verbose=True).fit(X[train], y[train])
    seconds["MBAClassifierCV"] = time.perf_counter() - started
    plus, minus = ranker.moments_.counts
    say(
        f"MBAClassifierCV: {plus:,} × {minus:,} = {plus * minus:,} pairs, exactly, with "
        f"{ranker.n_splits_} folds × {len(ranker.cv_results_['params'])} values of l2: "
        f"{seconds['MBAClassifierCV']:.2f} s"
    )
    started = time.perf_counter()
    rival = LogisticRegression(max_iter=1000).fit(X[train], y[train])
    seconds["LogisticRegression"] = time.perf_counter() - started
    say(f"LogisticRegression, one value of C, no cross-validation: {seconds['LogisticRegression']:.2f} s")

    told = {}
    for name, fitted in (("MBAClassifierCV", ranker), ("LogisticRegression", rival)):
        scored[name] = fitted.decision_function(X[test])
        interval = roc_auc_interval(y[test], scored[name])
        say(f"test AUC {interval}  {name}")
        told[name] = {
            "seconds": round(seconds[name], 3),
            "auc": interval.auc,
            "low": interval.low,
            "high": interval.high,
        }
    result = {"rows": rows, "test_rows": test_rows, "pairs": plus * minus, "rankers": told, "plot": None}
    try:
        from mbauc.plots import RocBandDisplay, new_figure, save_figure

        path, ax = folder / "roc.png", new_figure().add_subplot()
        for name, s in scored.items():
            RocBandDisplay.from_predictions(y[test], s, name=name, delta=None, ax=ax)
        ax.set_title(f"{test_rows:,} test rows, 2% positive")
        save_figure(ax, path)
    except ImportError:
        say("No plot: matplotlib is missing. Install it with: pip install 'mbauc[plots]'")
        return result
    say(f"ROC curves: {path}")
    return result | {"plot": path}
