"""LightGBM: trees, not a linear ranker, and so not in the race for the best linear AUC."""

import numpy as np

from benchmarks.click_fit.contender import Contender


class LightGBM(Contender):
    title = "LightGBM (not linear)"
    distribution = "lightgbm"
    linear = False
    limit = 180

    def convert(self, X, y, folder):
        return X.astype(np.float32), y

    def fit(self, data, threads, **setting):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=threads, verbose=-1, **setting).fit(*data)

    def scores(self, model, X):
        return model.predict_proba(X.astype(np.float32))[:, 1]


CONTENDER = LightGBM()
