"""This package. For a given l2 it ranks like a balanced RidgeClassifier with alpha = n · l2 / 2."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class Ours(Contender):
    title = "mbauc MBAClassifier"
    distribution = "mbauc"
    # what it compiles depends on the width
    warm_columns = None
    compared_at: ClassVar = {"tol": 1e-4}
    ladder = tuple({"tol": tol} for tol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6))

    def searched(self, rows):
        return [{"solver": "matrix-free", "l2": 2 * alpha / rows} for alpha in (300, 100, 30, 10)]

    def fit(self, data, threads, **setting):
        from mbauc import MBAClassifier

        return MBAClassifier(n_jobs=threads, **setting).fit(*data)


CONTENDER = Ours()
