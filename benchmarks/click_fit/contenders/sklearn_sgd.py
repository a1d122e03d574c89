"""scikit-learn's SGDClassifier with the logistic loss; one thread is all that it uses for two classes."""

from typing import ClassVar

from benchmarks.click_fit.contender import Contender


class Sgd(Contender):
    title = "scikit-learn SGDClassifier, log_loss"
    distribution = "scikit-learn"
    compared_at: ClassVar = {"max_iter": 5, "tol": None}
    ladder = tuple({"max_iter": count, "tol": None} for count in (1, 2, 3, 5, 8, 12, 20, 30, 50))

    def searched(self, rows):
        return [{"alpha": 1 / (C * rows)} for C in (0.03, 0.1, 0.3, 1.0)]

    def fit(self, data, threads, **setting):
        from sklearn.linear_model import SGDClassifier

        return SGDClassifier("log_loss", random_state=0, n_jobs=threads, **setting).fit(*data)


CONTENDER = Sgd()
