"""LIBLINEAR through its own Python package; the solvers that race are files of ``contenders``."""

import numpy as np

from benchmarks.click_fit.contender import Contender


class Liblinear(Contender):
    """One solver (``-s``) of LIBLINEAR. Its budget is ``-e``: it knows no other."""

    distribution = "liblinear-official"
    solver = 0
    costs = (0.03, 0.1, 0.3, 1.0)

    def searched(self, rows):
        return [{"c": cost} for cost in self.costs]

    def convert(self, X, y, folder):
        from liblinear.liblinear import problem

        return problem(y.astype(np.float64), X)

    def fit(self, data, threads, **setting):
        from liblinear.liblinearutil import parameter, train

        options = " ".join(f"-{name} {value}" for name, value in {"s": self.solver, **setting}.items())
        return train(data, parameter(f"{options} -q"))

    def scores(self, model, X):
        weights = np.ctypeslib.as_array(model.w, (model.nr_feature,))
        # the weights belong to whichever label it met first
        return (X @ weights) * (1 if model.get_labels()[0] == 1 else -1)
