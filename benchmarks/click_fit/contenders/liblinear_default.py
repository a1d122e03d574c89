"""What LIBLINEAR does if nothing is set (-s 1): a support vector machine with the squared hinge, dual."""

from typing import ClassVar

from benchmarks.click_fit.liblinear_problem import Liblinear


class LiblinearDefault(Liblinear):
    title = "LIBLINEAR -s 1, its default, squared hinge"
    solver = 1
    costs = (0.003, 0.01, 0.03, 0.1)
    compared_at: ClassVar = {"e": 1.0}
    ladder = tuple({"e": tolerance} for tolerance in (30, 10, 3, 1, 0.3, 0.1, 0.01))


CONTENDER = LiblinearDefault()
