"""What stands in a column of a table, whatever its Arrow type: numbers, or texts of categories."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.number_texts import NUMBER, parse_number

_WHOLE = re.compile(r"([+-]?\d+)\.0*")
#: Digits that may be a code: as numbers they would lose a zero, or their last digits.
_CODE = r"^[+-]?0\d|\d{16}"
#: Whole numbers that are spelled as they should be.
_PLAIN = r"^(?:0|-?[1-9][0-9]{0,17})$"
#: Spellings of truth values, in pairs.
TRUTH_PAIRS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
_TRUTH = {word for pair in TRUTH_PAIRS for word in pair}


class Texts(NamedTuple):
    """Texts of a column, each about once."""

    #: For each row the place of its text in ``values``; -1 where it is missing.
    codes: NDArray[np.int32]
    #: The texts. Some may occur in no row, and some twice, since files bring dictionaries of their own; an
    #: empty one means the same as -1.
    values: Any

    def drop_unused(self, *, empty: bool = False) -> Texts:
        """Without texts that occur in no row and, unless ``empty``, without the empty one.

        ``O(rows + texts)`` time.
        """
        places = np.full(len(self.values) + 1, -1, dtype=np.int32)
        present = np.bincount(self.codes + 1, minlength=places.size)[1:] > 0
        if not empty:
            present &= pyarrow("compute").binary_length(self.values).to_numpy(zero_copy_only=False) > 0
        occurs = np.flatnonzero(present)
        if occurs.size == len(self.values):
            return self
        places[occurs] = np.arange(occurs.size)
        return Texts(places[self.codes], self.values.take(pyarrow().array(occurs)))


class WrongTypeError(ValueError):
    """A column's type can never hold what is needed, whatever its values."""


def flatten(column: Any) -> Any:
    """A column as one Arrow array of a plain type: chunks joined, dictionaries undone, bytes read as UTF-8."""
    arrow = pyarrow()
    types = arrow.types
    if isinstance(column, arrow.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
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


def read_distinct(column: Any, what: str, file: object) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values of a column of numbers or texts, and the place of each row's own; -1 if missing.

    ``what`` names the column in errors.
    """
    types = pyarrow().types
    plain = (types.is_string, types.is_primitive, types.is_boolean, types.is_decimal, types.is_null)
    try:
        values = flatten(column)
        if not any(is_such(values.type) for is_such in plain):
            raise WrongTypeError(str(values.type))
    except WrongTypeError as error:
        raise ValueError(
            f"{file}: expected numbers or texts in the {what}, got {error}. "
            "Make a column of numbers or texts from it first."
        ) from None
    coded = values.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return coded.dictionary.to_pylist(), np.asarray(codes, dtype=np.int64)


def read_dictionary(column: Any) -> Texts | None:
    """A column of texts that comes with its dictionary, or with one for each chunk; None for other columns.

    ``O(n)`` time; texts are not looked at.
    """
    arrow = pyarrow()
    types = arrow.types
    if not types.is_dictionary(column.type) or not (
        types.is_string(column.type.value_type) or types.is_large_string(column.type.value_type)
    ):
        return None
    chunks = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    if not chunks or any(chunk.dictionary.null_count for chunk in chunks):
        return None
    codes = np.empty(sum(map(len, chunks)), dtype=np.int32)
    row = first = 0
    for chunk in chunks:
        _fill_codes(chunk.indices, first, codes[row : row + len(chunk)])
        row, first = row + len(chunk), first + len(chunk.dictionary)
    dictionaries = [flatten(chunk.dictionary) for chunk in chunks]
    return Texts(codes, dictionaries[0] if len(chunks) == 1 else arrow.concat_arrays(dictionaries))


def _fill_codes(places: Any, first: int, codes: NDArray[np.int32]) -> None:
    """Write places in a dictionary, counted from ``first``, and -1 for missing ones."""
    from mbauc.readers.table import kernels

    if not len(places):
        return
    places = places.cast(pyarrow().int32())
    valid, numbers = places.buffers()
    values = np.frombuffer(numbers, dtype=np.int32)[places.offset : places.offset + len(places)]
    if valid is None:
        np.add(values, first, out=codes)
    else:
        bits = np.frombuffer(valid, dtype=np.uint8)
        values.flags.writeable = bits.flags.writeable = False  # compiled loops tell the two apart
        kernels.fill_codes(values, bits, places.offset, np.int32(first), codes)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds texts, once :func:`flatten` has been at it."""
    return bool(pyarrow().types.is_string(kind))


def read_numbers(column: Any, marks: str = "") -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """A column as float64 with NaN for missing values, and which values are no finite numbers.

    ``marks`` may stand in texts besides the number; see :func:`~.number_texts.parse_number`. ``O(n)`` time;
    the second is None where all values are good.
    """
    arrow = pyarrow()
    coded = read_dictionary(column)
    if coded is not None:
        codes, distinct = coded.drop_unused(empty=True)  # those in no row must not change how these are read
        known, wrong = read_numbers(distinct, marks)
        return np.append(known, np.nan)[codes], None if wrong is None else np.append(wrong, False)[codes]
    column = flatten(column)
    kind = column.type
    if kind == arrow.float64():
        values = column
    elif is_text(kind):
        if "." in marks:  # 1.234 is 1234 there
            return _numbers_one_by_one(column, marks)
        try:
            values = column.cast(arrow.float64())
        except arrow.ArrowInvalid:
            return _numbers_one_by_one(column, marks)
    elif _is_number(kind) or arrow.types.is_boolean(kind) or arrow.types.is_null(kind):
        values = column.cast(arrow.float64(), safe=False)
    elif arrow.types.is_duration(kind):
        ticks = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        values = pyarrow("compute").divide(column.cast(arrow.int64()).cast(arrow.float64(), safe=False), ticks)
    else:
        raise WrongTypeError(str(kind))
    result = _fill_nan(values)
    bad = np.isinf(result)
    return result, bad if bad.any() else None


def _numbers_one_by_one(column: Any, marks: str) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """As :func:`read_numbers`, for texts among which are spaces, marks, missing values, or no numbers."""
    coded = column.dictionary_encode()
    spelled = [parse_number(text, marks) for text in coded.dictionary.to_pylist()]
    values = np.array([np.inf if value is None else value for value in spelled] + [np.nan])
    result = values[coded.indices.fill_null(len(spelled)).to_numpy(zero_copy_only=False)]
    bad = np.isinf(result)
    return result, bad if bad.any() else None


def _fill_nan(values: Any) -> NDArray[np.float64]:
    # without missing values, Arrow's own memory, which cannot be written to
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def as_distinct_numbers(column: Any) -> NDArray[np.float64] | None:
    """Texts as numbers, NaN for missing ones; None unless each distinct text is a number of its own.

    ``O(n)`` time.
    """
    compute = pyarrow("compute")
    coded = column.dictionary_encode()
    values, bad = read_numbers(coded.dictionary)
    if bad is not None or np.isnan(values).any() or np.unique(values).size < values.size:
        return None
    if compute.any(compute.match_substring_regex(coded.dictionary, pattern=_CODE)).as_py():
        return None
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(values, np.nan)[codes])


def unify_types(parts: list[Any]) -> list[Any]:
    """Flat columns of several files made one type: numbers if all are and stay exact, texts otherwise."""
    arrow = pyarrow()
    if len({part.type for part in parts}) == 1:
        return parts
    if all(_is_number(part.type) or arrow.types.is_null(part.type) for part in parts):
        try:
            return [part.cast(arrow.float64()) for part in parts]
        except arrow.ArrowInvalid:
            pass
    return [part if is_text(part.type) else _spell(part, "number") for part in parts]


def _is_number(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def read_texts(column: Any, spelling: str) -> Texts:
    """A column as texts, each about once.

    Numbers are spelled in one way, whatever their type (5 for 5.00, 1.5 for 1.50, 100000 for 1e5), and truth
    values ``true`` and ``false``, so that a table gives the same texts from CSV, Parquet and data frames.

    Parameters
    ----------
    column : Arrow array
        Of any type.
    spelling : {"text", "whole", "number", "truth"}
        What the values were when the column was first looked at.
    """
    coded = read_dictionary(column)
    if coded is None:
        coded = _encode(flatten(column), spelling)
    if is_text(coded.values.type):
        return coded if spelling == "text" else _respell_texts(coded.drop_unused(), spelling)
    spelled = _spell(coded.values, spelling)
    if pyarrow().types.is_integer(coded.values.type):
        return Texts(coded.codes, spelled)
    return _drop_duplicates(coded.codes, spelled)


def _encode(column: Any, spelling: str) -> Texts:
    """A flat column as codes and distinct values, of whatever type."""
    arrow = pyarrow()
    types, kind = arrow.types, column.type
    if column.null_count == len(column):
        # of whatever type: pandas has floating point for columns of nothing
        return Texts(np.full(len(column), -1, dtype=np.int32), arrow.array([], arrow.string()))
    if not is_text(kind) and not (_is_number(kind) or types.is_boolean(kind) or types.is_temporal(kind)):
        raise WrongTypeError(str(kind))
    if spelling == "text" and (_is_number(kind) or types.is_boolean(kind)):
        # 007 has become 7 by now, and 12e45 infinity
        raise WrongTypeError(str(kind))
    if spelling == "truth" and _is_number(kind):
        # 1 is neither true nor yes: as a level that nobody has seen it would say nothing
        raise WrongTypeError(str(kind))
    coded = column.dictionary_encode()
    codes = np.empty(len(column), dtype=np.int32)
    _fill_codes(coded.indices, 0, codes)
    return Texts(codes, coded.dictionary)


def _respell_texts(coded: Texts, spelling: str) -> Texts:
    compute = pyarrow("compute")
    other = compute.invert(compute.match_substring_regex(coded.values, _PLAIN))
    if not compute.any(other).as_py():  # as in most columns of whole numbers
        return coded
    respelled = _spell(coded.values.filter(other), spelling)
    return _drop_duplicates(coded.codes, compute.replace_with_mask(coded.values, other, respelled))


def _spell(values: Any, spelling: str) -> Any:
    """Distinct values as texts; None where one is missing."""
    arrow = pyarrow()
    kind = values.type
    if is_text(kind):
        return arrow.array([_respell(text, spelling) for text in values.to_pylist()], arrow.string())
    if arrow.types.is_floating(kind):
        return arrow.array([_spell_float(value) for value in values.to_pylist()], arrow.string())
    if arrow.types.is_decimal(kind):
        texts = [None if value is None else _spell_plainly(value) for value in values.to_pylist()]
        return arrow.array(texts, arrow.string())
    return values.cast(arrow.string())


def _spell_plainly(value: Decimal) -> str:
    """A number without an exponent, a plus sign, or zeros at its end."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _respell(text: str | None, spelling: str) -> str | None:
    if text is None:
        return None
    if spelling == "truth":
        return text.lower() if text.lower() in _TRUTH else text
    bare = text.strip()
    if re.match(r"[+-]?0\d", bare):  # a code
        match = _WHOLE.fullmatch(bare)
        return match[1] if match else text
    if not NUMBER.fullmatch(bare) or abs(float(bare)) == float("inf"):
        return text
    value = Decimal(bare)
    # avoid a text of a thousand zeros
    return _spell_plainly(value) if value.adjusted() > -400 else text


def _spell_float(value: float | None) -> str | None:
    if value is None or value != value:
        return None
    if abs(value) == float("inf"):
        return repr(value)
    return (
        str(int(value)) if abs(value) < 2**63 and value == int(value) else _spell_plainly(Decimal(repr(value)))
    )


def _drop_duplicates(codes: NDArray[np.int32], values: Any) -> Texts:
    """Texts with equal ones made one, and empty ones made missing."""
    arrow, compute = pyarrow(), pyarrow("compute")
    present = compute.fill_null(compute.not_equal(values, ""), False)
    again = compute.if_else(present, values, arrow.scalar(None, arrow.string())).dictionary_encode()
    places = np.append(again.indices.fill_null(-1).to_numpy(zero_copy_only=False), -1).astype(np.int32)
    return Texts(places[codes], again.dictionary)
