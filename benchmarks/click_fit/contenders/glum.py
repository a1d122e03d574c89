"""glum's binomial regression: its Newton method by default, L-BFGS where the columns are many."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class Glum(Contender):
    title = "glum, binomial"
    distribution = "glum"
    # its Newton steps cost the columns cubed however few the rows
    warm_columns = 100
    compared_at: ClassVar = {"solver": "lbfgs", "max_iter": 30}
    ladder = tuple(
        {"solver": "lbfgs", "max_iter": count} for count in (1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200)
    )

    def searched(self, rows):
        return [{"alpha": 1 / (C * rows)} for C in (0.03, 0.1, 0.3, 1.0)]

    def fit(self, data, threads, **setting):
        from glum import GeneralizedLinearRegressor

        return GeneralizedLinearRegressor(family="binomial", **setting).fit(*data)

    def scores(self, model, X):
        return X @ model.coef_


CONTENDER = Glum()
