"""scikit-learn's RidgeClassifier, balanced: the same ranking as ours for alpha = n · l2 / 2."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class Ridge(Contender):
    title = "scikit-learn RidgeClassifier, balanced"
    distribution = "scikit-learn"
    compared_at: ClassVar = {"tol": 1e-3}
    ladder = tuple({"tol": tol} for tol in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6))

    def searched(self, rows):
        return [{"alpha": float(alpha)} for alpha in (300, 100, 30, 10)]

    def fit(self, data, threads, **setting):
        from sklearn.linear_model import RidgeClassifier

        return RidgeClassifier(class_weight="balanced", **setting).fit(*data)


CONTENDER = Ridge()
