"""What may come as rows of curves: arrays and data frames, as numbers and codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from mbauc.basis.design import ColumnKind
from mbauc.checks import abbreviate, list_some
from mbauc.errors import Advice, LeftOutWarning
from mbauc.features.numbers import validate_numbers
from mbauc.readers.table.arrow import as_arrow_table, pyarrow
from mbauc.readers.table.columns.plan import ColumnPlan, NoFeatureError
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.frame_rows import list_columns
from mbauc.readers.table.encoding.frames import learn_planned_codes, plan_frame_codes
from mbauc.rows.column_faults import check_rows
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.warn import warn

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
    columns : tuple of (str, tuple of str)
        Columns of a table with texts, and the names of what each became: of a time its parts, of one that is
        left out nothing. Empty for numbers, which stay as they are.
    """

    kinds: list[ColumnKind]
    encoding: TableEncoding | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def learn(cls, estimator: Any, X: Any, categories: Sequence[Any] | None) -> RowCodes:
        """What the columns of X are; the estimator is told their number and names.

        Columns of numbers are numeric unless they are among the categories, whatever other columns there are.
        Those that are left out are warned of.
        """
        check_rows(X)
        table = _read_table(X)
        if table is not None and not all(map(_is_plain, table.schema.types)):
            validate_data(estimator, X, skip_check_array=True, reset=True)
            check_width(table.num_columns, "X")
            plan = _plan(table, categories)
            encoding = learn_planned_codes(table, plan)
            became = ([code.name for code in encoding.codes_of(one)] for one in plan.columns)
            columns = zip(table.column_names, map(tuple, became), strict=True)
            return cls(encoding_kinds(encoding), encoding, tuple(columns))
        matrix = _validate(estimator, X, reset=True)
        check_width(matrix.shape[1], "X")
        names = getattr(estimator, "feature_names_in_", None)
        kinds = [ColumnKind(f"x{j}" if names is None else str(names[j])) for j in range(matrix.shape[1])]
        return cls(mark_categories(kinds, categories))

    def find_code(self, name: Any, what: str) -> int:
        """Number of the column of codes that is named, or that a column of X, counted from 0, became.

        ``what`` says what it is for.
        """
        names = [kind.name for kind in self.kinds]
        if not self.columns or (isinstance(name, str) and name in names):
            return find_column(name, names, what)
        own = [column for column, _ in self.columns]
        place = find_column(name, own if not isinstance(name, str) or name in own else names, what)
        column, became = self.columns[place]
        if len(became) != 1:
            told = (
                f"became {', '.join(map(repr, became))}; name one of them"
                if became
                else f"was left out; there are {list_some(map(repr, names))}"
            )
            raise ValueError(f"{what}: column {place}, {column!r}, {told}.")
        return names.index(became[0])

    def find_pairs(self, pairs: Any) -> list[tuple[int, int]]:
        """Pairs of columns as for :meth:`find_code`, by number of their codes, each once and in order."""
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise ValueError(f"interactions must be pairs of columns, got {abbreviate(pairs)}.")
        found = set()
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
                raise ValueError(f"interactions must be pairs of columns, got {abbreviate(pair)}.")
            a, b = sorted(self.find_code(one, "interactions") for one in pair)
            if a == b:
                raise ValueError(f"interactions: a pair needs two different columns, got {abbreviate(pair)}.")
            found.add((a, b))
        return sorted(found)

    def transform(self, estimator: Any, X: Any) -> Array:
        """Rows as numbers and codes; the estimator knows their number and names."""
        if self.encoding is None:
            return _validate(estimator, X, reset=False)
        check_rows(X)
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
    raise ValueError(f"{what}: there is no column {name!r}; columns are {list_some(map(repr, names))}.")


def mark_categories(kinds: list[ColumnKind], categories: Sequence[Any] | None) -> list[ColumnKind]:
    """The same columns, some of which hold codes of categories."""
    names = [kind.name for kind in kinds]
    chosen = {find_column(one, names, "categories") for one in list_categories(categories)}
    return [replace(kind, categorical=True) if j in chosen else kind for j, kind in enumerate(kinds)]


def list_categories(categories: Iterable[Any] | None) -> list[Any]:
    """Columns that are said to be categories; none by default."""
    if categories is None:
        return []
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise ValueError(f"categories must be a list of columns, got {abbreviate(categories)}.")
    return list(categories)


def _read_table(X: Any) -> Any:
    """X as an Arrow table, if it is one that Arrow can hold or has columns that are no numbers."""
    if isinstance(X, np.ndarray) or is_sparse(X) or not (hasattr(X, "columns") or hasattr(X, "column_names")):
        return None
    try:
        names = list_columns(X)
    except TypeError:
        return None
    try:
        return as_arrow_table(X, names)
    except TypeError:
        return None
    except ValueError as error:
        try:
            np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise error from None
        return None


def _is_plain(kind: Any) -> bool:
    """Whether a type of Arrow columns is one of numbers that need no reader."""
    types = pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _plan(table: Any, categories: Sequence[Any] | None) -> ColumnPlan:
    """What the columns of a table are; a warning names those that are left out."""
    names = table.column_names
    is_decimal = pyarrow().types.is_decimal
    numbers = (
        name
        for name, kind in zip(names, table.schema.types, strict=True)
        if _is_plain(kind) or is_decimal(kind)
    )
    chosen = (names[find_column(one, names, "categories")] for one in list_categories(categories))
    types = dict.fromkeys(numbers, "numeric") | dict.fromkeys(chosen, "category")
    try:
        plan = plan_frame_codes(table, types)
    except NoFeatureError as error:
        raise ValueError(
            f"X has no column to learn from: {_tell_left_out(error.plan)}. Add columns, or name one of these "
            "in categories to have a level for each of its values."
        ) from None
    except ValueError as error:  # what it advises are arguments that only a source of files has
        said = str(error)
        if not isinstance(said, Advice):
            raise
        raise ValueError(
            f"{said.fact} Drop it from X, or make columns of numbers or texts from it first."
        ) from None
    count = len(plan.columns) - len(plan.features)
    if count:
        warn(
            f"{count} column{'s' if count > 1 else ''} of X {'are' if count > 1 else 'is'} left out: "
            f"{_tell_left_out(plan)}. Name a column in categories to have a level for each of its values, or "
            "drop it from X.",
            LeftOutWarning,
        )
    return plan


def _tell_left_out(plan: ColumnPlan) -> str:
    return list_some(f"{one.name!r} ({one.why})" for one in plan.columns if not one.is_feature)


def _validate(estimator: Any, X: Any, *, reset: bool) -> Array:
    matrix = validate_numbers(estimator, X, reset=reset, accept_sparse=("csr", "csc"), dtype=np.float64)
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)
