"""The rows of a part, checked; what is wrong with one is said with its part, its row and its column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError, PartError
from mbauc.pairs.scatter.sparse import canonical_csr
from mbauc.rows.keys import checked_ids
from mbauc.rows.labels import _as_labels, positive_rows
from mbauc.rows.matrix import as_matrix, check_weights, is_sparse
from mbauc.rows.parts import PartBlock


@dataclass(frozen=True)
class Layout:
    """What all blocks have in common.

    Attributes
    ----------
    n_features : int
        Number of columns.
    names : tuple, optional
        Their names, as they stand in the data.
    """

    n_features: int
    names: tuple[Any, ...] | None = None


class PartRows(NamedTuple):
    """A block of a part whose form nothing is wrong with; its values have not been looked at.

    Attributes
    ----------
    first : int
        Rows of the part before it.
    X : matrix or None
        Dense as it came, or canonical CSR; None if it was not asked for.
    y : ndarray
        Labels as they stand in the data.
    weight : ndarray or None
    ids : ndarray or None
    """

    first: int
    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    ids: NDArray[Any] | None

    def positive(self, classes: Any) -> NDArray[np.bool_]:
        """Which rows are positive."""
        return positive_rows(self.y, classes)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which rows have weight."""
        return np.ones(self.y.size, dtype=np.bool_) if self.weight is None else self.weight > 0


def visit_rows(
    number: int, blocks: Iterable[PartBlock], layout: Layout, visit: Callable[[PartRows], None]
) -> None:
    """Call ``visit`` with each block of a part that has rows.

    Whatever is wrong with a block, here or in what ``visit`` finds, is raised as a
    :class:`~mbauc.errors.PartError`.
    """
    first = 0
    for block in blocks:
        with _placed(number, first, layout):
            rows = _checked(first, block, layout)
            if rows.y.size:
                visit(rows)
        first += rows.y.size


def _in_order(X: Any, layout: Layout) -> Any:
    """A table with its columns in the order that all parts have to have; anything without names as it is."""
    names = getattr(X, "columns", None)
    if layout.names is None or names is None or len(names) != layout.n_features:
        return X
    if tuple(names) == layout.names or layout.n_features == 1:
        return X
    if set(names) != set(layout.names):
        missing = next(name for name in layout.names if name not in set(names))
        raise ValueError(f"X has no column {missing!r}, which other parts have; all must have the same.")
    return X[list(layout.names)]


def _checked(first: int, block: PartBlock, layout: Layout) -> PartRows:
    X, y, weight, ids = block
    y = _column(y)
    if X is not None:
        X = _matrix(_in_order(X, layout), first, layout)
        if X.shape[1] != layout.n_features:
            raise ValueError(
                f"X has {X.shape[1]:,} columns, but other parts have {layout.n_features:,}; all must have the "
                "same."
            )
        if y.shape != X.shape[:1]:
            raise ValueError(
                f"X has {X.shape[0]:,} rows and y has shape {y.shape}; there must be one label for each row, "
                "in parts of the same rows."
            )
        if is_sparse(X):
            X = canonical_csr(X)
    if weight is not None:
        weight = _column(weight)
        # a part may have no weight at all, as long as others do
        nothing = weight.dtype.kind in "biuf" and weight.shape == y.shape and not weight.any()
        weight = np.zeros(y.size) if nothing else check_weights(weight, y.size)
    if ids is not None:
        ids = _column(ids)
        if ids.shape != y.shape:
            raise ValueError(f"there are {y.size:,} rows and ids of shape {ids.shape}; each row needs one.")
        ids = checked_ids(ids)
    if y.size:
        _as_labels(y)
    return PartRows(first, X, y, weight, ids)


def _column(values: Any) -> NDArray[Any]:
    """An array, of one dimension if it is the only column of a table."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _matrix(X: Any, first: int, layout: Layout) -> Any:
    """X as a matrix of numbers; a value of a named column that is none is said by its name."""
    try:
        return as_matrix(X)
    except ValueError:
        if layout.names is not None and not is_sparse(X):
            for (row, column), value in np.ndenumerate(np.asarray(X, dtype=object)):
                if not _is_number(value):
                    raise ValueError(
                        f"X has {value!r} at row {first + row:,}, column {column:,} "
                        f"({str(layout.names[column])!r}), which is not a number; encode text columns first "
                        "(sklearn.preprocessing.OneHotEncoder)."
                    ) from None
        raise


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def _placed(number: int, first: int, layout: Layout) -> Iterator[None]:
    try:
        yield
    except PartError:
        raise
    except NonFiniteError as error:
        name = str(layout.names[error.column]) if layout.names is not None else None
        found = NonFiniteError(first + error.row, error.column, error.value, name)
        raise PartError(number, str(found)) from None
    except ValueError as error:
        where = f" (rows of the block that begins at row {first:,})" if first else ""
        raise PartError(number, f"{error}{where}") from None
