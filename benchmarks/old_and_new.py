"""Times of an old checkout against those of this one: ``python -m benchmarks.old_and_new --old PATH [NAME …]``.

Each task runs in two processes, one for each checkout, that take turns, so that a slow spell of the machine
hits both. Ratios are of the best times, by the clock and of all processors; on a busy machine the second is the
steadier. Nothing is stored. Tasks use public names only; where one has moved, its new place is tried first.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.clicks import click_labels, click_rows
from benchmarks.timing import in_new_process, once

ROOT = Path(__file__).parent.parent
ROWS, COLUMNS, FEW = 200_000, 10_000, 50_000
ROUNDS, TARGET = 5, 1.1
#: A thing that takes less is done so often that it takes about this many seconds.
LEAST = 0.2


def public(name, *places):
    """A public name at the first of its places that has it."""
    for place in places:
        try:
            return getattr(import_module(place), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{name} is in none of {', '.join(places)}")


# -- data, made once for both ----------------------------------------------------------------------------------


def dense_rows(n=ROWS, d=100):
    from benchmarks.dense import table

    return table(n, d)


def sparse_rows(n=ROWS, width=COLUMNS):
    X = click_rows(n, width=width)
    return X, click_labels(X).astype(int)


def write_libsvm(path, n=ROWS, width=COLUMNS):
    X, y = sparse_rows(n, width)
    texts = [f"{column + 1}:1" for column in range(COLUMNS)]
    with open(path, "w") as stream:
        for k, label in enumerate(y.tolist()):
            entries = " ".join(texts[column] for column in X.indices[X.indptr[k] : X.indptr[k + 1]])
            stream.write(f"{2 * label - 1} {entries}\n")


def write_csv(path):
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(0)
    columns = {f"n{k}": np.round(rng.lognormal(size=ROWS), 3) for k in range(6)}
    columns |= {f"c{k}": np.char.add("v", rng.zipf(1.5, ROWS).astype("U6")) for k in range(12)}
    odds = np.log(columns["n0"]) + (columns["c0"] == "v1") + rng.logistic(size=ROWS)
    columns["click"] = (odds > 1.5).astype(int)
    pyarrow.csv.write_csv(pa.table(columns), path)


FILES = {
    "rows.libsvm": write_libsvm,
    "few.libsvm": lambda path: write_libsvm(path, FEW, width=500),
    "rows.csv": write_csv,
}


# -- tasks: each prepares what is not timed and returns what is ------------------------------------------------


def dense(folder):
    from mbauc import MBAClassifier

    X, y = dense_rows()
    return lambda: MBAClassifier().fit(X, y)


def dense_small(folder):
    from mbauc import MBAClassifier

    X, y = dense_rows(100, 5)
    return lambda: MBAClassifier().fit(X, y)


def sparse_gram(folder):
    from mbauc import PairMoments

    X, y = sparse_rows(FEW)
    return lambda: PairMoments.from_arrays(X, y)


def products(folder):
    from mbauc import MBAClassifier

    X, y = sparse_rows()
    return lambda: MBAClassifier(solver="matrix-free").fit(X, y)


def products_net(folder):
    from mbauc import MBAClassifier

    X, y = sparse_rows(FEW)
    return lambda: MBAClassifier(l1=0.01, l2=0.001, solver="matrix-free").fit(X, y)


def cross_validation(folder):
    from mbauc import MBAClassifierCV

    X, y = dense_rows()
    return lambda: MBAClassifierCV(random_state=0).fit(X, y)


def cross_validation_sparse(folder):
    from mbauc import MBAClassifierCV

    X, y = sparse_rows(FEW)
    grid = {"l2_grid": [0.01, 0.1], "cv": 3}
    return lambda: MBAClassifierCV(**grid, solver="matrix-free", random_state=0).fit(X, y)


def cross_validation_wide(folder):
    from mbauc import MBAClassifierCV

    X, y = sparse_rows(60_000, 1 << 20)
    return lambda: MBAClassifierCV(random_state=0).fit(X, y)


def cross_validation_named(folder):
    from mbauc import MBAClassifierCV

    X, y = sparse_rows(60_000, 1 << 20)
    # near the 20 values that are tried by default
    grid = 1.4e-3 * np.logspace(-6, 3, 20)
    return lambda: MBAClassifierCV(l2_grid=grid, random_state=0).fit(X, y)


def cross_validation_net(folder):
    from mbauc import MBAClassifierCV

    X, y = sparse_rows(60_000, 1 << 20)
    grid = {"l1_grid": [0.001, 0.003], "l2_grid": [0.01, 0.1]}
    return lambda: MBAClassifierCV(**grid, random_state=0).fit(X, y)


def sampled(folder):
    from mbauc import MBAClassifier

    X, y = sparse_rows(FEW)
    return lambda: MBAClassifier(pairs=20_000, random_state=0).fit(X, y)


def stream(folder):
    from mbauc import MBAClassifier

    X, y = dense_rows(FEW)

    def run():
        ranker = MBAClassifier(decay=0.9)
        for start in range(0, FEW, 5000):
            ranker.partial_fit(X[start : start + 5000], y[start : start + 5000], classes=[0, 1])

    return run


def libsvm(folder):
    return lambda: [None for _ in _libsvm_source(folder)]


def criteo(folder):
    from mbauc import MBAClassifier

    return lambda: MBAClassifier().fit_source(_libsvm_source(folder), memory="2GB")


def criteo_disk(folder):
    """Rows in a file, as where memory is short; the folder of a checkpoint is where they are always in one."""
    from mbauc import MBAClassifier

    def run():
        with tempfile.TemporaryDirectory() as place:
            MBAClassifier(solver="matrix-free").fit_source(_libsvm_source(folder), checkpoint=place)

    return run


def table(folder):
    from mbauc import MBAClassifier

    source = public("TableSource", "mbauc.readers", "mbauc.data")
    return lambda: MBAClassifier(l2=0.01, solver="matrix-free").fit_source(
        source(folder / "rows.csv", label="click", encode="hash", hash_dim=COLUMNS, scale=None)
    )


def table_scaled(folder):
    from mbauc import MBAClassifier

    source = public("TableSource", "mbauc.readers", "mbauc.data")
    return lambda: MBAClassifier(l2=0.01, solver="matrix-free").fit_source(
        source(folder / "rows.csv", label="click", encode="hash", hash_dim=COLUMNS, scale="standard")
    )


def command_line(folder):
    out = Path(tempfile.mkdtemp(dir=folder)) / "model.mbauc"
    options = ("--label", "click", "--hash-dim", 1000, "-o", out, "--force")
    return lambda: in_new_process(_command("fit", folder / "rows.csv", *options))


def command_line_cv(folder):
    out = Path(tempfile.mkdtemp(dir=folder)) / "model.mbauc"
    return lambda: in_new_process(_command("fit", folder / "few.libsvm", "--cv", 3, "-o", out, "--force"))


def scoring(folder):
    from mbauc.model import load_model, score_files

    place = Path(tempfile.mkdtemp(dir=folder))
    in_new_process(_command("fit", folder / "rows.csv", "--label", "click", "-o", place / "model.mbauc"))
    model = load_model(place / "model.mbauc")
    return lambda: score_files(model, folder / "rows.csv", place / "scores.csv")


def auc(folder):
    from mbauc.metrics import roc_auc, roc_auc_interval

    rng = np.random.default_rng(0)
    y, s = rng.random(500_000) < 0.1, rng.standard_normal(500_000)
    return lambda: (roc_auc(y, s), roc_auc_interval(y, s))


def cluster(folder):
    return _on_dask(*dense_rows(), "MBAClassifier", solver="gram")


def cluster_products(folder):
    return _on_dask(*dense_rows(FEW), "MBAClassifier", solver="matrix-free")


def cluster_cv(folder):
    return _on_dask(*dense_rows(FEW), "MBAClassifierCV", cv=3, random_state=0)


def startup(folder):
    data = "import numpy as np; X = np.random.default_rng(0).standard_normal((2000, 20)); y = X[:, 0] > 0.5;"
    return lambda: in_new_process(data + "from mbauc import MBAClassifier; MBAClassifier().fit(X, y)")


def startup_help(folder):
    return lambda: in_new_process(_command("--help"))


def _libsvm_source(folder):
    source = public("LibsvmSource", "mbauc.readers", "mbauc.data")
    return source(folder / "rows.libsvm", n_features=COLUMNS, zero_based=False, classes=(-1, 1))


def _on_dask(X, y, name, **settings):
    import dask
    import dask.array as da

    ranker = getattr(import_module("mbauc.dask"), name)
    parts = [da.from_array(one, chunks=(y.size // 8, *one.shape[1:])) for one in (X, y)]

    def run():
        with dask.config.set(scheduler="threads"):
            ranker(**settings).fit(*parts)

    return run


def _command(*arguments):
    """A program that runs ``mbauc`` with these arguments, wherever its main function is."""
    words = ["mbauc", *map(str, arguments)]
    return f"import runpy, sys; sys.argv = {words!r}; runpy.run_module('mbauc', run_name='__main__')"


TASKS = {
    task.__name__: task
    for task in (
        dense,
        dense_small,
        sparse_gram,
        products,
        products_net,
        cross_validation,
        cross_validation_sparse,
        cross_validation_wide,
        cross_validation_named,
        cross_validation_net,
        sampled,
        stream,
        libsvm,
        criteo,
        criteo_disk,
        table,
        table_scaled,
        command_line,
        command_line_cv,
        scoring,
        auc,
        cluster,
        cluster_products,
        cluster_cv,
        startup,
        startup_help,
    )
}


# -- two processes that take turns -----------------------------------------------------------------------------


class Worker:
    """A process that runs a task of one checkout each time it is asked to."""

    def __init__(self, checkout, name, folder):
        source = Path(checkout).resolve() / "src"
        if not (source / "mbauc").is_dir():
            sys.exit(f"{checkout} is no checkout: {source / 'mbauc'} does not exist.")
        # idle threads of BLAS sleep: the other process has its turn
        settings = {"PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]), "OPENBLAS_THREAD_TIMEOUT": "4"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.old_and_new", "--work", name, str(folder)],
            env=os.environ | settings,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if Path(self._line()).parent != source / "mbauc":
            raise RuntimeError(f"the package of {checkout} was not the one that was imported")
        self._line()

    def _line(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a task ended with {self._process.wait()}; its error is above")
        return line.strip()

    def seconds(self):
        """By the clock, and of all processors."""
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return tuple(map(float, self._line().split()))

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def work(name, folder):
    """What a worker does: says which package it has, warms up, and runs the task at each line of its input."""
    answers, sys.stdout = sys.stdout, sys.stderr
    import mbauc

    print(mbauc.__file__, file=answers, flush=True)
    task = TASKS[name](Path(folder))
    first = once(task)
    times = 1 if first > 10 * LEAST else max(1, round(LEAST / once(task)))
    print("ready", file=answers, flush=True)
    for _ in sys.stdin:
        before = processor_seconds()
        clock = once(lambda: [task() for _ in range(times)])
        print(clock / times, (processor_seconds() - before) / times, file=answers, flush=True)


def processor_seconds():
    """Of this process and of those it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def compared(name, old, new, folder, rounds):
    """Best times of a task, old and new, each by the clock and of all processors."""
    workers = [Worker(checkout, name, folder) for checkout in (old, new)]
    times = np.empty((2, rounds, 2))
    for turn in range(rounds):
        # who goes first changes, too
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            times[which, turn] = workers[which].seconds()
    for worker in workers:
        worker.close()
    return times.min(axis=1)


def run(old, new=ROOT, names=tuple(TASKS), rounds=ROUNDS):
    width = max(map(len, names))
    print(f"{'':{width}}  {'old':>10}  {'new':>10}  new / old, at most {TARGET}; of all processors")
    slower = []
    with tempfile.TemporaryDirectory() as scratch:
        for file, write in FILES.items():
            write(Path(scratch) / file)
        for name in names:
            before, now = compared(name, old, new, scratch, rounds)
            clock, processors = now / before
            slower += [name] if clock > TARGET else []
            mark = "  slower" if clock > TARGET else ""
            times = f"{1000 * before[0]:7.1f} ms  {1000 * now[0]:7.1f} ms"
            print(f"{name:{width}}  {times}  {clock:.2f}; {processors:.2f}{mark}", flush=True)
    return slower


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", required=True, help="checkout to compare with, a git worktree for instance")
    parser.add_argument("--new", default=ROOT, help="(default: this one)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TASKS)} (default: all)")
    options = parser.parse_args()
    unknown = set(options.names) - set(TASKS)
    if unknown:
        parser.error(f"no such task: {', '.join(sorted(unknown))}")
    return int(bool(run(options.old, options.new, options.names or tuple(TASKS), options.rounds)))


if __name__ == "__main__":
    sys.exit(main())
