"""Data frames as features: the columns that are wanted, checked and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from mbauc.errors import Advice
from mbauc.readers.table.arrow import as_arrow_table, column_names
from mbauc.readers.table.columns.arguments import no_such_column
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.guess import is_index_name
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.faults import report_faults


def list_columns(table: Any) -> list[str]:
    """Names of the columns of a frame; a ValueError if two are the same."""
    names = column_names(table)
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"the table has two columns named {twice!r}; give each a name of its own.")
    return names


def select_columns(table: Any, wanted: Sequence[str], unused: Collection[str], extra: str) -> Any:
    """The wanted columns of a frame as an Arrow table.

    Columns that are neither wanted nor known to be ``unused`` are an error, unless ``extra`` is ``"ignore"``.
    """
    names = list_columns(table)
    present, known = set(names), {*wanted, *unused}
    absent = [name for name in wanted if name not in present]
    if absent:
        raise ValueError(no_such_column(f"{', '.join(map(repr, absent))}", absent[0], names, "the table"))
    more = [name for name in names if name not in known and not is_index_name(name)]
    if more and extra == "error":
        shown = ", ".join(map(repr, more[:20]))
        raise ValueError(
            f"the table has columns that the training rows did not have: {shown}. Drop them, or "
            "pass extra='ignore'."
        )
    return as_arrow_table(table, list(wanted))


def read_frame_rows(table: Any, columns: Iterable[Column], first: int = 0) -> Features:
    """Features of an Arrow table whose first row has the number ``first``; what cannot be used is an error."""
    try:
        features, faults = read_features(table, columns, "the table")
    except ValueError as error:  # what it advises are arguments that only a source of files has
        said = str(error)
        raise ValueError(f"{said.fact} Convert it first." if isinstance(said, Advice) else said) from None
    report_faults(faults, lambda row: f"row {first + row:,} of the table (counted from 0)", _stop)
    return features


def _stop(place: str, reason: str, message: str) -> None:
    """Raise at the first row that cannot be used, without advice that only a source of files can follow."""
    fact = message.fact if isinstance(message, Advice) else message
    raise ValueError(f"{place}: {fact} Correct it, or drop the row.")
