"""Writes the files that later versions must read or refuse: ``python tests/guards/make_files.py FOLDER``.

Those in ``files/`` were written before 0.1.0 was released. Only public names and the command line are used.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from fits import Blocks, sparse

from mbauc import MBAClassifier, PairMoments, sample_pairs
from mbauc.model import load_model, score_files

GRAM = {"l1": 0.02, "l2": 0.01, "solver": "gram", "tol": 1e-12, "n_jobs": 1}
MATRIX_FREE = {"l2": 0.001, "solver": "matrix-free", "tol": 1e-14, "max_iter": 20_000, "n_jobs": 1}
SETTINGS = {"gram": GRAM, "matrix-free": MATRIX_FREE}


def rows_of(kind):
    """The rows of a checkpoint."""
    return sparse(n=800, d=40 if kind == "gram" else 160, seed=11)


def table_text(n=240):
    """CSV with a number that may be missing, a category, a time and an id."""
    rng = np.random.default_rng(4)
    site, bid = rng.choice(list("abcd"), n), rng.integers(-300, 301, n) / 100
    click = bid + 2 * (site == "b") + rng.integers(-300, 301, n) / 100 > 1.5
    lines = ["view,click,hour,site,bid"]
    lines += [
        f"v{k:03d},{int(click[k])},141021{k % 24:02d},{site[k]},{'' if k % 17 == 3 else bid[k]}"
        for k in range(n)
    ]
    return "\n".join(lines) + "\n"


def libsvm_text(n=240):
    X, y = sparse(n, d=32, seed=5)
    rows = np.stack([X.indices + 1, X.data], axis=1).reshape(n, 8, 2)
    return "".join(
        f"{label} " + " ".join(f"{column:g}:{value:g}" for column, value in row) + "\n"
        for label, row in zip(y, rows, strict=True)
    )


def mbauc(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "mbauc", *arguments], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)


def make_models(folder):
    (folder / "rows.csv").write_text(table_text())
    (folder / "rows.libsvm").write_text(libsvm_text())
    table = ("fit", "rows.csv", "--label", "click", "--id", "view", "--jobs", "1")
    libsvm = ("fit", "rows.libsvm", "--jobs", "1", "--hold-out", "0")
    mbauc(folder, *table, "--encode", "onehot", "-o", "table.mbauc")
    mbauc(folder, *table, "--encode", "hash", "--hash-dim", "64", "--no-moments", "-o", "table-bare.mbauc")
    mbauc(folder, "threshold", "table.mbauc", "--at=-0.125", "-o", "table-armed.mbauc")
    mbauc(folder, *libsvm, "--l2", "0.5", "-o", "libsvm.mbauc")
    mbauc(folder, *libsvm, "--solver", "matrix-free", "-o", "libsvm-bare.mbauc")


def make_moments(folder):
    X, y = sparse(n=200, d=16, seed=6)
    PairMoments.from_arrays(X, y, np.arange(1, 201) / 64).save(folder / "exact.moments.npz")
    sample_pairs(X, y, 100, random_state=0).save(folder / "sampled.moments.npz")


def interrupted_gram(folder):
    """A fit that is stopped in the middle of its rows."""
    try:
        source = Blocks(*rows_of("gram"), step=100, interrupt_at=5)
        MBAClassifier(**GRAM).fit_source(source, checkpoint=folder)
    except KeyboardInterrupt as stop:
        print(stop)


def interrupted_matrix_free(folder, most=500):
    """A fit that is stopped in its solver, after all rows went into the cache."""

    def fit():
        MBAClassifier(**MATRIX_FREE).fit_source(Blocks(*rows_of("matrix-free"), step=100), checkpoint=folder)

    fit()  # loads all that a child needs
    for trial in range(most):
        shutil.rmtree(folder, ignore_errors=True)
        child = os.fork()
        if not child:
            with suppress(KeyboardInterrupt):
                fit()
            os._exit(0)
        while not (folder / "rows.cache").exists():
            time.sleep(1e-4)
        time.sleep(2e-4 * (trial % 50))
        os.kill(child, signal.SIGINT)
        os.waitpid(child, 0)
        if (folder / "solver.state").exists():
            return
    raise RuntimeError("the solver was never stopped in its middle")


def read_model(path):
    """What a model says, and its scores of raw rows."""
    model = load_model(path)
    data = path.parent / ("rows.csv" if path.name.startswith("table") else "rows.libsvm")
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "scores.csv"
        score_files(model, data, out)
        head, *lines = (line.split(",") for line in out.read_text().replace('"', "").splitlines())
    return {
        "coef": np.ravel(model.coef),
        "intercept": model.intercept,
        "threshold": np.nan if model.threshold is None else model.threshold.value,
        "has_moments": model.moments is not None,
        "scores": [float(line[head.index("score")]) for line in lines],
    }


def read_moments(path):
    """What moments say."""
    moments = PairMoments.load(path)
    return {"mu": moments.mean_difference, "sigma": moments.second_moment, "counts": moments.counts}


def resume(path, *, others=False):
    """The weights of a fit that goes on from a checkpoint; with ``others``, on other rows."""
    kind = path.name.removesuffix(".checkpoint")
    X, y = rows_of(kind)
    if others:
        y[:2] = 1 - y[:2]
    ranker = MBAClassifier(**SETTINGS[kind]).fit_source(Blocks(X, y, step=100), checkpoint=path)
    return {"coef": ranker.coef_}


READERS = {".mbauc": read_model, ".npz": read_moments, ".checkpoint": resume}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    make_models(folder)
    make_moments(folder)
    interrupted_gram(folder / "gram.checkpoint")
    interrupted_matrix_free(folder / "matrix-free.checkpoint")
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        # a fit that goes on changes its folder
        copy = Path(scratch) / "files"
        shutil.copytree(folder, copy)
        for path in sorted(copy.iterdir()):
            if path.suffix in READERS:
                said = READERS[path.suffix](path)
                found |= {f"{path.name}/{name}": value for name, value in said.items()}
    np.savez_compressed(folder / "results", **found)
    (folder / "results.npz").rename(folder / "results")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
