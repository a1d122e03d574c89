"""Vowpal Wabbit from its cache file, the quickest way into it; reading is part of its passes."""

import time
from typing import ClassVar

import numpy as np

from benchmarks.click_fit.contender import Contender


class VowpalWabbit(Contender):
    title = "Vowpal Wabbit, logistic"
    distribution = "vowpalwabbit"
    compared_at: ClassVar = {"passes": 3, "holdout_off": True}
    ladder = tuple({"passes": count, "holdout_off": True} for count in (1, 2, 3, 5, 8, 12, 20, 30))

    def searched(self, rows):
        # its l2 hardly matters here; how fast it learns does
        return [{"learning_rate": rate} for rate in (0.25, 0.5, 1.0, 2.0)]

    def convert(self, X, y, folder):
        text, cache = folder / "rows.vw", folder / "rows.cache"
        # one more bit than the columns need: its constant feature falls anywhere
        bits = max(18, int(X.shape[1]).bit_length())
        if not cache.exists():
            write_text(text, X, y)
            part = folder / "part.cache"
            part.unlink(missing_ok=True)
            workspace(f"-d {text} --cache_file {part} --noop -b {bits}").finish()
            part.rename(cache)
        return f"-d {text} --cache_file {cache} -b {bits}", X.shape[1]

    def fit(self, data, threads, **setting):
        options = [data[0], "--loss_function logistic"]
        options += [f"--{name}" if value is True else f"--{name} {value}" for name, value in setting.items()]
        return workspace(" ".join(options)), data[1]

    def scores(self, model, X):
        learner, columns = model
        weights = np.array([learner.get_weight(column) for column in range(columns)])
        learner.finish()
        return X @ weights

    def remarks(self, data, threads):
        started = time.perf_counter()
        workspace(f"{data[0]} --noop").finish()
        return {"one pass of reading alone": time.perf_counter() - started}


def workspace(options):
    from vowpalwabbit import Workspace

    return Workspace(arg_list=[*options.split(), "--quiet"])


def write_text(path, X, y):
    """Rows as lines of text; numbers as names keep their columns in the namespace without a name."""
    names = np.array([str(column) for column in range(X.shape[1])], dtype=object)
    ones = (X.data == 1).all()
    with open(path, "w", encoding="ascii") as stream:
        for row, positive in enumerate(y):
            own = slice(X.indptr[row], X.indptr[row + 1])
            columns = names[X.indices[own]]
            if not ones:
                columns = [f"{name}:{value:.9g}" for name, value in zip(columns, X.data[own], strict=True)]
            stream.write(f"{'1' if positive else '-1'} | {' '.join(columns)}\n")


CONTENDER = VowpalWabbit()
