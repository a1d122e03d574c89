"""Dates and times as features: the hour of the day and the day of the week.

A point in time is of little use to a ranker: tomorrow's is larger than all it has seen. What comes back is
the hour and the weekday, so these are what a time column becomes.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow

#: Texts of the days, from Monday on.
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: Texts of the hours.
HOURS = tuple(str(hour) for hour in range(24))
#: Parts that a time column may become, and their values.
PARTS = {"hour": HOURS, "weekday": WEEKDAYS}

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d)(?::\d\d(?::\d\d(?:[.,]\d+)?)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?"
)
#: How whole numbers may spell a time: digits of year, month, day, hour, and of what follows.
_CODES = {
    "YYYYMMDD": (4, 2, 2, 0, 0),
    "YYMMDDHH": (2, 2, 2, 2, 0),
    "YYYYMMDDHH": (4, 2, 2, 2, 0),
    "YYYYMMDDHHMM": (4, 2, 2, 2, 2),
    "YYYYMMDDHHMMSS": (4, 2, 2, 2, 4),
}
#: Seconds or thousandths of them since 1970, between September 2001 and 2100.
_EPOCHS = {"seconds": (10**9, 4_102_444_800), "milliseconds": (10**12, 4_102_444_800_000)}
_TIME_WORDS = re.compile(r"time|epoch|(?:^|[^a-z])(?:ts|date)(?:$|[^a-z])")

Parts = dict[str, NDArray[np.int32]]


def parts_of(form: str) -> tuple[str, ...]:
    """What times of this form become."""
    if form in ("date", "YYYYMMDD"):
        return ("weekday",)
    return ("hour",) if form == "time of day" else ("hour", "weekday")


def form_of_type(kind: Any) -> str | None:
    """The form of an Arrow type that holds times; None for others."""
    types = pyarrow().types
    if types.is_timestamp(kind):
        return "timestamp"
    if types.is_date(kind):
        return "date"
    return "time of day" if types.is_time(kind) else None


def form_of_texts(texts: list[str]) -> str | None:
    """The form of texts that are all ISO 8601; None for others.

    Examples
    --------
    >>> from mbauc.readers.table.columns.times import form_of_texts
    >>> form_of_texts(["2014-10-21 05:00", "2014-10-22T17:31:02Z"]), form_of_texts(["2014-10-21"])
    ('timestamp', 'date')
    """
    matches = [_ISO.fullmatch(text) for text in texts]
    if not texts or not all(matches):
        return None
    _, bad = _parts_of_texts(texts)
    if bad.any():
        return None
    return "timestamp" if any(match and match[4] for match in matches) else "date"


def form_of_numbers(name: str, distinct: NDArray[np.int64]) -> str | None:
    """The form of whole numbers that all spell a time; None for others.

    Seconds and milliseconds since 1970 are taken for times only if the column's name says so
    (time, epoch, ts, date), because they look like any other large number.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.table.columns.times import form_of_numbers
    >>> form_of_numbers("hour", np.array([14102100, 14102123, 14103005]))
    'YYMMDDHH'
    >>> form_of_numbers("price", np.array([14102100, 14102199])) is None
    True
    """
    if distinct.size == 0 or distinct.min() < 1_000_000:
        return None
    for form in _CODES:
        if not _parts_of_numbers(distinct, form)[1].any():
            return form
    if _TIME_WORDS.search(name.lower()):
        for form, (low, high) in _EPOCHS.items():
            if distinct.min() >= low and distinct.max() <= high:
                return form
    return None


def calendar_parts(column: Any, form: str) -> tuple[Parts, NDArray[np.bool_]]:
    """Hour and weekday of each value of an Arrow array, and which values are no times.

    Parts are numbers into :data:`PARTS`; -1 stands for missing values. ``O(n)`` time.
    """
    arrow, compute = pyarrow(), pyarrow("compute")
    types = arrow.types
    present = column.is_valid().to_numpy(zero_copy_only=False)
    if form_of_type(column.type) is not None:
        parts: Parts = {}
        if not types.is_time(column.type):
            parts["weekday"] = _fill_missing(compute.day_of_week(column))
        if not types.is_date(column.type):
            parts["hour"] = _fill_missing(compute.hour(column))
        return parts, np.zeros(len(column), dtype=bool)
    if types.is_string(column.type) or types.is_large_string(column.type):
        coded = column.dictionary_encode()
        texts = [text.strip() for text in coded.dictionary.to_pylist()]
        known = form in _CODES or form in _EPOCHS
        distinct, wrong = _parts_of_digits(texts, form) if known else _parts_of_texts(texts)
        codes = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        if not len(texts):
            distinct, wrong = {part: np.full(1, -1, np.int32) for part in PARTS}, np.zeros(1, dtype=bool)
        parts = {
            part: np.where(present, values[codes], -1).astype(np.int32) for part, values in distinct.items()
        }
        return parts, present & wrong[codes]
    numbers = column.cast(arrow.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
    present &= ~np.isnan(numbers)
    whole = present & (np.abs(numbers) < 2**62) & (numbers == np.floor(numbers))
    found, wrong = _parts_of_numbers(np.where(whole, numbers, 0.0).astype(np.int64), form)
    return {part: np.where(whole, values, -1).astype(np.int32) for part, values in found.items()}, present & (
        ~whole | wrong
    )


def _fill_missing(values: Any) -> NDArray[np.int32]:
    """An Arrow array of small numbers with -1 for missing ones."""
    return np.asarray(values.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)


def _parts_of_texts(texts: list[str]) -> tuple[Parts, NDArray[np.bool_]]:
    fields = np.zeros((len(texts), 4), dtype=np.int64)
    for row, text in enumerate(texts):
        match = _ISO.fullmatch(text)
        if match:
            fields[row] = [int(group or 0) for group in match.groups()]
    return _check_dates(*fields.T)


def _parts_of_digits(texts: list[str], form: str) -> tuple[Parts, NDArray[np.bool_]]:
    digits = [text.removesuffix(".0") for text in texts]
    numbers = np.array(
        [int(text) if text.isdecimal() and len(text) < 19 else 0 for text in digits], dtype=np.int64
    )
    return _parts_of_numbers(numbers, form)


def _parts_of_numbers(numbers: NDArray[np.int64], form: str) -> tuple[Parts, NDArray[np.bool_]]:
    if form in _EPOCHS:
        low, high = _EPOCHS[form]
        seconds = numbers // (1000 if form == "milliseconds" else 1)
        parts = {
            "hour": (seconds // 3600 % 24).astype(np.int32),
            "weekday": ((seconds // 86_400 + 3) % 7).astype(np.int32),
        }
        return parts, (numbers < low) | (numbers > high)
    if form not in _CODES:  # a column of real times that came as numbers
        return {part: np.full(numbers.size, -1, np.int32) for part in PARTS}, np.ones(numbers.size, dtype=bool)
    year_digits, *_, rest_digits = _CODES[form]
    fields = []
    left = numbers // 10**rest_digits
    for digits in reversed(_CODES[form][1:4]):
        fields.append(left % 10**digits)  # of no digits: 0
        left = left // 10**digits
    hour, day, month = fields
    year = np.where(left < 70, 2000 + left, 1900 + left) if year_digits == 2 else left
    parts, bad = _check_dates(year, month, day, hour)
    if year_digits == 2:
        bad |= left > 99
    if rest_digits:
        rest = numbers % 10**rest_digits
        bad |= (rest % 100 > 59) | (rest // 100 > 59)
    return parts, bad | (numbers < 0)


def _check_dates(
    year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64], hour: NDArray[np.int64]
) -> tuple[Parts, NDArray[np.bool_]]:
    bad = (year < 1900) | (year > 2100) | (month < 1) | (month > 12) | (day < 1) | (hour > 23)
    months = np.where(bad, 0, (year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(bad, 0, day - 1)
    bad |= days.astype("datetime64[M]") != months  # the 31st of June
    weekday = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    return {"hour": hour.astype(np.int32), "weekday": weekday.astype(np.int32)}, bad
