"""Checked rows: the one form of rows below the estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.column_faults import is_number, rows_as_matrix
from mbauc.rows.groups import group_keys
from mbauc.rows.labels import Labels, as_labels, check_label_count
from mbauc.rows.matrix import as_matrix, canonical_csr, check_block_weights, check_weights, is_sparse
from mbauc.rows.parts.keys import check_ids
from mbauc.rows.schema import Schema


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows: their features, which of them are positive, their weights, ids and groups.

    ``first`` counts the rows before it, for messages. ``frequencies`` says that a weight k stands for k equal
    rows, so that a class counts for the sum of its weights; otherwise it counts for Kish's effective number of
    rows, whatever the unit of the weights. The values of X have not been looked at.
    """

    X: Any
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None
    ids: NDArray[Any] | None = None
    first: int = 0
    frequencies: bool = False
    #: key of the group of each row (query, user, day), where only pairs within a group count
    groups: NDArray[np.uint64] | None = None

    @classmethod
    def checked(
        cls,
        X: Any,
        y: Any,
        weight: Any,
        labels: Labels,
        *,
        name: str = "y",
    ) -> Block:
        """All rows of a data set, or of a stream's block ``name``; an error says what is wrong with them."""
        X = rows_as_matrix(X)
        positive = labels.require_mask(y, name)
        check_label_count(positive.size, X.shape[0])
        return cls(X, positive, check_weights(weight, X.shape[0]))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positive.size)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which rows have weight."""
        return np.ones(self.n_rows, dtype=np.bool_) if self.weight is None else self.weight > 0

    def rows_of(self, positive: bool, subset: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Numbers of the rows of one class with positive weight, of all rows or of some."""
        mask = self.positive if positive else ~self.positive
        if subset is not None:
            subset = subset[mask[subset]]
            return subset if self.weight is None else subset[self.weight[subset] > 0]
        return np.flatnonzero(mask if self.weight is None else mask & (self.weight > 0))

    def class_weight(self, positive: bool, subset: NDArray[np.intp] | None = None) -> tuple[float, float]:
        """Sum of the weights of one class and the rows it counts for, of all rows or of some."""
        rows = self.rows_of(positive, subset)
        if self.weight is None:
            return float(rows.size), float(rows.size)
        weight = self.weight[rows]
        total = float(weight.sum())
        return total, total if self.frequencies else total**2 / float(weight @ weight)


#: Features, labels as they stand in the data, weights, ids and groups of some rows.
Columns = tuple[Any, NDArray[Any], NDArray[np.float64] | None, NDArray[Any] | None, NDArray[np.uint64] | None]


def check_columns(raw: Columns, schema: Schema, first: int = 0) -> Columns:
    """A part of a data set in a form that nothing is wrong with; its values have not been looked at.

    X is dense as it came, or canonical CSR, or None if it was not asked for. There may be no rows, and all
    weights may be zero, as long as others are not. Groups become keys.
    """
    X, y, weight, ids, groups = raw
    y = _column(y)
    if X is not None:
        X = _matrix(schema.arrange(X), first, schema)
        if X.shape[1] != schema.n_features:
            raise ValueError(
                f"X has {X.shape[1]:,} columns, expected {schema.n_features:,}; all blocks must have the same "
                "columns."
            )
        if y.shape != X.shape[:1]:
            raise ValueError(
                f"X has {X.shape[0]:,} rows and y has shape {y.shape}; there must be one label for each row."
            )
        if is_sparse(X):
            X = canonical_csr(X)
    if weight is not None:
        weight = check_block_weights(_column(weight), y.size)
    if ids is not None:
        ids = _column(ids)
        if ids.shape != y.shape:
            raise ValueError(f"there are {y.size:,} rows and ids of shape {ids.shape}; each row needs one.")
        ids = check_ids(ids)
    if groups is not None:
        groups = group_keys(groups, y.size)
    return X, as_labels(y) if y.size else y, weight, ids, groups


def _column(values: Any) -> NDArray[Any]:
    """An array, of one dimension if it is the only column of a table."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _matrix(X: Any, first: int, schema: Schema) -> Any:
    """X as a matrix of numbers; a value of a named column that is none is said by its name."""
    try:
        return as_matrix(X)
    except ValueError:
        if schema.names is not None and not is_sparse(X):
            for (row, column), value in np.ndenumerate(np.asarray(X, dtype=object)):
                if not is_number(value):
                    raise ValueError(
                        f"X has {value!r} at row {first + row:,}, column {column:,} "
                        f"({schema.name_of(column)!r}), which is not a number; encode text columns first "
                        "(sklearn.preprocessing.OneHotEncoder)."
                    ) from None
        raise
