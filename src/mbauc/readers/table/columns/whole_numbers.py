"""Whole numbers that count or measure something, and whole numbers that only name something."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.columns.name_words import read_name

Integers = NDArray[np.int64]

#: Rows that a value needs before its neighbours' absence means anything.
_BUSY = 10
#: Rare values that are looked at together.
_WINDOW = 5
#: Share of a column's values that must look like codes.
_CODE_SHARE = 0.25
#: Distinct values up to which any valley among the frequencies marks a code.
_VERY_FEW = 6
#: Distinct values up to which a narrow valley does.
_FEW = 20
#: Rows below which nothing is called an id because its values differ.
ID_ROWS = 100
#: Share of distinct values from which a column is an id.
ID_SHARE = 0.95
#: Whole numbers beyond this are no longer distinct as floating-point numbers.
EXACT = 2**53

#: Digits from which numbers that all have as many name something: cards, phones, accounts.
_LONG = 9
#: Share of distinct whole numbers that are multiples of ten, from which on they are amounts that were rounded.
_ROUND_SHARE = 0.9


class Judgement(NamedTuple):
    """What a column is taken for, and why."""

    #: ``"numeric"``, ``"category"`` or ``"id"``.
    kind: str
    #: The reason, in words for the user.
    why: str


def judge_whole_numbers(name: str, values: Integers) -> Judgement:
    """Whether whole numbers are quantities, codes or row ids.

    The first of these that applies decides:

    1. Numbers beyond 2⁵³, which floating point cannot tell apart: *id* if at least 95% of the values are
       distinct (and there are 100 or more), else *category*.
    2. At most two distinct values: *numeric*; one column says all there is to say.
    3. A name with a word such as id, hash, card, account, phone: as in 1. So too numbers that have 9 digits or
       more, all as many, and are not round: cards and phones.
    4. A name with a word such as count, amount, price, age, year: *numeric*.
    5. At least 100 values, all distinct, that only rise or only fall: a serial number, *id*.
    6. A name with a word such as code, type, status, zip, month, or *day of week*: *category*.
       :mod:`~mbauc.readers.table.columns.name_words` has all words, and which of several counts.
    7. **Codes leave holes, quantities do not.** The frequencies of a quantity change smoothly from value to
       value: where two neighbouring values are frequent, those between them occur as well. Of all pairs of
       neighbouring distinct values (in units of the differences' greatest common divisor)

       - those with 10 rows or more at one of the two are *holes* if the rows to be expected between them,
         interpolated geometrically, are 10 or more and there are none;
       - among rarer values, five in a row span R numbers and hold n rows: of a smooth quantity about
         R (1 - (1 - 1/R)ⁿ) of the numbers would occur. The share that is missing counts as holes.

       A quarter of the pairs or more: *category*.
    8. **Codes are in no order.** At most 20 distinct values, one of which has less than half the rows of
       both its neighbours, or at most 6, one of which has less than half the rows of others on both sides
       (in each case by more than three standard errors): *category*.
    9. Otherwise: *numeric*.

    A sentinel (999, -1) beside many values is one hole and changes nothing. What no look at the values can
    tell: codes that are numbered without holes and whose frequencies happen to fall smoothly (they pass for
    counts), and amounts or durations that people round (they leave holes as codes do).

    ``O(n log n)`` time.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray of int64
        The values in the order of the rows, without the missing ones.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.table.columns.whole_numbers import judge_whole_numbers
    >>> rng = np.random.default_rng(0)
    >>> judge_whole_numbers("C14", rng.choice([15706, 15704, 18993, 16920, 20362], size=1000))
    Judgement(kind='category', why='whole numbers with holes between frequent values (4 of 4 pairs)')
    >>> judge_whole_numbers("visits", rng.poisson(3, size=1000)).kind
    'numeric'
    >>> judge_whole_numbers("line", np.arange(1000)).kind
    'id'
    """
    distinct, counts = np.unique(values, return_counts=True)
    n, m = values.size, distinct.size
    large = m > 0 and (int(distinct[-1]) > EXACT or int(distinct[0]) < -EXACT)
    if m <= 2 and not large:
        return Judgement("numeric", f"whole numbers with {m} distinct value{'s' if m != 1 else ''}")
    unique = n >= ID_ROWS and m >= ID_SHARE * n
    said = read_name(name)
    if large or names_things(name, distinct):
        why = "whole numbers beyond 2^53" if large else "whole numbers, named an id"
        if not large and said != "id":
            why = f"whole numbers of {len(str(distinct[0]))} digits each"
        if unique:
            return Judgement("id", f"{why}, {m:,} distinct in {n:,} rows")
        return Judgement("category", why)
    if said == "quantity":
        return Judgement("numeric", f"whole numbers, named a quantity ({m:,} distinct)")
    if (
        n >= ID_ROWS
        and m == n
        and (bool((values[1:] > values[:-1]).all()) or bool((values[1:] < values[:-1]).all()))
    ):
        return Judgement("id", "whole numbers that differ in every row and only rise or fall")
    if said == "code":
        return Judgement("category", "whole numbers, named a code")
    holes = _holes(distinct, counts)
    if holes >= _CODE_SHARE * (m - 1):
        return Judgement(
            "category", f"whole numbers with holes between frequent values ({holes:.0f} of {m - 1:,} pairs)"
        )
    if m <= _FEW and _has_valley(counts, narrow=m > _VERY_FEW):
        return Judgement("category", f"{m} whole numbers whose frequencies fall and rise again")
    return Judgement("numeric", f"whole numbers without holes ({m:,} distinct)")


def names_things(name: str, distinct: Integers) -> bool:
    """Whether whole numbers name something: by the column's name, or all have as many digits, 9 or more."""
    said = read_name(name)
    if said is not None or distinct.size <= 2 or are_round(distinct):
        return said == "id"
    low, high = int(distinct[0]), int(distinct[-1])
    return low > 0 and len(str(low)) == len(str(high)) >= _LONG


def are_round(distinct: Integers) -> bool:
    """Whether 90% of distinct whole numbers are multiples of ten, as amounts that people round."""
    return bool((distinct % 10 == 0).mean() >= _ROUND_SHARE)


def _holes(distinct: Integers, counts: Integers) -> float:
    """How many pairs of neighbouring distinct values have a hole between them (see rule 7)."""
    gap = np.diff(distinct).astype(np.uint64)  # the difference of two int64 may need all 64 bits
    gap = gap // np.gcd.reduce(gap)
    low = np.minimum(counts[1:], counts[:-1]).astype(np.float64)
    high = np.maximum(counts[1:], counts[:-1]).astype(np.float64)
    busy = high >= _BUSY
    step = (low / high) ** (1.0 / gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(step < 1.0, high * (step - low / high) / (1.0 - step), high * (gap - 1.0))
    holes = float((busy & (gap > 1) & (between >= _BUSY)).sum())
    return holes + _missing_share(gap, counts) * float((~busy).sum())


def _missing_share(gap: NDArray[np.uint64], counts: Integers) -> float:
    """Share of the numbers that a smooth density would show among rare values and that do not occur."""
    seen = expected = 0.0
    rare = counts < _BUSY
    edges = np.flatnonzero(np.diff(np.r_[False, rare, False].astype(np.int8)))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        windows = (stop - start) // _WINDOW
        if windows == 0:
            continue
        first = start + _WINDOW * np.arange(windows)
        places = np.r_[0.0, np.cumsum(gap[start : stop - 1], dtype=np.float64)]
        numbers = places[first + _WINDOW - 1 - start] - places[first - start] + 1.0
        rows = np.add.reduceat(counts[start : start + windows * _WINDOW], first - start)
        expected += float((-numbers * np.expm1(rows * np.log1p(-1.0 / numbers))).sum())
        seen += float(_WINDOW * windows)
    return max(0.0, 1.0 - seen / expected) if expected > 0 else 0.0


def _has_valley(counts: Integers, narrow: bool) -> bool:
    """Whether some frequency is well below larger ones on both sides, next to it if ``narrow``."""
    left, right = counts[:-2], counts[2:]
    if not narrow:
        left, right = np.maximum.accumulate(left), np.maximum.accumulate(right[::-1])[::-1]
    rim = np.minimum(left, right)
    middle = counts[1:-1]
    return bool(((middle < 0.5 * rim) & (middle + 3.0 * np.sqrt(rim) < rim)).any())
