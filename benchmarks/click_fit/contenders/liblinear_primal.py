"""LIBLINEAR's logistic regression, primal (-s 0): a trust-region Newton method."""

from typing import ClassVar

from benchmarks.click_fit.liblinear_problem import Liblinear


class LiblinearPrimal(Liblinear):
    title = "LIBLINEAR -s 0, logistic"
    solver = 0
    compared_at: ClassVar = {"e": 0.01}
    ladder = tuple({"e": tolerance} for tolerance in (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001))


CONTENDER = LiblinearPrimal()
