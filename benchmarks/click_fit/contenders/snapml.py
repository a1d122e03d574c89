"""Snap ML's LogisticRegression: parallel coordinate descent, dual as it recommends for many rows."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class SnapML(Contender):
    title = "Snap ML LogisticRegression"
    distribution = "snapml"
    compared_at: ClassVar = {"max_iter": 8, "tol": 0.0}
    ladder = tuple({"max_iter": count, "tol": 0.0} for count in (1, 2, 3, 4, 5, 6, 8, 12, 20, 30, 50, 100))

    def searched(self, rows):
        return [{"regularizer": 1 / C} for C in (0.03, 0.1, 0.3, 1.0)]

    def fit(self, data, threads, **setting):
        from snapml import LogisticRegression

        return LogisticRegression(n_jobs=threads, **setting).fit(*data)

    def scores(self, model, X):
        return X @ model.coef_.ravel()


CONTENDER = SnapML()
