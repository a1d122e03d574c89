"""What a column is, guessed from its Arrow type and its first rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.times import form_of_numbers, form_of_texts, form_of_type
from mbauc.readers.table.columns.values import MISSING_NUMBERS, flatten, is_text, parse_number, read_numbers
from mbauc.readers.table.columns.whole_numbers import EXACT, ID_ROWS, ID_SHARE, judge_whole_numbers

_WHOLE = re.compile(r"[+-]?\d+")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_OTHER_DATE = re.compile(r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)|\d{4}[./]\d{1,2}[./]\d{1,2})(?:[ T].*)?")


#: Columns that pandas makes of the index of a frame, and of a column whose name is empty.
_INDEX_NAME = re.compile(r"Unnamed: \d+(?:_level_\d+)?(?:\.\d+)?_*|__index_level_\d+__")


#: Rows that a file must have on average where each has an index of its own.
_INDEX_ROWS = 25


class Guess(NamedTuple):
    """What a column is taken for."""

    #: What it is.
    kind: str
    #: Why, in words for the user.
    why: str
    #: What its values are, for :func:`~mbauc.readers.table.columns.values.read_texts`.
    spelling: str = "text"
    #: How its values spell a time, if they do.
    form: str = ""


def guess(name: str, column: Any) -> Guess:
    """What a column is.

    - A column without a name, or with one by which pandas keeps the index of a frame, is an id if it is one:
      whole numbers or texts that differ in every row, or numbers that count up and, 25 rows later or more,
      begin again.
    - Truth values, texts and dictionaries are categories; texts that differ in 95% of 100 rows or more are ids.
    - Numbers with a fraction are numeric. Whole numbers are judged by
      :func:`~mbauc.readers.table.columns.whole_numbers.judge_whole_numbers`; texts of digits with leading
      zeros are codes. Whole floating-point numbers are judged like whole numbers if some are missing, because
      pandas turns whole numbers with missing ones into floating point.
    - Timestamps, dates, ISO 8601 texts and whole numbers that spell a time (YYMMDDHH and the like) are
      times. Dates in another order are left out, because day and month are ambiguous.
    - A column that is empty in the first rows is left out.

    ``O(n log n)`` time.

    Parameters
    ----------
    name : str
        Name of the column.
    column : Arrow array
        Its first values.
    """
    types = pyarrow().types
    dictionary = types.is_dictionary(column.type)
    values = flatten(column)
    kind = values.type
    form = form_of_type(kind)
    if values.null_count == len(values):
        return _empty(values, "truth" if types.is_boolean(kind) else "number", form or "")
    if is_index_name(name) and _is_row_index(values):
        return Guess("id", "row index that pandas writes, left out", "text" if is_text(kind) else "whole")
    if form is not None:
        return Guess("time", str(kind), form=form)
    if types.is_boolean(kind):
        return Guess("category", "truth values", "truth")
    if is_text(kind):
        return Guess("category", "dictionary of texts") if dictionary else _guess_texts(name, values)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        found = _guess_numbers(name, values)
        return found._replace(kind="category", why="dictionary of numbers", form="") if dictionary else found
    if types.is_duration(kind):
        return Guess("numeric", "durations, in seconds", "number")
    raise ValueError(
        f"column {name!r} holds {kind} values, which cannot become numbers. "
        + Advice(
            "Leave it out with {ignore}, or make columns of numbers or texts from it first.", ignore=[name]
        )
    )


def is_index_name(name: str) -> bool:
    """Whether a column's name is one that pandas gives to an index, or to a column without a name."""
    return _INDEX_NAME.fullmatch(name) is not None


def _is_row_index(values: Any) -> bool:
    """Whether values differ in every row or, like the indices of several files, count up and begin again."""
    arrow, compute = pyarrow(), pyarrow("compute")
    if values.null_count or arrow.types.is_floating(values.type) or arrow.types.is_boolean(values.type):
        return False
    if is_text(values.type):
        parsed, wrong = read_numbers(values)
        if wrong is None and (parsed != np.floor(parsed)).any():
            return False
    if compute.count_distinct(values).as_py() == len(values):
        return True
    try:
        counted = values.cast(arrow.int64()).to_numpy()
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return False
    again = counted == counted[0]
    return bool((again[1:] | (np.diff(counted) == 1)).all() and again.sum() * _INDEX_ROWS <= counted.size)


def _empty(values: Any, spelling: str = "number", form: str = "") -> Guess:
    # nothing was seen that numbers could have changed, so that they may come later
    return Guess("ignore", f"empty in all of the first {len(values):,} rows", spelling, form)


def _guess_numbers(name: str, values: Any) -> Guess:
    """Arrow numbers of any kind."""
    arrow = pyarrow()
    present = values.drop_null()
    if arrow.types.is_integer(values.type):
        if arrow.types.is_uint64(values.type):
            return _guess_digits(name, present.cast(arrow.string()).to_pylist())
        return _guess_whole(name, present.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    floats = present.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    floats = floats[~np.isnan(floats)]
    if floats.size == 0:
        return _empty(values)
    whole = bool(
        np.isfinite(floats).all() and (floats == np.floor(floats)).all() and np.abs(floats).max() < 2**62
    )
    if whole and floats.size < len(values):
        return _guess_whole(name, floats.astype(np.int64))
    return Guess("numeric", "floating-point numbers", "whole" if whole else "number")


def _guess_whole(name: str, values: NDArray[np.int64]) -> Guess:
    form = form_of_numbers(name, np.unique(values))
    if form is not None:
        return Guess("time", f"whole numbers that spell a time, {form}", "whole", form)
    kind, why = judge_whole_numbers(name, values)
    return Guess(kind, why, "whole")


def _guess_digits(name: str, digits: list[str]) -> Guess:
    """Texts of digits, perhaps beyond int64."""
    values = [int(text) for text in digits]
    if max(values) < 2**63 and min(values) >= -(2**63):
        return _guess_whole(name, np.array(values, dtype=np.int64))
    return _guess_beyond(values)


def _guess_beyond(values: Sequence[int] | Sequence[str]) -> Guess:
    """Whole numbers, some of which are beyond what floating point tells apart."""
    distinct = len(set(values))
    if len(values) >= ID_ROWS and distinct >= ID_SHARE * len(values):
        why = f"whole numbers beyond 2^53, {distinct:,} distinct in {len(values):,} rows"
        return Guess("id", why, "whole")
    return Guess("category", "whole numbers beyond 2^53", "whole")


def _guess_texts(name: str, values: Any) -> Guess:
    """Texts, among them all columns of a CSV file."""
    coded = values.dictionary_encode()
    distinct = [text for text in coded.dictionary.to_pylist() if text != ""]
    if not distinct:
        return _empty(values)
    if all(text.lower() in ("true", "false") for text in distinct):
        return Guess("category", "truth values", "truth")
    spelled = [text for text in distinct if text.strip() not in MISSING_NUMBERS]
    if spelled and all(_WHOLE.fullmatch(text.strip()) for text in spelled):
        code = next((text for text in spelled if _LEADING_ZERO.fullmatch(text.strip())), None)
        if code is not None:
            return Guess("category", f"digits with leading zeros, such as {code!r}")
        kept = set(spelled)
        return _guess_digits(name, [text for text in values.to_pylist() if text in kept])
    parsed = [parse_number(text) for text in spelled]
    if spelled and all(number is not None for number in parsed):
        whole = all(number == np.floor(number) for number in parsed if number is not None)
        if whole and any(_WHOLE.fullmatch(text.strip()) and abs(int(text)) > EXACT for text in spelled):
            # others among them may be written 1.5e+19, or 15.0
            kept = set(spelled)
            return _guess_beyond([text for text in values.to_pylist() if text in kept])
        return Guess("numeric", _number_reason(spelled), "whole" if whole else "number")
    form = form_of_texts(distinct)
    if form is not None:
        return Guess("time", f"ISO 8601 texts such as {distinct[0]!r}", form=form)
    if all(_OTHER_DATE.fullmatch(text.strip()) for text in distinct):
        return Guess(
            "ignore", f"dates such as {distinct[0]!r}: write them as 2014-10-21 to have their weekday used"
        )
    present = len(values) - values.null_count
    if present >= ID_ROWS and len(distinct) >= ID_SHARE * present:
        return Guess("id", f"texts, {len(distinct):,} distinct in {present:,} rows")
    return Guess("category", _text_reason(distinct, parsed))


def _number_reason(spelled: list[str]) -> str:
    """Why texts are numbers that are not spelled as whole ones: a point, or else an exponent."""
    if any("." in text and "e" not in text.lower() for text in spelled):
        return "numbers with a decimal point"
    return f"numbers, some with an exponent such as {next(t for t in spelled if 'e' in t.lower())!r}"


def _text_reason(distinct: list[str], parsed: list[float | None]) -> str:
    """Texts; if most of them are numbers, one that is not is named, as it may be a mistake."""
    odd = [text for text, number in zip(distinct, parsed, strict=False) if number is None]
    if len(parsed) == len(distinct) and len(distinct) >= 10 and len(odd) <= 0.1 * len(distinct):
        return f"numbers, but also texts such as {odd[0]!r}"
    return "texts"
