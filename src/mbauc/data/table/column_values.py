"""What stands in a column of a table, whatever its Arrow type: numbers, or texts of categories."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.data.table.arrow import pyarrow

#: Spellings of a missing number. A category is missing only if it is empty: NA may be Namibia.
MISSING_NUMBERS = frozenset(
    {"", "-", "?", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "\\N", "n/a", "nan", "none", "null"}
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"([+-]?\d+)\.0*")
#: Digits that may be a code: as numbers they would lose a zero, or their last digits.
_CODE = r"^[+-]?0\d|\d{16}"
_TRUTH = {"true": "true", "false": "false"}


class Texts(NamedTuple):
    """Texts of a column, each distinct one once.

    Attributes
    ----------
    codes : ndarray of int32
        For each row the place of its text in ``values``; -1 where it is missing.
    values : Arrow array of strings
        The distinct texts.
    """

    codes: NDArray[np.int32]
    values: Any


class WrongTypeError(ValueError):
    """A column's type can never hold what is needed, whatever its values."""


def flat(column: Any) -> Any:
    """A column as one Arrow array of a plain type: chunks joined, dictionaries undone, bytes read as UTF-8."""
    arrow = pyarrow()
    types = arrow.types
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, arrow.ChunkedArray):
            column = arrow.concat_arrays(column.chunks) if column.num_chunks else arrow.array([], column.type)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        try:
            return column.cast(arrow.binary()).cast(arrow.string())
        except arrow.ArrowInvalid:
            raise WrongTypeError("bytes that are not UTF-8") from None
    if types.is_large_string(kind) or str(kind) == "string_view":
        return column.cast(arrow.string())
    return column


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds texts, once :func:`flat` has been at it."""
    return bool(pyarrow().types.is_string(kind))


def number_of(text: str) -> float | None:
    """The number that a text spells, NaN if it spells a missing one, None if it is no number.

    Examples
    --------
    >>> from mbauc.data.table.column_values import number_of
    >>> number_of(" 2.5 "), number_of("NA"), number_of("12 kg"), number_of("1_000")
    (2.5, nan, None, None)
    """
    text = text.strip()
    if text in MISSING_NUMBERS:
        return float("nan")
    return float(text) if _NUMBER.fullmatch(text) else None


def numbers(column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """A flat column as float64 with NaN for missing values, and which values are no finite numbers.

    ``O(n)`` time; the second is None where all values are good.
    """
    arrow = pyarrow()
    kind = column.type
    if is_text(kind):
        try:
            values = column.cast(arrow.float64())
        except arrow.ArrowInvalid:
            return _numbers_one_by_one(column)
    elif _is_number(kind) or arrow.types.is_boolean(kind) or arrow.types.is_null(kind):
        values = column.cast(arrow.float64(), safe=False)
    elif arrow.types.is_duration(kind):
        ticks = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        values = pyarrow("compute").divide(column.cast(arrow.int64()).cast(arrow.float64(), safe=False), ticks)
    else:
        raise WrongTypeError(str(kind))
    result = _with_nan(values)
    bad = np.isinf(result)
    return result, bad if bad.any() else None


def _numbers_one_by_one(column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """As :func:`numbers`, for texts among which are spaces, spellings of missing values, or no numbers."""
    coded = column.dictionary_encode()
    spelled = [number_of(text) for text in coded.dictionary.to_pylist()]
    values = np.array([np.inf if value is None else value for value in spelled] + [np.nan])
    result = values[coded.indices.fill_null(len(spelled)).to_numpy(zero_copy_only=False)]
    bad = np.isinf(result)
    return result, bad if bad.any() else None


def _with_nan(values: Any) -> NDArray[np.float64]:
    # a copy of our own: Arrow's memory is read-only
    return np.array(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def distinct_numbers(column: Any) -> NDArray[np.float64] | None:
    """Texts as numbers, NaN for missing ones; None unless each distinct text is a number of its own.

    ``O(n)`` time.
    """
    compute = pyarrow("compute")
    coded = column.dictionary_encode()
    values, bad = numbers(coded.dictionary)
    if bad is not None or np.isnan(values).any() or np.unique(values).size < values.size:
        return None
    if compute.any(compute.match_substring_regex(coded.dictionary, pattern=_CODE)).as_py():
        return None
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(values, np.nan)[codes])


def of_one_type(parts: list[Any]) -> list[Any]:
    """Flat columns of several files made one type: numbers if all are and stay exact, texts otherwise."""
    arrow = pyarrow()
    if len({part.type for part in parts}) == 1:
        return parts
    if all(_is_number(part.type) or arrow.types.is_null(part.type) for part in parts):
        try:
            return [part.cast(arrow.float64()) for part in parts]
        except arrow.ArrowInvalid:
            pass
    return [part if is_text(part.type) else _spelled(part, "number") for part in parts]


def _is_number(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def texts(column: Any, spelling: str) -> Texts:
    """A flat column as texts, each distinct one once; the empty text counts as missing.

    Numbers are spelled in one way, whatever their type (5 for 5.00, 1.5 for 1.50, 100000 for 1e5), and truth
    values ``true`` and ``false``, so that a table gives the same texts from CSV, Parquet and data frames.

    Parameters
    ----------
    column : Arrow array
        Flat.
    spelling : {"text", "whole", "number", "truth"}
        What the values were when the column was first looked at.
    """
    arrow = pyarrow()
    types, kind = arrow.types, column.type
    if types.is_null(kind):
        return Texts(np.full(len(column), -1, dtype=np.int32), arrow.array([], arrow.string()))
    if not is_text(kind) and not (_is_number(kind) or types.is_boolean(kind) or types.is_temporal(kind)):
        raise WrongTypeError(str(kind))
    if spelling == "text" and (_is_number(kind) or types.is_boolean(kind)):
        # 007 has become 7 by now, and 12e45 infinity
        raise WrongTypeError(str(kind))
    coded = column.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    values = coded.dictionary
    if is_text(kind) and spelling == "text":
        compute = pyarrow("compute")
        empty = compute.any(compute.equal(values, "")).as_py()
        return _once(codes, values) if empty else Texts(codes, values)
    return _once(codes, _spelled(values, spelling))


def _spelled(values: Any, spelling: str) -> Any:
    """Distinct values as texts; None where one is missing."""
    arrow = pyarrow()
    kind = values.type
    if is_text(kind):
        return arrow.array([_respelled(text, spelling) for text in values.to_pylist()], arrow.string())
    if arrow.types.is_floating(kind):
        return arrow.array([_float_text(value) for value in values.to_pylist()], arrow.string())
    if arrow.types.is_decimal(kind):
        told = [None if value is None else _plain(value) for value in values.to_pylist()]
        return arrow.array(told, arrow.string())
    return values.cast(arrow.string())


def _plain(value: Decimal) -> str:
    """A number without an exponent, a plus sign, or zeros at its end."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _respelled(text: str | None, spelling: str) -> str | None:
    if text is None:
        return None
    if spelling == "truth":
        return _TRUTH.get(text.lower(), text)
    bare = text.strip()
    if re.match(r"[+-]?0\d", bare):  # a code
        match = _WHOLE.fullmatch(bare)
        return match[1] if match else text
    if not _NUMBER.fullmatch(bare) or abs(float(bare)) == float("inf"):
        return text
    value = Decimal(bare)
    # nobody wants a text of a thousand zeros
    return _plain(value) if value.adjusted() > -400 else text


def _float_text(value: float | None) -> str | None:
    if value is None or value != value:
        return None
    if abs(value) == float("inf"):
        return repr(value)
    return str(int(value)) if abs(value) < 2**63 and value == int(value) else _plain(Decimal(repr(value)))


def _once(codes: NDArray[np.int32], values: Any) -> Texts:
    """Texts with equal ones made one, and empty ones made missing."""
    arrow, compute = pyarrow(), pyarrow("compute")
    present = compute.fill_null(compute.not_equal(values, ""), False)
    again = compute.if_else(present, values, arrow.scalar(None, arrow.string())).dictionary_encode()
    places = np.append(again.indices.fill_null(-1).to_numpy(zero_copy_only=False), -1).astype(np.int32)
    return Texts(places[codes], again.dictionary)
