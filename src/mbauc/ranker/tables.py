"""What may come as a table: data frames, arrays, paths, with labels beside them or among their columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from mbauc.estimators.validation import check_class_weights, label_column
from mbauc.readers.table.arrow import as_arrow_table, pyarrow
from mbauc.readers.table.encoding.frame_rows import list_columns
from mbauc.readers.table.files import is_frame
from mbauc.readers.table.labels import TableLabels
from mbauc.rows.column_faults import check_rows, explain_failure, raise_infinite
from mbauc.rows.labels import (
    as_labels,
    check_label_count,
    distinct_labels,
    find_classes,
    is_missing,
    positive_rows,
)
from mbauc.rows.matrix import check_weights


def is_path(X: Any) -> bool:
    """Whether X names files."""
    if isinstance(X, list | tuple) and X:
        return all(isinstance(one, str | os.PathLike) for one in X)
    return isinstance(X, str | os.PathLike)


@dataclass(frozen=True)
class LabelledTable:
    """A table with a column of labels, or paths of one.

    Attributes
    ----------
    rows : Arrow table or paths
        What a source reads.
    label, weight : str
        Columns of labels and weights; ``weight`` may be None.
    classes : tuple of two labels, or None
        Labels that came beside the table, negative first; in the table they are 0 and 1.
    types : dict
        What columns of an array are.
    """

    rows: Any
    label: str
    weight: str | None
    classes: tuple[Any, Any] | None = None
    types: dict[str, str] = field(default_factory=dict)

    @classmethod
    def validate(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        label: str | None,
        weight: str | None,
    ) -> LabelledTable:
        """Check what was passed to ``fit``; the estimator is told the number and names of its columns."""
        if (y is None) == (label is None):
            if y is not None:
                raise ValueError("pass y, or label= with the name of a column of X, not both.")
            raise ValueError(
                f"{type(estimator).__name__} requires y to be passed, but the target y is None. Pass y, or "
                "label= with the name of a column of X."
            )
        if sample_weight is not None and weight is not None:
            raise ValueError("pass sample_weight, or weight= with the name of a column, not both.")
        if label is not None:
            if sample_weight is not None:
                raise ValueError("sample_weight goes with y; name the column of the weights with weight=.")
            rows = X if is_path(X) else name_columns(estimator, X, reset=True, without=(label, weight))
            return cls(rows, label, weight)
        if is_path(X):
            raise ValueError("X names files; name the column of the labels with label= instead of passing y.")
        if isinstance(y, str):
            raise ValueError(
                f"y must hold a label for each row, got {y!r}; pass label={y!r} if that names a column of X."
            )
        if weight is not None:
            raise ValueError("weight= goes with label=; pass sample_weight with y.")
        table = name_columns(estimator, X, reset=True)
        # numbers of an array are numbers; columns of a frame are looked at
        numeric = [] if is_frame(X) else [name for name in table.column_names if _is_number(table[name])]
        types = dict.fromkeys(numeric, "numeric")
        return _add_labels(estimator, table, y, sample_weight, types)


def name_columns(estimator: Any, X: Any, *, reset: bool = False, without: tuple[str | None, ...] = ()) -> Any:
    """X as an Arrow table; columns of an array are those of training in their order, x0, x1, … at first.

    The estimator keeps or checks their names.
    """
    if is_path(X):
        raise TypeError(
            "expected a table in memory, got the path of one; score_files scores files of any size."
        )
    if not isinstance(X, Mapping):
        check_rows(X)
    if is_frame(X):
        names = list_columns(X)
        if not names:
            raise ValueError("X has no columns: 0 feature(s), and at least one is needed.")
        table = as_arrow_table(X, names)
        own = [name for name in table.column_names if name not in without]
        if reset:
            estimator.n_features_in_, estimator.feature_names_in_ = len(own), np.array(own, dtype=object)
        return table
    try:
        matrix = validate_data(
            estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_features=1
        )
    except (TypeError, ValueError) as error:
        if "infinity" in str(error):
            raise_infinite(X)
        explain_failure(X, error)
        raise
    known = getattr(estimator, "feature_names_in_", None)
    names = [f"x{j}" for j in range(matrix.shape[1])] if known is None else [str(name) for name in known]
    return as_arrow_table({name: _plain(matrix[:, j]) for j, name in enumerate(names)}, names)


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column of an array of objects with the type of its values, if they have one."""
    if column.dtype.kind == "f" and column.dtype.itemsize > 8:
        return column.astype(np.float64)
    if column.dtype.kind != "O":
        return np.ascontiguousarray(column)
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return column


def _is_number(column: Any) -> bool:
    kind = str(column.type)
    return kind.startswith(("int", "uint", "double", "float", "halffloat", "bool"))


def _add_labels(
    estimator: Any, table: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, types: dict[str, str]
) -> LabelledTable:
    labels = label_column(y)
    check_label_count(labels.size, table.num_rows)
    weights = check_weights(sample_weight, labels.size)
    if estimator.on_error == "skip":
        known = np.array([not is_missing(one) for one in labels.tolist()], dtype=np.bool_)
        labels, table = labels[known], table.filter(pyarrow().array(known))
        weights = None if weights is None else weights[known]
    classes, positive = _find_sides(labels, estimator.positive)
    name = _free_name(getattr(y, "name", None) or "y", table.column_names)
    table = table.append_column(name, [positive.astype(np.int8)])
    if weights is None:
        return LabelledTable(table, name, None, classes, types)
    check_class_weights(weights, positive, np.array(classes, dtype=object))
    weight = _free_name("weight", table.column_names)
    return LabelledTable(table.append_column(weight, [weights]), name, weight, classes, types)


def _find_sides(labels: NDArray[Any], positive: Any) -> tuple[tuple[Any, Any], NDArray[np.bool_]]:
    """The two labels, negative first, and which rows are positive; several on a side are a tuple."""
    if positive is None:
        known = find_classes(labels)
        return (known.tolist()[0], known.tolist()[1]), positive_rows(labels, known)
    wanted = TableLabels("y", positive).positive
    distinct = distinct_labels(as_labels(labels)).tolist()
    shown = ", ".join(map(repr, distinct[:5])) + (", …" if len(distinct) > 5 else "")
    sides = [tuple(one for one in distinct if (one in wanted) == way) for way in (False, True)]
    if not all(sides):
        raise ValueError(
            f"positive={positive!r} must name some of the labels in y, not all; these are {shown}."
        )
    absent = [one for one in wanted if one not in distinct]
    if absent:
        raise ValueError(
            f"positive={positive!r} names {absent[0]!r}, which never occurs in y; the labels are {shown}."
        )
    negative, chosen = (side[0] if len(side) == 1 else side for side in sides)
    return (negative, chosen), np.isin(labels, list(sides[1]))


def _free_name(name: Any, taken: list[str]) -> str:
    """A name that no other column has."""
    found = str(name)
    while found in taken:
        found += "_"
    return found
