"""scikit-learn's LogisticRegression as it comes."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class Lbfgs(Contender):
    title = "scikit-learn LogisticRegression, lbfgs"
    distribution = "scikit-learn"
    compared_at: ClassVar = {"max_iter": 50}
    ladder = tuple({"max_iter": count} for count in (1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200))

    def searched(self, rows):
        return [{"C": C} for C in (0.03, 0.1, 0.3, 1.0)]

    def fit(self, data, threads, **setting):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(**setting).fit(*data)


CONTENDER = Lbfgs()
