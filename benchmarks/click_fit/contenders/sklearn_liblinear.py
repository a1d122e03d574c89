"""scikit-learn's LogisticRegression with its copy of LIBLINEAR; one thread is all that it uses."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class SklearnLiblinear(Contender):
    title = "scikit-learn LogisticRegression, liblinear"
    distribution = "scikit-learn"
    compared_at: ClassVar = {"max_iter": 8}
    ladder = tuple({"max_iter": count} for count in (1, 2, 3, 5, 8, 12, 20, 30, 50))

    def searched(self, rows):
        return [{"C": C} for C in (0.03, 0.1, 0.3, 1.0)]

    def fit(self, data, threads, **setting):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(solver="liblinear", **setting).fit(*data)


CONTENDER = SklearnLiblinear()
