"""LIBLINEAR's logistic regression, dual (-s 7): coordinate descent over the rows."""

from typing import ClassVar

from benchmarks.click_fit.liblinear_problem import Liblinear


class LiblinearDual(Liblinear):
    title = "LIBLINEAR -s 7, logistic, dual"
    solver = 7
    compared_at: ClassVar = {"e": 1.0}
    ladder = tuple({"e": tolerance} for tolerance in (30, 10, 3, 1, 0.3, 0.1, 0.01))


CONTENDER = LiblinearDual()
