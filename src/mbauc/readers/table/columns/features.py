"""The feature columns of a table as numbers and texts, and which rows cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.columns.times import PARTS, calendar_parts, parts_of, zone_of
from mbauc.readers.table.columns.values import Texts, WrongTypeError, flatten, read_numbers, read_texts
from mbauc.readers.table.faults import RowFault


class Features(NamedTuple):
    """Feature columns of some rows."""

    #: Number of rows.
    rows: int
    #: Numeric columns; NaN where a value is missing.
    numbers: dict[str, NDArray[np.float64]]
    #: Categories, free texts, and the parts of time columns under names such as ``hour.weekday``.
    texts: dict[str, Texts]

    def select(self, keep: NDArray[np.bool_] | None) -> Features:
        """Some of the rows; all if ``keep`` is None."""
        if keep is None:
            return self
        return Features(
            int(keep.sum()),
            {name: values[keep] for name, values in self.numbers.items()},
            {name: Texts(each.codes[keep], each.values) for name, each in self.texts.items()},
        )


def read_features(table: Any, columns: Iterable[Column], where: str) -> tuple[Features, list[RowFault]]:
    """Feature columns of an Arrow table; values that do not fit come back as faults, wrong types raise."""
    found = Features(table.num_rows, {}, {})
    faults: list[RowFault] = []
    for column in columns:
        try:
            values = table[column.name]
            if column.kind == "numeric":
                found.numbers[column.name], bad = read_numbers(values, column.form)
                if bad is not None:
                    faults.append(
                        RowFault(bad, f"no number in {column.name!r}", _no_number(column.name, flatten(values)))
                    )
            elif column.kind in ("category", "text"):
                found.texts[column.name] = read_texts(values, column.spelling)
            else:
                values = flatten(values)
                parts, bad = calendar_parts(values, column.form)
                for part in parts_of(column.form):
                    codes = parts.get(part, np.full(table.num_rows, -1, dtype=np.int32))
                    found.texts[f"{column.name}.{part}"] = Texts(codes, _part_values(part))
                if bad.any():
                    faults.append(RowFault(bad, f"no time in {column.name!r}", _no_time(column, values)))
        except WrongTypeError as error:
            raise ValueError(f"{where}: " + _wrong_type(column, str(error))) from None
    return found, faults


def _part_values(part: str) -> Any:
    return pyarrow().array(PARTS[part])


def _show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"


def _no_number(name: str, values: Any) -> Callable[[int], str]:
    def message(row: int) -> str:
        return (f"expected a finite number in column {name!r}, got {_show(values[row].as_py())}. ") + Advice(
            "Pass {types} if the column is not numeric.", types={name: "category"}
        )

    return message


def _no_time(column: Column, values: Any) -> Callable[[int], str]:
    plain = column.form in ("timestamp", "date", "time of day") or zone_of(column.form)
    wanted = "a time" if plain else f"a time as {column.form}"
    if "-first " in column.form:
        wanted = f"a {column.form}"

    def message(row: int) -> str:
        return (f"expected {wanted} in column {column.name!r}, got {_show(values[row].as_py())}. ") + Advice(
            "Pass {types} if the column is not a time.", types={column.name: "category"}
        )

    return message


def _wrong_type(column: Column, came: str) -> str:
    wanted = {"numeric": "numbers", "time": "times"}.get(column.kind, "texts")
    if column.kind in ("category", "text") and column.spelling == "text":
        return (
            f"expected texts in column {column.name!r}, as in training, got {came}. Read it as text from the "
            "file: once read as numbers, codes such as 007 or 1e5 are lost."
        )
    if column.kind == "category" and column.spelling == "truth":
        return (
            f"expected booleans in column {column.name!r}, spelled as in training, got {came}. "
            "Convert it when you read it, as astype(bool) does."
        )
    leave_out = Advice("Leave it out with {ignore}.", ignore=[column.name])
    return f"expected {wanted} in column {column.name!r}, got {came}. " + leave_out
