"""``mbauc demo``: the main job on data made up on the spot, with a rival and a plot."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import seed, whole
from mbauc.cli.options import add_command
from mbauc.cli.output import Output

#: Columns of the table.
_COLUMNS = 40
#: Columns whose means differ between the classes.
_INFORMATIVE = 12
#: Share of positive rows.
_POSITIVE = 0.02
#: Rows that are made at a time.
_BLOCK = 20_000


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        "fit and evaluate a ranker on data made up on the spot",
        "Makes an imbalanced table (2% positives, 40 columns) block by block, chooses the penalty by "
        "cross-validation in one pass, and evaluates on rows held back: AUC with a confidence interval, next "
        "to logistic regression, and a plot of both ROC curves.",
        "example:\n  mbauc demo --rows 1000000 --out /tmp/demo",
    )
    parser.add_argument(
        "--rows",
        type=_count,
        default=400_000,
        metavar="N",
        help="rows to train on, at least 1000 (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-demo"),
        metavar="DIR",
        help="folder for the plot (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the data (default: %(default)s)")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    value = whole(text)
    if value < 1000:
        raise argparse.ArgumentTypeError(f"expected at least 1000 rows, got {value}")
    return value


def run(options: argparse.Namespace) -> int:
    """Fit, evaluate and plot, and say how it goes line by line."""
    from sklearn.linear_model import LogisticRegression

    from mbauc.estimators import MBAClassifierCV
    from mbauc.metrics import roc_auc_interval

    output, rows = Output(options.json), options.rows
    options.out.mkdir(parents=True, exist_ok=True)
    test_rows = max(rows // 4, 1000)
    output.say(
        f"A table of {rows:,} rows to train on and {test_rows:,} to test on, {_COLUMNS} columns, 2% positive."
    )
    X, y = _make_table(rows + test_rows, options.seed, verbose=not options.json)
    train, test = slice(0, rows), slice(rows, None)

    seconds, scored = {}, {}
    started = time.perf_counter()
    ranker = MBAClassifierCV(random_state=options.seed, verbose=not options.json).fit(X[train], y[train])
    seconds["MBAClassifierCV"] = time.perf_counter() - started
    plus, minus = ranker.moments_.counts
    output.say(
        f"MBAClassifierCV: {plus:,} × {minus:,} = {plus * minus:,} pairs, exactly, with "
        f"{ranker.n_splits_} folds × {len(ranker.cv_results_['params'])} values of l2: "
        f"{seconds['MBAClassifierCV']:.2f} s"
    )
    started = time.perf_counter()
    rival = LogisticRegression(max_iter=1000).fit(X[train], y[train])
    seconds["LogisticRegression"] = time.perf_counter() - started
    output.say(
        f"LogisticRegression, one value of C, no cross-validation: {seconds['LogisticRegression']:.2f} s"
    )

    rankers = {}
    for name, fitted in (("MBAClassifierCV", ranker), ("LogisticRegression", rival)):
        scored[name] = fitted.decision_function(X[test])
        interval = roc_auc_interval(y[test], scored[name])
        output.say(f"test AUC {interval}  {name}")
        rankers[name] = {
            "seconds": round(seconds[name], 3),
            "auc": interval.auc,
            "low": interval.low,
            "high": interval.high,
        }
    plot = _plot(y[test], scored, options.out / "roc.png")
    output.say(
        f"ROC curves: {plot}"
        if plot is not None
        else "No plot: matplotlib is missing. Install it with: pip install 'mbauc[plots]'"
    )
    return output.finish(
        {"rows": rows, "test_rows": test_rows, "pairs": plus * minus, "rankers": rankers, "plot": plot}
    )


def _make_table(n_rows: int, seed: int, *, verbose: bool) -> tuple[Any, Any]:
    """Correlated columns of which a dozen are shifted in the 2% of positive rows, with heavy-tailed noise."""
    import numpy as np

    from mbauc.runtime.progress import progress

    shape_rng = np.random.default_rng([seed, 0])
    mixing = shape_rng.standard_normal((_COLUMNS, _COLUMNS)) / np.sqrt(_COLUMNS) + np.eye(_COLUMNS)
    shift = np.zeros(_COLUMNS)
    shift[:_INFORMATIVE] = shape_rng.uniform(0.2, 0.6, _INFORMATIVE)
    X, y = np.empty((n_rows, _COLUMNS)), np.empty(n_rows, dtype=np.int64)
    with progress(n_rows, "making data", show=verbose, delay=0.0) as advance:
        for start in range(0, n_rows, _BLOCK):
            part = slice(start, min(start + _BLOCK, n_rows))
            rng = np.random.default_rng([seed, 1, start])
            y[part] = rng.random(part.stop - part.start) < _POSITIVE
            noise = rng.standard_t(8, size=(part.stop - part.start, _COLUMNS))
            X[part] = (noise + y[part, None] * shift) @ mixing
            advance(part.stop - part.start)
    return X, y


def _plot(y: Any, scored: dict[str, Any], path: Path) -> Path | None:
    """Draw ROC curves into a file; None without matplotlib."""
    try:
        from mbauc.plots import RocBandDisplay, new_figure, save_figure

        ax = new_figure().add_subplot()
        for name, s in scored.items():
            RocBandDisplay.from_predictions(y, s, name=name, delta=None, ax=ax)
        ax.set_title(f"{y.size:,} test rows, 2% positive")
        save_figure(ax, path)
    except ImportError:
        return None
    return path
