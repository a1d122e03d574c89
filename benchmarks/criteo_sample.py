"""60,000 rows of Criteo's log, 2^20 columns: our best against every rival's best, tuned alike.

Settings are chosen on the second part after training on the first, eight for everybody; the chosen one is
fitted to both and ranks the third. Columns that no training row has are left out for everybody: no linear
ranker with a penalty uses them, and some packages' time grows with the width alone.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse as sp

from benchmarks.click_fit.contender import OURS, all_contenders, installed_version
from benchmarks.datasets import folder
from benchmarks.timing import report
from mbauc.metrics import compare_roc_auc, roc_auc, roc_auc_interval
from mbauc.readers import read_libsvm
from mbauc.runtime.threads import thread_count

COLUMNS = 1 << 20
#: Penalties as C of logistic regression for n rows; the same eight strengths in each rival's own terms.
STRENGTHS = np.geomspace(0.003, 10, 8)


def settings(name, rows):
    """Eight settings, at budgets that let each finish."""
    as_C = [float(C) for C in STRENGTHS]
    # against the sum of losses, like C, so that a setting means the same for more rows
    alphas = [float(alpha) for alpha in np.geomspace(20, 2000, 8)]
    if name == OURS:
        return [{"l2": 2 * alpha / rows, "tol": 1e-6} for alpha in alphas]
    if name == "sklearn_ridge":
        return [{"alpha": alpha} for alpha in alphas]
    if name == "sklearn_lbfgs":
        return [{"C": C, "max_iter": 300} for C in as_C]
    if name == "sklearn_liblinear":
        return [{"C": C} for C in as_C]
    if name == "sklearn_sgd":
        return [{"alpha": 1 / (C * rows), "max_iter": 50} for C in as_C]
    if name.startswith("liblinear"):
        return [{"c": C} for C in as_C]
    if name == "snapml":
        return [{"regularizer": 1 / C, "max_iter": 100} for C in as_C]
    if name == "glum":
        return [{"alpha": 1 / (C * rows), "solver": "lbfgs", "max_iter": 50} for C in as_C]
    if name == "vowpal_wabbit":
        return [
            {"passes": passes, "holdout_off": True, "learning_rate": rate}
            for passes in (1, 3)
            for rate in (0.05, 0.1, 0.25, 0.5)
        ]
    return [
        {"n_estimators": trees, "num_leaves": leaves, "learning_rate": rate}
        for trees, rate in ((100, 0.1), (300, 0.05))
        for leaves in (15, 31, 63, 127)
    ]


def run(leave_out=()):
    """Measure all but those left out, which the table says."""
    data = folder()
    if data is None:
        raise SystemExit(
            "no data: set MBAUC_DATA to a folder with criteo60k.part1 to part3 (docs/user_guide/data.md)"
        )
    parts = [_rows([data / f"criteo60k.part{k}.bz2"]) for k in (1, 2, 3)]
    both = _rows([data / f"criteo60k.part{k}.bz2" for k in (1, 2)])
    seen = np.unique(both[0].indices)
    parts, both = [(X[:, seen], y) for X, y in parts], (both[0][:, seen], both[1])
    X_test, y_test = parts[2]
    threads = thread_count(None)
    found, missing = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for name, contender in all_contenders().items():
            version = installed_version(contender)
            if version is None:
                missing.append(f"{contender.title}: {contender.distribution} is not installed here")
                continue
            if name in leave_out:
                missing.append(f"{contender.title}: left out, it takes too long here")
                continue
            first = contender.convert(*parts[0], _new(scratch, name, "first"))
            tried = []
            for setting in settings(name, parts[0][1].size):
                model = contender.fit(first, threads, **setting)
                tried.append(roc_auc(parts[1][1], contender.scores(model, parts[1][0])))
            best = int(np.argmax(tried))
            rows = contender.convert(*both, _new(scratch, name, "both"))
            setting = settings(name, both[1].size)[best]
            started = time.perf_counter()
            model = contender.fit(rows, threads, **setting)
            seconds = time.perf_counter() - started
            scores = contender.scores(model, X_test)
            edge = ", at an end of its grid" if best in (0, len(tried) - 1) else ""
            found[name] = (contender, version, setting, seconds, scores, edge)
            print(f"  {contender.title}: {roc_auc(y_test, scores):.5f}, {seconds:.2f} s, {setting}", flush=True)
            if name == OURS:
                started = time.perf_counter()
                model = contender.fit(rows, threads)
                seconds = time.perf_counter() - started
                found["untuned"] = (contender, version, {}, seconds, contender.scores(model, X_test), "")
    ours, ours_seconds = found[OURS][4], found[OURS][3]
    head = "chosen setting | test AUC (95% interval) | ours - theirs (95% interval), p | seconds | / ours"
    rows = [("contender", head, "")]
    ranked = sorted(found.items(), key=lambda item: -roc_auc(y_test, item[1][4]))
    for name, (contender, version, setting, seconds, scores, edge) in ranked:
        interval = roc_auc_interval(y_test, scores)
        if name == OURS:
            against = ""
        else:
            test = compare_roc_auc(y_test, [ours, scores])
            apart, low, high = (100 * value[0, 1] for value in (test.difference, test.low, test.high))
            against = f"{apart:+.2f} ({low:+.2f} to {high:+.2f}), {test.p_value[0, 1]:.2g}"
        terms = ", ".join(
            f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in setting.items()
        )
        terms = terms or "nothing set, nothing tuned"
        rows.append(
            (
                f"{contender.title}, {version}",
                f"{terms}{edge} | {100 * interval.auc:.2f} ({100 * interval.low:.2f} to "
                f"{100 * interval.high:.2f}) | {against} | {seconds:.2f} | {seconds / ours_seconds:.1f}",
                "",
            )
        )
    report(
        "criteo_sample",
        rows,
        notes=[
            "40,000 training and 20,000 test rows, consecutive; AUC in points; DeLong's intervals and paired "
            "tests; eight settings each, chosen on part 2 after training on part 1; the "
            f"{seen.size:,} of {COLUMNS:,} columns that training rows have",
            *missing,
        ],
    )


def _rows(paths):
    X, y = read_libsvm(paths, n_features=COLUMNS)
    return sp.csr_matrix(X), y  # not all packages take arrays


def _new(scratch, *names):
    path = Path(scratch, *names)
    path.mkdir(parents=True)
    return path


if __name__ == "__main__":
    run(sys.argv[1:])
