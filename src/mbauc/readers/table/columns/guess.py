"""What a column is, guessed from its Arrow type and its first rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.label_evidence import Array, prefer_levels
from mbauc.readers.table.columns.name_words import read_name
from mbauc.readers.table.columns.number_texts import MINUS, MISSING_NUMBERS, NUMBER, find_marks, parse_number
from mbauc.readers.table.columns.times import MONTH_NAME, form_of_numbers, form_of_type, possible_forms
from mbauc.readers.table.columns.values import TRUTH_PAIRS, flatten, is_text, read_numbers
from mbauc.readers.table.columns.whole_numbers import (
    EXACT,
    ID_ROWS,
    ID_SHARE,
    judge_whole_numbers,
    names_things,
)

_WHOLE = re.compile(r"[+-]?\d+")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_SHORT_DATE = re.compile(rf"(?:\d{{1,2}}[./-]\d{{1,2}}[./-]|\d{{1,2}}[-/ ]{MONTH_NAME}[-/ ])\d\d(?:[ T].*)?")
#: Numbers in plain text, and some with a decimal point and no exponent, for Arrow.
_DECIMAL, _POINT = rf"^(?:{NUMBER.pattern})$", r"^[^eE]*\.[^eE]*$"
#: Why the latter are numbers.
_DECIMAL_POINT = "numbers with a decimal point"

#: Columns that pandas makes of the index of a frame, and of a column whose name is empty.
_INDEX_NAME = re.compile(r"Unnamed: \d+(?:_level_\d+)?(?:\.\d+)?_*|__index_level_\d+__")


#: Rows that a file must have on average where each has an index of its own.
_INDEX_ROWS = 25
#: Whole numbers up to this, written with an exponent or as floating point, may be codes of 64 bits.
_MOST_CODE = 2.0**64
#: Distinct texts from which on a few that are no numbers may be mistakes, and the largest share of these.
_LEAST_NUMBERS, _ODD_SHARE = 10, 0.1
#: Distinct whole numbers up to which labels may say that they are no slope.
_FEW = 10


class Guess(NamedTuple):
    """What a column is taken for."""

    #: What it is.
    kind: str
    #: Why, in words for the user.
    why: str
    #: What its values are, for :func:`~mbauc.readers.table.columns.values.read_texts`.
    spelling: str = "text"
    #: How its values spell a time, if they do; signs that stand beside its numbers.
    form: str = ""
    #: What makes the guess doubtful, in words for the user; empty if nothing does.
    doubt: str = ""


def guess(name: str, column: Any, y: Array | None = None) -> Guess:
    """What a column is, where numbers have a slope.

    - A column without a name, or with one by which pandas keeps the index of a frame, is an id if it is one:
      whole numbers or texts that differ in every row, or numbers that count up and, 25 rows later or more,
      begin again.
    - Truth values, texts and dictionaries are categories; texts that differ in 95% of 100 rows or more are ids.
    - Numbers with a fraction are numeric, and so are texts of numbers with one currency sign, percent signs,
      commas between thousands or decimal commas. Whole numbers are judged by
      :func:`~mbauc.readers.table.columns.whole_numbers.judge_whole_numbers`; texts of digits with leading
      zeros are codes. Whole floating-point numbers are judged like whole numbers if some are missing, because
      pandas turns whole numbers with missing ones into floating point.
    - Whole numbers beyond 2⁵³ are ids or categories in any spelling, up to 2⁶⁴ also with an exponent.
    - Timestamps, dates, texts that are dates and whole numbers that spell a time (YYMMDDHH and the like) are
      times. Dates whose day and month cannot be told apart are left out.
    - Where labels are given, whole numbers of 3 to 10 values are a category if levels explain the labels better
      than a line, and codes are numeric if a line explains them better than levels.
    - A column that is empty in the first rows is left out.

    ``O(n log n)`` time.

    Parameters
    ----------
    name : str
        Name of the column.
    column : Arrow array
        Its first values.
    y : ndarray, optional
        Labels of these rows, 0 and 1, NaN where one is missing.
    """
    found = _guess(name, column)
    return found if y is None else weigh_labels(found, name, column, y, line=True)


def weigh_labels(found: Guess, name: str, column: Any, y: Array, *, line: bool) -> Guess:
    """The guess about a column of whole numbers, or the other one if labels speak for that clearly.

    A name that says what the column is, and numbers that name something, stand. ``line`` as in
    :func:`~mbauc.readers.table.columns.label_evidence.prefer_levels`.
    """
    if found.spelling != "whole" or found.kind not in ("numeric", "category") or read_name(name) is not None:
        return found
    numbers, wrong = read_numbers(column)
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if wrong is not None or np.abs(distinct).max() > EXACT or names_things(name, distinct.astype(np.int64)):
        return found
    levels = prefer_levels(numbers, y, line=line)
    order = "slope" if line else "curve"
    if levels is False and found.kind == "category":
        return Guess("numeric", f"whole numbers, whose {order} tells more of the label than levels", "whole")
    if levels and found.kind == "numeric" and (not line or distinct.size <= _FEW):
        return Guess("category", f"whole numbers, whose levels tell more of the label than a {order}", "whole")
    return found


def _guess(name: str, column: Any) -> Guess:
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
            return _guess_digits(name, present.to_pylist())
        return _guess_whole(name, present.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    if arrow.types.is_decimal(values.type):
        return _guess_decimals(name, present.to_pylist(), values.type.scale)
    floats = present.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    floats = floats[~np.isnan(floats)]
    if floats.size == 0:
        return _empty(values)
    whole = bool(np.isfinite(floats).all() and (floats == np.floor(floats)).all())
    if whole and EXACT < np.abs(floats).max() <= _MOST_CODE:
        return _guess_beyond(floats.tolist())
    if whole and floats.size < len(values) and np.abs(floats).max() <= EXACT:
        return _guess_whole(name, floats.astype(np.int64))
    return Guess("numeric", "floating-point numbers", "whole" if whole else "number")


def _guess_decimals(name: str, values: list[Decimal], scale: int) -> Guess:
    whole = all(value == value.to_integral_value() for value in values)
    if whole and scale <= 0:
        return _guess_digits(name, list(map(int, values)))
    if whole and max(map(abs, values)) > EXACT:
        return _guess_beyond(values)
    return Guess("numeric", "decimal numbers", "whole" if whole else "number")


def _guess_whole(name: str, values: NDArray[np.int64]) -> Guess:
    form = form_of_numbers(name, np.unique(values))
    if form is not None:
        return Guess("time", f"whole numbers that spell a time, {form}", "whole", form)
    kind, why = judge_whole_numbers(name, values)
    return Guess(kind, why, "whole")


def _guess_digits(name: str, values: list[int]) -> Guess:
    """Whole numbers, perhaps beyond int64."""
    if max(values) < 2**63 and min(values) >= -(2**63):
        return _guess_whole(name, np.array(values, dtype=np.int64))
    return _guess_beyond(values)


def _guess_beyond(values: Sequence[Any], spelling: str = "whole", form: str = "") -> Guess:
    """Whole numbers, some of which are beyond what floating point tells apart."""
    distinct = len(set(values))
    if len(values) >= ID_ROWS and distinct >= ID_SHARE * len(values):
        why = f"whole numbers beyond 2^53, {distinct:,} distinct in {len(values):,} rows"
        return Guess("id", why, spelling, form)
    return Guess("category", "whole numbers beyond 2^53", spelling, form)


def _guess_texts(name: str, values: Any) -> Guess:
    """Texts, among them all columns of a CSV file."""
    coded = values.dictionary_encode()
    if _are_decimals(coded.dictionary):
        numbers, _ = read_numbers(coded.dictionary)
        whole = bool((numbers == np.floor(numbers)).all())
        if np.isfinite(numbers).all() and (not whole or np.abs(numbers).max() <= EXACT):
            return Guess("numeric", _DECIMAL_POINT, "whole" if whole else "number")
    distinct = [text for text in coded.dictionary.to_pylist() if text != ""]
    if not distinct:
        return _empty(values)
    truth = _find_truth(distinct)
    if truth is not None:
        return truth
    spelled = [text for text in distinct if text.strip() not in MISSING_NUMBERS]
    if spelled:
        kept = set(spelled)
        found = _guess_spelled(name, spelled, lambda: [text for text in values.to_pylist() if text in kept])
        if found is not None:
            return found
    odd = _find_odd(spelled)
    doubt = _doubt_texts(name, values, spelled, odd) if odd else ""
    present = len(values) - values.null_count
    if present >= ID_ROWS and len(distinct) >= ID_SHARE * present:
        return Guess("id", f"texts, {len(distinct):,} distinct in {present:,} rows", doubt=doubt)
    why = f"numbers, but also texts such as {odd[0]!r}" if odd else "texts"
    return Guess("category", why, doubt=doubt)


def _are_decimals(distinct: Any) -> bool:
    """Whether texts are all plain numbers, with a decimal point in one: so are most, and soon seen by Arrow."""
    compute = pyarrow("compute")
    some = compute.any(compute.match_substring_regex(distinct, pattern=_POINT)).as_py()
    return bool(some and compute.all(compute.match_substring_regex(distinct, pattern=_DECIMAL)).as_py())


def _find_truth(distinct: list[str]) -> Guess | None:
    words = {text.lower() for text in distinct}
    if not any(words <= set(pair) for pair in TRUTH_PAIRS):
        return None
    # names of levels stay as they are, unless one is written in two ways or true and false may come as such
    mixed = len(words) < len(distinct) or words <= {"true", "false"}
    return Guess("category", "truth values", "truth" if mixed else "text")


def _guess_spelled(name: str, spelled: list[str], read_rows: Callable[[], list[str]]) -> Guess | None:
    """Distinct texts, none of them missing, that are all numbers or all dates; None for others."""
    bare = [text.strip() for text in spelled]
    if all(map(_WHOLE.fullmatch, bare)):
        code = next((text for text in bare if _LEADING_ZERO.fullmatch(text)), None)
        if code is not None:
            return Guess("category", f"digits with leading zeros, such as {code!r}")
        return _guess_digits(name, list(map(int, read_rows())))
    marks = find_marks(bare)
    if marks is not None:
        return _guess_marked(name, bare, marks, read_rows)
    forms = possible_forms(bare)
    if len(forms) == 1:
        order = forms[0].removesuffix("timestamp").removesuffix("date").strip() or "ISO 8601"
        return Guess("time", f"{order} texts such as {spelled[0]!r}", form=forms[0])
    if forms:
        why = f"dates such as {spelled[0]!r}, whose day and month cannot be told apart: "
        said = [Advice("{types}", types={name: order}) for order in ("day-first", "month-first")]
        return Guess("ignore", why + said[0] + " or " + said[1], form=forms[0])
    if all(map(_SHORT_DATE.fullmatch, bare)):
        why = f"dates such as {spelled[0]!r}: write them as 2014-10-21 to have their weekday used"
        return Guess("ignore", why)
    return None


def _guess_marked(name: str, bare: list[str], marks: str, read_rows: Callable[[], list[str]]) -> Guess:
    """Distinct texts of numbers, some of them with a fraction, an exponent or marks."""
    numbers = np.array([parse_number(text, marks) for text in bare], dtype=np.float64)
    whole = bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
    if whole and np.abs(numbers).max() > EXACT:
        digits = np.array(["e" not in text.lower() for text in bare])
        if (np.abs(numbers[digits]) > EXACT).any() or np.abs(numbers).max() <= _MOST_CODE:
            return _guess_beyond(read_rows(), "text" if marks else "whole", marks)
    if marks:
        words = {
            "": "numbers with a minus sign",
            ",": "numbers with commas",
            ".": "numbers with a decimal comma",
        }
        what = "percentages" if "%" in marks else words.get(marks.replace(MINUS, ""), "amounts")
        example = next(text for text in bare if parse_number(text) is None)
        return Guess("numeric", f"{what} such as {example!r}", "text", marks)
    return Guess("numeric", _number_reason(bare), "whole" if whole else "number")


def _number_reason(spelled: list[str]) -> str:
    """Why texts are numbers that are not spelled as whole ones: a point, or else an exponent."""
    if any("." in text and "e" not in text.lower() for text in spelled):
        return _DECIMAL_POINT
    return f"numbers, some with an exponent such as {next(t for t in spelled if 'e' in t.lower())!r}"


def _find_odd(spelled: list[str]) -> list[str]:
    """Distinct texts that are no numbers, if nearly all others are: they may be mistakes."""
    odd = [text for text in spelled if parse_number(text) is None]
    return odd if len(spelled) >= _LEAST_NUMBERS and len(odd) <= _ODD_SHARE * len(spelled) else []


def _doubt_texts(name: str, values: Any, spelled: list[str], odd: list[str]) -> str:
    """How many values are no numbers, where the column would be numeric without them; else nothing."""
    others, strange = set(spelled) - set(odd), set(odd)
    rows = [text for text in values.to_pylist() if text in others]
    found = _guess_spelled(name, [text for text in spelled if text in others], lambda: rows)
    if found is None or found.kind != "numeric":
        return ""
    count = sum(text in strange for text in values.to_pylist())
    if count > _ODD_SHARE * (len(rows) + count):
        return ""
    none = "is not a number" if count == 1 else "are not numbers"
    shown = repr(odd[0]) if len(odd) == 1 else f"such as {odd[0]!r}"
    return f"{count:,} of {len(rows) + count:,} values {none} ({shown})"
