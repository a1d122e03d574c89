"""What may come as rows of curves: arrays and data frames, as numbers and codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from mbauc.basis.design import ColumnKind
from mbauc.checks import abbreviate
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
            columns = [str(name) for name in list_columns(X)]
            check_width(len(columns), "X")
            chosen = [columns[find_column(one, columns, "categories")] for one in _listed(categories)]
            encoding = learn_table_codes(X, types=dict.fromkeys(chosen, "category"))
            return cls(encoding_kinds(encoding), encoding)
        matrix = _validate(estimator, X, reset=True)
        check_width(matrix.shape[1], "X")
        names = getattr(estimator, "feature_names_in_", None)
        kinds = [ColumnKind(f"x{j}" if names is None else str(names[j])) for j in range(matrix.shape[1])]
        return cls(mark_categories(kinds, categories))

    def transform(self, estimator: Any, X: Any) -> Array:
        """Rows as numbers and codes; the estimator knows their number and names."""
        if self.encoding is None:
            return _validate(estimator, X, reset=False)
        validate_data(estimator, X, skip_check_array=True, reset=False)
        return np.asarray(self.encoding.transform(X))


def encoding_kinds(encoding: TableEncoding) -> list[ColumnKind]:
    """What the columns of a table's codes are."""
    return [ColumnKind(column.name, not column.is_numeric, column.levels) for column in encoding.code_columns]


def check_width(n_columns: int, what: str) -> None:
    """Raise if there are too many columns for a curve each."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{what} has {n_columns:,} columns; curves are for {MOST_COLUMNS:,} at most. Use "
            "PairwiseAUCClassifier or MBAClassifier, or select columns."
        )


def find_column(name: Any, names: Sequence[str], what: str) -> int:
    """Number of a column that is named, or counted from 0; ``what`` says what it is for."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(names):
        return int(name)
    if isinstance(name, str) and name in names:
        return list(names).index(name)
    shown = ", ".join(map(repr, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise ValueError(f"{what}: there is no column {name!r}; columns are {shown}.")


def find_pairs(pairs: Any, names: Sequence[str], what: str = "interactions") -> list[tuple[int, int]]:
    """Pairs of columns that are named or counted from 0, by number, each once and in order."""
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ValueError(f"{what} must be pairs of columns, got {abbreviate(pairs)}.")
    found = set()
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{what} must be pairs of columns, got {abbreviate(pair)}.")
        a, b = sorted(find_column(one, names, what) for one in pair)
        if a == b:
            raise ValueError(f"{what}: a pair needs two different columns, got {abbreviate(pair)}.")
        found.add((a, b))
    return sorted(found)


def mark_categories(kinds: list[ColumnKind], categories: Sequence[Any] | None) -> list[ColumnKind]:
    """The same columns, some of which hold codes of categories."""
    names = [kind.name for kind in kinds]
    chosen = {find_column(one, names, "categories") for one in _listed(categories)}
    return [replace(kind, categorical=True) if j in chosen else kind for j, kind in enumerate(kinds)]


def _listed(categories: Sequence[Any] | None) -> Sequence[Any]:
    if categories is None:
        return []
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise ValueError(f"categories must be a list of columns, got {abbreviate(categories)}.")
    return categories


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
