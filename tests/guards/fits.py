"""Fits whose weights are frozen: every way to fit, solver and penalty, on data without rounding.

``python tests/guards/fits.py`` lists the fits that differ from what is stored, with the size of the difference;
``--write`` stores them.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.model import load_model

HERE = Path(__file__).parent
VALUES, RECORD = HERE / "fits.npz", HERE / "fits.json"
#: On other machines: largest difference from the stored weights, in units of the largest weight.
TOLERANCE = 1e-10
SOLVERS = ("gram", "matrix-free")
PENALTIES = {"ridge": {"l2": "auto"}, "net": {"l1": 0.02, "l2": 0.01}}
#: So tight that a machine that rounds otherwise ends at the same weights.
TIGHT = {"tol": 1e-14, "max_iter": 20_000}
#: Where parts end: one part, three, and seven of which one is empty and one has a single row.
CUTS = {"1": (), "3": (900, 2500), "7": (1, 700, 700, 1500, 2200, 3999)}
N, STEP = 4000, 500


def dense(n=N, d=12, seed=0):
    """Rows of multiples of 1/64 off zero, a fifth of them positive; no sum of a row's entries is rounded."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-200, 201, (n, d)) / 64 + np.arange(d) / 4
    noise = rng.integers(-400, 401, n) / 64
    return X, (X[:, 0] - X[:, 1] + X[:, 2] / 2 + noise > 5.5).astype(int)


def sparse(n=N, d=300, seed=1):
    """Rows of 8 entries, of which those in the first columns say something."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, d // 8, (n, 8)) + d // 8 * np.arange(8), axis=1)
    values = rng.integers(1, 9, (n, 8)) / 4
    X = sp.csr_array((values.ravel(), columns.ravel(), np.arange(n + 1) * 8), shape=(n, d))
    good = (columns[:, 0] % 3 == 0).astype(int) + (columns[:, 1] % 4 == 0) * values[:, 1]
    return X, (good + rng.integers(0, 9, n) / 4 > 2.6).astype(int)


def weight(n=N):
    return np.random.default_rng(2).integers(1, 17, n) / 8


class Blocks:
    """Rows in memory as a source of plain tuples; it may press Ctrl-C when a block is asked for."""

    classes = (0, 1)

    def __init__(self, X, y, step=STEP, interrupt_at=None):
        self.X, self.y, self.step, self.interrupt_at = X, y, step, interrupt_at
        self.n_features = X.shape[1]

    def __iter__(self):
        for number, start in enumerate(range(0, self.y.size, self.step)):
            if number == self.interrupt_at:
                os.kill(os.getpid(), signal.SIGINT)
            part = slice(start, start + self.step)
            yield self.X[part], self.y[part]


def resumed(settings, X, y):
    """A fit that is interrupted in the middle of its rows, and the same call again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "state"
        try:
            MBAClassifier(**settings).fit_source(Blocks(X, y, interrupt_at=5), checkpoint=place)
        except KeyboardInterrupt as stop:
            if not str(stop).startswith("interrupted; the same call"):
                raise RuntimeError(f"nothing was saved before the interruption: {stop}") from stop
        else:
            raise RuntimeError("the fit was not interrupted")
        return MBAClassifier(**settings).fit_source(Blocks(X, y), checkpoint=place)


def parts(settings, X, y, cuts, kind="Ranker", **known):
    # the engine of the tests; here and nowhere else it is asked for by its place
    import local_parts

    blocks = 2 if len(cuts) == 2 else 1
    ranker = getattr(local_parts, kind)(**settings)
    return ranker.fit_parts(local_parts.cut(cuts, X, y, blocks=blocks, **known), X, weighted="weight" in known)


def stream(settings, X, y):
    ranker = MBAClassifier(**settings)
    for part, labels in Blocks(X, y):
        ranker.partial_fit(part, labels, classes=[0, 1])
    return ranker


def added_up(settings, X, y, n_jobs):
    first, second = (PairMoments.from_arrays(X[k::2], y[k::2], n_jobs=n_jobs) for k in (0, 1))
    return MBAClassifier(**settings).fit_moments(first + second)


def command_line(options, X, y):
    """A fit of a file by ``mbauc fit``."""
    with tempfile.TemporaryDirectory() as folder:
        entries = [f"{column + 1}:{value}" for column, value in zip(X.indices, X.data.tolist(), strict=True)]
        lines = (
            " ".join([str(label), *entries[start:stop]])
            for label, (start, stop) in zip(y, pairwise(X.indptr), strict=True)
        )
        (Path(folder) / "rows.libsvm").write_text("\n".join(lines) + "\n")
        command = [sys.executable, "-m", "mbauc", "fit", "rows.libsvm", "-o", "model.mbauc", "--jobs", "1"]
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([*command, *options], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return load_model(Path(folder) / "model.mbauc")


def _cases():
    """Names of the fits, each with what makes it."""
    X, y = dense()
    S, t = sparse()
    w = weight()
    found = {}
    for (name, penalty), solver, n_jobs in product(PENALTIES.items(), SOLVERS, (1, 2)):
        settings = {**penalty, **TIGHT, "solver": solver, "n_jobs": n_jobs}
        ways = {
            "dense": lambda s=settings: MBAClassifier(**s).fit(X, y),
            "sparse": lambda s=settings: MBAClassifier(**s).fit(S, t),
            "weighted": lambda s=settings: MBAClassifier(**s).fit(X, y, w),
            "weighted-sparse": lambda s=settings: MBAClassifier(**s).fit(S, t, w),
            "source": lambda s=settings: MBAClassifier(**s).fit(Blocks(X, y)),
            "sparse-source": lambda s=settings: MBAClassifier(**s).fit_source(Blocks(S, t)),
            "resumed": lambda s=settings: resumed(s, X, y),
            "sparse-resumed": lambda s=settings: resumed(s, S, t),
            **{f"parts-{k}": lambda s=settings, c=cuts: parts(s, X, y, c) for k, cuts in CUTS.items()},
            "sparse-parts-3": lambda s=settings: parts(s, S, t, CUTS["3"]),
            "weighted-parts-3": lambda s=settings: parts(s, X, y, CUTS["3"], weight=w),
        }
        found |= {f"{way}-{solver}-{name}-{n_jobs}": make for way, make in ways.items()}
    for n_jobs in (1, 2):
        found |= {f"{name}-{n_jobs}": make for name, make in _others(X, y, S, t, w, n_jobs).items()}
    return found


def _others(X, y, S, t, w, n_jobs):
    """What is not in the table of ways, solvers and penalties."""
    plain = {**TIGHT, "n_jobs": n_jobs}
    wide, labels = dense(n=300, d=1100, seed=3)
    found = {
        "wide-gram": lambda: MBAClassifier(l2=0.5, solver="gram", **plain).fit(wide, labels),
        "scaled-factors": lambda: MBAClassifier(scale=True, penalty_factors=[0, *[1, 2] * 5, 3], **plain).fit(
            X, y
        ),
        "default": lambda: MBAClassifier(n_jobs=n_jobs).fit(X, y),
        "default-matrix-free": lambda: MBAClassifier(solver="matrix-free", n_jobs=n_jobs).fit(S, t),
        "default-net-matrix-free": lambda: MBAClassifier(0.01, solver="matrix-free", n_jobs=n_jobs).fit(S, t),
        "frequency": lambda: MBAClassifier(weights="frequency", **plain).fit(X, y, np.ceil(w)),
        "enough": lambda: MBAClassifier(pairs="enough", random_state=0, **plain).fit(X, y),
        "stream": lambda: stream(plain, X, y),
        "stream-decay": lambda: stream(plain | {"decay": 0.7}, X, y),
        "stream-decay-sparse": lambda: stream(plain | {"decay": 0.7, "l1": 0.02, "l2": 0.01}, S, t),
        "stream-within-block": lambda: stream(plain | {"within_block": True}, X, y),
        "moments": lambda: added_up(plain, X, y, n_jobs),
        "moments-sparse": lambda: added_up(plain | {"l1": 0.02, "l2": 0.01}, S, t, n_jobs),
    }
    for pairing in ("matched", "complete"):
        drawn = {**plain, "pairs": 3000, "pairing": pairing, "random_state": 7}
        found[f"pairs-{pairing}-source"] = lambda s=drawn: MBAClassifier(**s).fit(Blocks(X, y))
        found[f"pairs-{pairing}-sparse-source"] = lambda s=drawn: MBAClassifier(**s).fit(Blocks(S, t))
        for solver in SOLVERS:
            one = drawn | {"solver": solver}
            found[f"pairs-{pairing}-dense-{solver}"] = lambda s=one: MBAClassifier(**s).fit(X, y)
            found[f"pairs-{pairing}-sparse-{solver}"] = lambda s=one: MBAClassifier(**s).fit(S, t)
            found[f"pairs-{pairing}-parts-{solver}"] = lambda s=one: parts(s, X, y, CUTS["7"])
    for solver in SOLVERS:
        chosen = {**plain, "solver": solver, "cv": 3, "random_state": 5, "l2_grid": np.logspace(-4, 1, 6)}
        found |= {
            f"cv-dense-{solver}": lambda s=chosen: MBAClassifierCV(**s).fit(X, y),
            f"cv-weighted-{solver}": lambda s=chosen: MBAClassifierCV(**s).fit(X, y, w),
            f"cv-sparse-{solver}": lambda s=chosen: MBAClassifierCV(**s).fit(S, t),
            f"cv-parts-{solver}": lambda s=chosen: parts(s, X, y, CUTS["3"], "RankerCV"),
        }
    net = {**plain, "cv": 3, "random_state": 5, "l1_grid": 3, "l2_grid": [0.01, 0.1], "solver": "gram"}
    found["cv-net"] = lambda: MBAClassifierCV(**net).fit(X, y)
    if n_jobs == 1:
        found["cv-file"] = lambda: command_line(["--cv", "3", "--hold-out", "0"], S, t)
        found["file"] = lambda: command_line(["--hold-out", "0"], S, t)
    return found


CASES = _cases()


def fitted(name):
    """Weights, then intercept, slope, l1 and l2 of a fit."""
    with threadpool_limits(int(name[-1]), user_api="blas"):
        ranker = CASES[name]()
    ends = "" if hasattr(ranker, "coef") else "_"
    rest = (getattr(ranker, f"{one}{ends}") for one in ("intercept", "slope", "l1", "l2"))
    return np.concatenate([np.ravel(getattr(ranker, f"coef{ends}")), *map(np.ravel, rest)])


def machine():
    """What last bits depend on, besides the package."""
    import llvmlite.binding

    blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return {
        "blas": sorted(f"{one['architecture']} {one['version']}" for one in blas),
        "cpu": llvmlite.binding.get_host_cpu_name(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
    }


def difference(found, stored):
    """The largest difference of weights and of the other numbers, each in units of the largest of its kind."""
    if found.shape != stored.shape:
        return np.inf
    apart = [
        np.abs(found[k] - stored[k]).max() / max(np.abs(stored[k]).max(), np.finfo(float).tiny)
        for k in (slice(None, -4), slice(-4, -2), slice(-2, None))
    ]
    return float(max(apart))


def main(write):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stored = dict(np.load(VALUES)) if VALUES.exists() else {}
    for name in sorted(stored.keys() - CASES.keys()):
        print(f"{name}: no longer made")
        del stored[name]
    for name in CASES:
        found = fitted(name)
        if name not in stored:
            print(f"{name}: new")
        elif found.tobytes() != stored[name].tobytes():
            print(f"{name}: differs by {difference(found, stored[name]):.1e}")
        else:
            continue
        stored[name] = found
    print(f"{len(CASES)} fits")
    if write:
        np.savez_compressed(VALUES, **stored)
        digests = {name: hashlib.sha256(stored[name][:-4].tobytes()).hexdigest() for name in sorted(stored)}
        RECORD.write_text(json.dumps({"machine": machine(), "sha256 of coef_": digests}, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    main("--write" in sys.argv[1:])
