"""Looks at the rows of a table: one raw column, what columns add to the scores, what hashed ones hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.arguments import name_asked, no_such_column
from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.values import WrongTypeError, as_distinct_numbers, flatten, unify_types
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.faults import Report
from mbauc.readers.table.reading import TableReader, TableRows


def read_column(reader: TableReader, name: str, report: Report, argument: str | None = None) -> NDArray[Any]:
    """One column of the files, for the rows that can be used; see :meth:`.source.TableSource.column`."""
    for table in reader.tables:
        if name not in table.column_names:
            asked = name_asked(name, argument)
            raise ValueError(no_such_column(asked, name, table.column_names, str(table.file)))
    try:
        parts = [flatten(rows.table[name]) for rows in reader.read(report, [name])]
    except WrongTypeError as error:
        raise ValueError(
            f"{reader.where}: expected numbers, times or texts in column {name!r}, got {error}."
        ) from None
    if not parts:
        raise ValueError(f"{reader.where}: there are no rows.")
    arrow = pyarrow()
    values = arrow.concat_arrays(unify_types(parts))
    if arrow.types.is_string(values.type):
        numbers = as_distinct_numbers(values)
        if numbers is not None:
            return numbers
    return np.asarray(values.to_numpy(zero_copy_only=False))


def measure_deviations(
    encoding: TableEncoding, blocks: Iterable[TableRows], coef: NDArray[np.float64]
) -> dict[str, float]:
    """How much each column moves the scores; see :meth:`.source.TableSource.column_deviations`."""
    total, sums = 0.0, {column.name: np.zeros(2) for column in encoding.columns}
    shift: dict[str, float] = {}
    for rows in blocks:
        weight = np.ones(rows.features.rows) if rows.weight is None else rows.weight
        total += float(weight.sum())
        for name, added in encoding.column_scores(rows.features, coef):
            # near the mean, so that squares keep their digits
            apart = added - shift.setdefault(name, float(added.mean()))
            sums[name] += weight @ apart, weight @ apart**2
    return {
        name: float(np.sqrt(max(square / total - (mean / total) ** 2, 0.0))) if total else 0.0
        for name, (mean, square) in sums.items()
    }


def count_slot_contents(
    encoding: TableEncoding, blocks: Iterable[Features], columns: Sequence[int], most: int | None
) -> dict[int, list[tuple[str, str, int]]]:
    """Values in hashed columns, the most frequent first; see :meth:`.source.TableSource.slot_contents`."""
    counts: dict[int, dict[tuple[str, str], int]] = {int(column): {} for column in columns}
    for column in counts:
        if not encoding.first_hashed <= column < encoding.n_features:
            raise ValueError(
                f"columns must be hashed ones, from {encoding.first_hashed:,} to "
                f"{encoding.n_features - 1:,}, got {column:,}; feature_names has the names of the others."
            )
    seen = 0
    for features in blocks:
        for column, name, value, count in encoding.slot_contents(features, set(counts)):
            own = counts[column]
            own[name, value] = own.get((name, value), 0) + count
        seen += features.rows
        if most is not None and seen >= most:
            break
    return {
        column: [(name, value, count) for (name, value), count in sorted(own.items(), key=_most_frequent)]
        for column, own in counts.items()
    }


def _most_frequent(item: tuple[tuple[str, str], int]) -> tuple[int, str, str]:
    (name, value), count = item
    return -count, name, value
