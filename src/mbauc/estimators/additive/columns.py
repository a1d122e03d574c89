"""What may come as rows of curves: arrays, data frames and sources, as numbers and codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from mbauc.basis.design import ColumnKind
from mbauc.errors import Advice
from mbauc.readers.table.arrow import as_arrow_table
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.frame_rows import list_columns
from mbauc.readers.table.encoding.frames import learn_table_codes
from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]

#: Columns beyond which curves are not to be had: take straight lines.
MOST_COLUMNS = 2_000


@dataclass(frozen=True)
class RowCodes:
    """How rows become numbers and codes, and what their columns are.

    Attributes
    ----------
    kinds : list of ColumnKind
        What the columns are.
    encoding : TableEncoding or None
        How a table with texts becomes codes; None for numbers.
    """

    kinds: list[ColumnKind]
    encoding: TableEncoding | None = None

    @classmethod
    def learn(cls, estimator: Any, X: Any, categories: Sequence[Any] | None) -> RowCodes:
        """What the columns of X are; the estimator is told their number and names."""
        if _has_texts(X):
            validate_data(estimator, X, skip_check_array=True, reset=True)
            encoding = learn_table_codes(X, types=dict.fromkeys(map(str, categories or ()), "category"))
            return cls(encoding_kinds(encoding), encoding)
        matrix = _validate(estimator, X, reset=True)
        if matrix.shape[1] > MOST_COLUMNS:
            raise ValueError(
                f"X has {matrix.shape[1]:,} columns; curves are for {MOST_COLUMNS:,} at most. Use "
                "PairwiseAUCClassifierCV or MBAClassifier, or select columns."
            )
        names = getattr(estimator, "feature_names_in_", None)
        kinds = [ColumnKind(f"x{j}" if names is None else str(names[j])) for j in range(matrix.shape[1])]
        return cls(mark_categories(kinds, categories))

    def transform(self, estimator: Any, X: Any, *, reset: bool) -> Array:
        """Rows as numbers and codes."""
        if self.encoding is None:
            return _validate(estimator, X, reset=reset)
        validate_data(estimator, X, skip_check_array=True, reset=reset)
        return np.asarray(self.encoding.transform(X))


def encoding_kinds(encoding: TableEncoding) -> list[ColumnKind]:
    """What the columns of a table's codes are."""
    return [ColumnKind(column.name, not column.is_numeric, column.levels) for column in encoding.code_columns]


def source_kinds(source: Any, categories: Sequence[Any] | None) -> list[ColumnKind]:
    """What the columns of the blocks of a source are."""
    encoding = getattr(source, "encoding", None)
    if isinstance(encoding, TableEncoding):
        if not encoding.code_columns:
            raise ValueError(
                "curves are made of the columns themselves, and this table's have been "
                + ("hashed. " if encoding.hash_dim is not None else "scaled and one-hot encoded. ")
                + Advice("Read it with {encode}.", encode="codes")
            )
        return encoding_kinds(encoding)
    if source.n_features > MOST_COLUMNS:
        raise ValueError(
            f"the source has {source.n_features:,} columns; curves are for {MOST_COLUMNS:,} at most. Use "
            "PairwiseAUCClassifier or MBAClassifier."
        )
    return mark_categories([ColumnKind(f"x{j}") for j in range(source.n_features)], categories)


def find_column(name: Any, names: Sequence[str], what: str) -> int:
    """Number of a column that is named, or counted from 0; ``what`` says what it is for."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(names):
        return int(name)
    if isinstance(name, str) and name in names:
        return list(names).index(name)
    shown = ", ".join(map(repr, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise ValueError(f"{what}: there is no column {name!r}; columns are {shown}.")


def mark_categories(kinds: list[ColumnKind], categories: Sequence[Any] | None) -> list[ColumnKind]:
    """The same columns, some of which hold codes of categories."""
    names = [kind.name for kind in kinds]
    chosen = {find_column(one, names, "categories") for one in ([] if categories is None else categories)}
    return [replace(kind, categorical=True) if j in chosen else kind for j, kind in enumerate(kinds)]


def _has_texts(X: Any) -> bool:
    """Whether X is a table with columns that are not plain numbers."""
    if isinstance(X, np.ndarray) or is_sparse(X) or not (hasattr(X, "columns") or hasattr(X, "column_names")):
        return False
    try:
        table = as_arrow_table(X, list_columns(X))
    except (TypeError, ValueError):
        return False
    return any(str(kind) not in _NUMBERS for kind in table.schema.types)


#: Types of Arrow columns that need no reader.
_NUMBERS = {
    "double", "float", "halffloat",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32)), "int64", "uint64",
}  # fmt: skip


def _validate(estimator: Any, X: Any, *, reset: bool) -> Array:
    matrix = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=np.float64,
        ensure_all_finite="allow-nan",
    )
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)
