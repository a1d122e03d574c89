"""Dates and times as features: the hour of the day and the day of the week.

A point in time is of little use to a ranker: tomorrow's is larger than all it has seen. What comes back is
the hour and the weekday, so these are what a time column becomes.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.name_words import read_name
from mbauc.readers.table.columns.number_texts import MISSING_NUMBERS

#: Texts of the days, from Monday on.
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: Texts of the hours.
HOURS = tuple(str(hour) for hour in range(24))
#: Parts that a time column may become, and their values.
PARTS = {"hour": HOURS, "weekday": WEEKDAYS}

#: The beginnings of English names of months, and a pattern for one in any case.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAME = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_CLOCK = (
    r"(?:[ T](?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d+)?))?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?)?"
    r"(?: ?(?P<zone>Z|UTC|[+-]\d\d(?::?\d\d)?))?"
)
#: The orders in which texts may have year, month and day.
_ORDERS = {
    "": re.compile(r"(?P<year>\d{4})(?P<sign>[-./])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)" + _CLOCK),
    "day-first ": re.compile(
        r"(?P<day>\d\d?)(?:(?P<sign>[-./])(?P<month>\d\d?)(?P=sign)"
        rf"|[-./ ](?P<name>{MONTH_NAME})(?:[-/]|[.,]? ?))(?P<year>\d{{4}})" + _CLOCK
    ),
    "month-first ": re.compile(
        rf"(?:(?P<month>\d\d?)(?P<sign>[-./])|(?P<name>{MONTH_NAME})(?:[-/]|\.? ))"
        r"(?P<day>\d\d?)(?(sign)(?P=sign)|(?:[-/]|, ?| ))(?P<year>\d{4})" + _CLOCK
    ),
}
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
#: Such numbers are times whatever their name if they lie between 2004 and 2033, within 18 years of each other.
_LIKELY_EPOCHS = {
    "seconds": (1_100_000_000, 2_000_000_000),
    "milliseconds": (1_100_000_000_000, 2_000_000_000_000),
}
_LIKELY_SPAN = 18 / 28.5
#: Distinct values that it takes to say so, and how many times as widely they are spread, at least.
_LIKELY_VALUES, _LIKELY_SPREAD = 20, 4
_TIME_WORDS = re.compile(r"time|epoch|(?:^|[^a-z])(?:ts|date)(?:$|[^a-z])")

#: Names of one zone.
_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00", "-00:00")
_FIRST_DAY = date(1970, 1, 1)

Parts = dict[str, NDArray[np.int32]]


def parts_of(form: str) -> tuple[str, ...]:
    """What times of this form become."""
    if form.endswith("date") or form == "YYYYMMDD":
        return ("weekday",)
    return ("hour",) if form == "time of day" else ("hour", "weekday")


def form_of_type(kind: Any) -> str | None:
    """The form of an Arrow type that holds times, with their zone if they have one; None for others."""
    types = pyarrow().types
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else f"timestamp {kind.tz}"
    if types.is_date(kind):
        return "date"
    return "time of day" if types.is_time(kind) else None


def zone_of(form: str) -> str:
    """The zone that a form of times names; empty if it names none.

    Examples
    --------
    >>> from mbauc.readers.table.columns.times import zone_of
    >>> zone_of("timestamp Europe/Berlin"), zone_of("timestamp +00:00"), zone_of("month-first timestamp")
    ('Europe/Berlin', 'UTC', '')
    """
    zone = form.removeprefix("timestamp ") if form.startswith("timestamp ") else ""
    return "UTC" if zone in _UTC else zone


def form_of_texts(texts: list[str]) -> str | None:
    """The form of texts that are all dates in one order; None for others, and where the order is unclear.

    Year, month and day is one order (ISO 8601). Where the year is last, the order of day and month must be
    clear from the values: 21.10.2014 has no 21st month, and 5 Oct 2014 names it. The time of day may follow.

    Examples
    --------
    >>> from mbauc.readers.table.columns.times import form_of_texts
    >>> form_of_texts(["2014-10-21 05:00", "2014-10-22T17:31:02Z"]), form_of_texts(["2014-10-21"])
    ('timestamp', 'date')
    >>> form_of_texts(["21.10.2014", "05.10.2014"]), form_of_texts(["5/10/2014 5:30 PM", "5/21/2014 1:00 AM"])
    ('day-first date', 'month-first timestamp')
    >>> form_of_texts(["05.10.2014"]) is None, form_of_texts(["05 Oct 2014"]), form_of_texts(["Oct 5, 2014"])
    (True, 'day-first date', 'month-first date')
    """
    forms = possible_forms(texts)
    return forms[0] if len(forms) == 1 else None


def possible_forms(texts: list[str]) -> list[str]:
    """The forms in which texts are all dates. Two if day and month cannot be told apart. ``O(n)`` time."""
    forms = []
    for order, pattern in _ORDERS.items():
        matches = [match for match in map(pattern.fullmatch, texts) if match]
        if texts and len(matches) == len(texts) and not _parts_of_texts(texts, order)[1].any():
            forms.append(order + ("timestamp" if any(match["hour"] for match in matches) else "date"))
    return forms


def form_of_numbers(name: str, distinct: NDArray[np.int64]) -> str | None:
    """The form of whole numbers that all spell a time; None for others.

    Seconds and milliseconds since 1970 look like any other large number. They are taken for times if the
    column's name says so (time, epoch, ts, date), or if 20 or more lie between 2004 and 2033 and within 18
    years, are no serial numbers, and the name says nothing else.

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
    span = int(distinct.max()) - int(distinct.min())
    if read_name(name) is None and distinct.size >= _LIKELY_VALUES and span >= _LIKELY_SPREAD * distinct.size:
        for form, (low, high) in _LIKELY_EPOCHS.items():
            if low <= distinct.min() and distinct.max() <= high and span <= _LIKELY_SPAN * (high - low):
                return form
    return None


def seconds_of_texts(texts: list[str], form: str = "") -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Seconds since 1970 of texts, NaN for those that spell a missing time, and which of them are no times.

    Without a zone they are in UTC. ``form`` is that of the column where it is known: it says whether the day or
    the month is first; otherwise the texts have to tell it. ``O(n)`` time.

    Examples
    --------
    >>> from mbauc.readers.table.columns.times import seconds_of_texts
    >>> seconds_of_texts(["02.01.1970", "14.01.1970 00:00:01", "NA"])[0].tolist()
    [86400.0, 1123201.0, nan]
    >>> seconds_of_texts(["1970-01-01 01:00+01:00", "soon"])[1].tolist()
    [False, True]
    """
    texts = [text.strip() for text in texts]
    missing = np.array([text in MISSING_NUMBERS for text in texts], dtype=bool)
    if not form:
        form = form_of_texts([text for text, none in zip(texts, missing, strict=True) if not none]) or ""
    order = next((order for order in _ORDERS if order and form.startswith(order)), "")
    seconds = np.array(
        [np.nan if none else _seconds(text, order) for text, none in zip(texts, missing, strict=True)]
    )
    return seconds, np.isnan(seconds) & ~missing


def _seconds(text: str, order: str) -> float:
    """Seconds since 1970 of a text in an order of its parts, or of ISO 8601; NaN if it is no time."""
    match = _ORDERS[order].fullmatch(text)
    if match is not None:
        zone = match["zone"] or ""
        sign, digits = zone[:1], zone[1:].replace(":", "") if zone[:1] in "+-" else ""
        shift = 3600 * int(digits[:2]) + 60 * int(digits[2:] or 0) if digits else 0
        clock = (
            3600 * _hour(match)
            + 60 * int(match["minute"] or 0)
            + float((match["second"] or "0").replace(",", "."))
        )
        try:
            day = date(int(match["year"]), _month(match), int(match["day"]))
        except ValueError:
            return float("nan")
        return 86_400.0 * (day - _FIRST_DAY).days + clock - (-shift if sign == "-" else shift)
    try:
        point = datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (point if point.tzinfo is not None else point.replace(tzinfo=UTC)).timestamp()


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
        order = next((order for order in _ORDERS if order and form.startswith(order)), "")
        distinct, wrong = _parts_of_digits(texts, form) if known else _parts_of_texts(texts, order)
        missing = np.array([text in MISSING_NUMBERS for text in texts], dtype=bool)
        distinct = {part: np.where(missing, -1, values) for part, values in distinct.items()}
        wrong &= ~missing
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


def _parts_of_texts(texts: list[str], order: str) -> tuple[Parts, NDArray[np.bool_]]:
    fields = np.zeros((len(texts), 4), dtype=np.int64)
    for row, text in enumerate(texts):
        match = _ORDERS[order].fullmatch(text)
        if match:
            fields[row] = [int(match["year"]), _month(match), int(match["day"]), _hour(match)]
    return _check_dates(*fields.T)


def _month(match: re.Match[str]) -> int:
    """The month of a text that is a time, from 1 on."""
    named = match.groupdict().get("name")
    return int(match["month"]) if named is None else 1 + _MONTHS.index(named[:3].lower())


def _hour(match: re.Match[str]) -> int:
    """The hour of a text that is a time, of 24."""
    hour = int(match["hour"] or 0)
    if match["half"] and 1 <= hour <= 12:  # 12 AM is midnight
        return hour % 12 + 12 * (match["half"] in "Pp")
    return hour


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
