"""Rows cut by a column: into levels of a segment, or into periods of time, each with its AUC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NoPairsError
from mbauc.estimators.additive.labels import short_number
from mbauc.metrics.group_table import table_of_groups
from mbauc.metrics.grouped import GroupedAuc, pairs_within_groups
from mbauc.metrics.ranked import RankedScores
from mbauc.readers.table.columns.times import form_of_numbers
from mbauc.rows.labels import is_missing

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Levels of a segment at most, distinct numbers up to which each is a level, and parts that others are cut in.
_LEVELS, _FEW_NUMBERS, _PARTS = 20, 10, 5
#: Periods at least where there are as many, at most, and where rows are cut into equally many.
_FEWEST, _MOST, _EQUAL = 6, 24, 12
#: Units of the calendar, and how many letters of a date name one.
_UNITS = (("m", 16), ("h", 13), ("D", 10), ("W", 10), ("M", 7), ("Y", 4))
#: What rows without a value are called.
NO_VALUE = "(missing)"


@dataclass(frozen=True)
class Levels:
    """AUC of the rows of each level; arrays with an entry each.

    Attributes
    ----------
    names : list of str
        What they are called.
    rows, positives : ndarray of shape (k,)
        How many, by weight where there are weights.
    auc, low, high : ndarray of shape (k,)
        AUC and DeLong's interval; NaN where a class is missing, or too small for an interval.
    """

    names: list[str]
    rows: Array
    positives: Array
    auc: Array
    low: Array
    high: Array

    def take(self, places: Any) -> Levels:
        """Some of the levels."""
        numbers = (self.rows, self.positives, self.auc, self.low, self.high)
        return Levels([self.names[k] for k in places], *(values[places] for values in numbers))

    def worst_first(self) -> Levels:
        """In the order of their AUCs; levels without one come last."""
        return self.take(np.argsort(self.auc, kind="stable"))

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One dict for each level."""
        for k, name in enumerate(self.names):
            numbers = (self.rows[k], self.positives[k], self.auc[k], self.low[k], self.high[k])
            keys = ("rows", "positives", "auc", "low", "high")
            yield {"level": name, **dict(zip(keys, map(float, numbers), strict=True))}


def measure_levels(ranked: RankedScores, codes: Codes, names: list[str], confidence: float = 0.95) -> Levels:
    """AUC within each level; ``codes`` say which level each row has, and -1 none. ``O(n log n)``."""
    kept = codes >= 0
    if not kept.all():
        ranked, codes = ranked.take(kept), codes[kept]
    size, weight = len(names), ranked.weights
    rows: Array = np.bincount(codes, weight, size).astype(np.float64)
    positives: Array = np.bincount(codes, weight * ranked.positive, size).astype(np.float64)
    found = np.full((3, size), np.nan)
    try:
        pairs = pairs_within_groups(ranked, codes)
    except NoPairsError:
        return Levels(names, rows, positives, *found)
    aucs = GroupedAuc.of(pairs, ranked.values)
    table = table_of_groups(ranked, codes, pairs, aucs, most=size, confidence=confidence)
    found[:, table.group] = table.auc, table.low, table.high
    return Levels(names, rows, positives, *found)


# -- levels of a segment --------------------------------------------------------------------------------------


def cut_levels(values: Any, n_rows: int, name: str) -> tuple[Codes, list[str]]:
    """The level of each row, and what levels are called.

    Texts are levels; the rarest of many are put together. Numbers of many values are cut into fifths, and times
    into periods. ``O(n log n)``.

    Examples
    --------
    >>> codes, names = cut_levels(["a", "b", None, "a"], 4, "plan")
    >>> codes.tolist(), names
    ([0, 1, 2, 0], ['a', 'b', '(missing)'])
    >>> cut_levels(range(100), 100, "age")[1]
    ['0 to 19', '20 to 39', '40 to 59', '60 to 79', '80 to 99']
    """
    column = _as_column(values, n_rows, f"segments[{name!r}]")
    missing = _find_missing(column)
    codes = np.full(n_rows, -1, dtype=np.intp)
    present = _read_decimals(column[~missing])
    if column.dtype.kind in "mM":
        found, names = _cut_times(present)
    elif present.dtype.kind in "iuf":
        found, names = _cut_numbers(present.astype(np.float64))
    else:
        found, names = _keep_frequent(np.array([str(value) for value in present], dtype=object))
    codes[~missing] = found
    if missing.any():
        codes[missing], names = len(names), [*names, NO_VALUE]
    return codes, names


def _read_decimals(values: NDArray[Any]) -> NDArray[Any]:
    """Texts as numbers if all are and one has a decimal point: codes such as 007 stay texts."""
    if values.dtype.kind not in "OU" or not any(isinstance(value, str) and "." in value for value in values):
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _cut_numbers(values: Array) -> tuple[Codes, list[str]]:
    distinct, codes = np.unique(values, return_inverse=True)
    if distinct.size <= _FEW_NUMBERS:
        return codes, [short_number(value, 6) for value in distinct.tolist()]
    return _cut_evenly(distinct, codes, _PARTS, lambda value: short_number(float(value), 6))


def _cut_evenly(distinct: NDArray[Any], codes: Codes, parts: int, write: Any) -> tuple[Codes, list[str]]:
    """Parts of about equally many rows, of which equal values share one, named by their ends."""
    counts = np.bincount(codes, minlength=distinct.size)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    _, part = np.unique(np.floor(parts * middle), return_inverse=True)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    ends = np.append(starts[1:], distinct.size) - 1
    texts = [(write(distinct[a]), write(distinct[b])) for a, b in zip(starts, ends, strict=True)]
    return part[codes], [first if first == last else f"{first} to {last}" for first, last in texts]


def _keep_frequent(texts: NDArray[Any]) -> tuple[Codes, list[str]]:
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(text, len(places)) for text in texts), np.intp, texts.size)
    names = list(places)
    if len(names) <= _LEVELS:
        return codes, names
    order = np.argsort(-np.bincount(codes), kind="stable")
    new = np.full(len(names), _LEVELS - 1, dtype=np.intp)
    new[order[: _LEVELS - 1]] = np.arange(_LEVELS - 1)
    kept = [names[k] for k in order[: _LEVELS - 1]]
    return new[codes], [*kept, f"({len(names) - len(kept):,} other values)"]


# -- periods of time ------------------------------------------------------------------------------------------


def cut_periods(values: Any, n_rows: int, name: str = "time") -> tuple[Codes, list[str]]:
    """The period of each row in the order of time, -1 for rows without one, and what periods are called.

    Dates and times, also as texts, become hours, days, weeks or months, whichever makes 6 to 24 of them, and
    otherwise parts of equally many rows, as do other values that can be sorted. ``O(n log n)``.

    Examples
    --------
    >>> import numpy as np
    >>> days = np.datetime64("2024-01-01") + np.arange(300)
    >>> cut_periods(days, 300)[1][:3]
    ['2024-01', '2024-02', '2024-03']
    >>> cut_periods(np.arange(1000), 1000)[1][:2]
    ['0 to 82', '83 to 166']
    """
    column = _as_column(values, n_rows, "time")
    missing = _find_missing(column)
    codes = np.full(n_rows, -1, dtype=np.intp)
    present = column[~missing]
    if not present.size:
        return codes, []
    moments = _as_moments(present, name)
    if moments is not None:
        codes[~missing], names = _cut_times(moments)
        return codes, names
    if present.dtype.kind == "O":
        present = present.astype(str)
    distinct, places = np.unique(present, return_inverse=True)
    codes[~missing], names = _cut_values(distinct, places)
    return codes, names


def _cut_values(distinct: NDArray[Any], places: Codes) -> tuple[Codes, list[str]]:
    def write(value: Any) -> str:
        return f"{value:.10g}" if isinstance(value, float) else str(value)

    if distinct.size <= _MOST:
        return places, [write(value) for value in distinct.tolist()]
    return _cut_evenly(distinct, places, _EQUAL, lambda value: write(value.item()))


def _cut_times(moments: NDArray[Any]) -> tuple[Codes, list[str]]:
    if moments.dtype.kind == "m":
        return _cut_values(*np.unique(moments.astype("timedelta64[s]").astype(np.int64), return_inverse=True))
    for unit, letters in _UNITS:
        # weeks of NumPy begin on Thursdays
        monday = np.timedelta64(3, "D") if unit == "W" else None
        shifted = moments if monday is None else moments.astype("datetime64[D]") + monday
        distinct, codes = np.unique(shifted.astype(f"datetime64[{unit}]"), return_inverse=True)
        if distinct.size <= _MOST:
            if distinct.size < _FEWEST and unit != "m":
                break  # the next finer unit has too many
            first = distinct if monday is None else distinct.astype("datetime64[D]") - monday
            return codes, [str(value).replace("T", " ")[:letters] for value in first]
    distinct, codes = np.unique(moments.astype("datetime64[s]"), return_inverse=True)
    return _cut_evenly(
        distinct, codes, _EQUAL, lambda value: str(value.astype("datetime64[m]")).replace("T", " ")
    )


def _as_moments(values: NDArray[Any], name: str) -> NDArray[Any] | None:
    """Points in time, in UTC where they say so; None for values that are none."""
    if values.dtype.kind in "mM":
        return values
    if values.dtype.kind in "iuf":
        whole = values.astype(np.int64)
        form = form_of_numbers(name, np.unique(whole)) if bool((whole == values).all()) else None
        units = {"seconds": "s", "milliseconds": "ms"}
        return whole.astype(f"datetime64[{units[form]}]") if form in units else None
    distinct, codes = np.unique(values.astype(str), return_inverse=True)
    first = dict(zip(values.astype(str), values, strict=True))
    try:
        return np.array([_as_moment(first[text]) for text in distinct], dtype="datetime64[us]")[codes]
    except ValueError:
        return None


def _as_moment(value: Any) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ValueError(f"no time: {value!r}")
    return (value if value.tzinfo is None else value.astimezone(UTC)).replace(tzinfo=None)


# -- columns --------------------------------------------------------------------------------------------------


def _as_column(values: Any, n_rows: int, name: str) -> NDArray[Any]:
    column = np.asarray(values if hasattr(values, "__array__") else list(values))
    if column.shape != (n_rows,):
        raise ValueError(f"{name} must have a value for each of the {n_rows:,} rows, got shape {column.shape}.")
    return column


def _find_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind in "OUS":
        return np.array([is_missing(value) or value == "" for value in column.tolist()], dtype=np.bool_)
    return np.asarray(column != column)
