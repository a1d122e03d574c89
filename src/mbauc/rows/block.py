"""Checked rows: what every way to make moments starts from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.labels import positive_rows
from mbauc.rows.matrix import as_matrix, check_weights


class Rows(NamedTuple):
    """A data matrix with the mask of its positive rows and, if any, the weight of each row.

    ``frequencies`` says that a weight k stands for k equal rows, so that a class counts for the sum of its
    weights; otherwise it counts for Kish's effective number of rows, whatever the unit of the weights.
    """

    X: Any
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    frequencies: bool = False

    def of_class(self, positive: bool, subset: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Numbers of the rows of one class with positive weight, of all rows or of some."""
        mask = self.positive if positive else ~self.positive
        if subset is not None:
            subset = subset[mask[subset]]
            return subset if self.weight is None else subset[self.weight[subset] > 0]
        return np.flatnonzero(mask if self.weight is None else mask & (self.weight > 0))

    def class_weight(self, positive: bool, subset: NDArray[np.intp] | None = None) -> tuple[float, float]:
        """Sum of the weights of one class and the rows it counts for, of all rows or of some."""
        rows = self.of_class(positive, subset)
        if self.weight is None:
            return float(rows.size), float(rows.size)
        weight = self.weight[rows]
        total = float(weight.sum())
        return total, total if self.frequencies else total**2 / float(weight @ weight)


def checked_rows(X: Any, y: Any, sample_weight: Any, classes: Any) -> Rows:
    """Rows from what a caller passed, or an error that names what is wrong with it."""
    X = as_matrix(X)
    positive = positive_rows(y, classes)
    if positive.size != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]:,} rows and y has {positive.size:,} labels; they must have the same number."
        )
    return Rows(X, positive, check_weights(sample_weight, X.shape[0]))
