"""Texts that spell numbers: plain ones, missing ones, and those with a currency, a percent sign or commas.

In some countries 1,234.50 is 1.234,50: points between thousands, and a decimal comma.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Spellings of a missing number. A category is missing only if it is empty: NA may be Namibia.
MISSING_NUMBERS = frozenset(
    {
        *("", "-", "--", "?", "#N/A", "#NA", "N/A", "NA", "n/a", "na", "<NA>", "NaT", "\\N"),
        *("NaN", "nan", "NAN", "NULL", "Null", "null", "None", "none", "NONE"),
    }
)
#: A number in plain text.
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
#: The minus sign of typography, which is no hyphen.
MINUS = "\N{MINUS SIGN}"
_CURRENCIES = "$€£¥₹"
_MARKED = re.compile(
    rf"([+-]?)([{_CURRENCIES}]?) ?([+-]?)(\d{{1,3}}(?:,\d{{3}})+|\d+|(?=\.\d))(\.\d*)? ?([%{_CURRENCIES}]?)"
)


#: Points as commas, and commas as points.
_SWAPPED = str.maketrans(",.", ".,")


def parse_number(text: str, marks: str = "") -> float | None:
    """The number that a text spells, NaN if it spells a missing one, None if it is no number.

    Parameters
    ----------
    text : str
        A value.
    marks : str, default=""
        What may stand in it besides the number: one of ``$€£¥₹%``, and ``,`` between thousands. They are left
        out: 12% is 12. With ``.`` between thousands, the decimal sign is a comma. With ``−`` (U+2212), it is a
        minus as ``-`` is.

    Examples
    --------
    >>> from mbauc.readers.table.columns.number_texts import parse_number
    >>> parse_number(" 2.5 "), parse_number("NA"), parse_number("12 kg"), parse_number("1_000")
    (2.5, nan, None, None)
    >>> parse_number("-$1,200.50", "$,"), parse_number("1,200"), parse_number("1,20", ",")
    (-1200.5, None, None)
    >>> parse_number("1.200,50 €", "€."), parse_number("1.200", "."), parse_number("1.20", ".")
    (1200.5, 1200.0, None)
    """
    text = text.strip()
    if text in MISSING_NUMBERS:
        return float("nan")
    if "." in marks:
        text, marks = text.translate(_SWAPPED), marks.replace(".", ",")
    if NUMBER.fullmatch(text):
        return float(text)
    found = _split_marks(text) if marks else None
    return float(found[0]) if found is not None and set(found[1]) <= set(marks) else None


def find_marks(texts: Sequence[str]) -> str | None:
    """What stands in texts that are all numbers besides the numbers, for :func:`parse_number`; None otherwise.

    There may be one sign, of a currency or of percents, commas between thousands, and ``−`` for a minus. Where
    there are percents, each number but 0 must have its sign, since 12% and 0.12 in one column would be the
    same. Texts that are no such numbers, and of which some have a comma, may have decimal commas, and points
    between thousands.

    Examples
    --------
    >>> from mbauc.readers.table.columns.number_texts import find_marks
    >>> find_marks(["$1,200.50", "-$3"]), find_marks(["12%", "0"]), find_marks(["1.5", "2e3"])
    ('$,', '%', '')
    >>> find_marks(["12%", "0.12"]), find_marks(["$1", "€1"]), find_marks(["1,2,3"])
    (None, None, None)
    >>> find_marks(["1,234"]), find_marks(["1,234", "1,5"]), find_marks(["1.234,50 €", "3 €"])
    (',', '.', '€.')
    """
    marks = _find_marks(texts)
    if marks is None and any("," in text for text in texts):
        marks = _find_marks([text.translate(_SWAPPED) for text in texts])
        return None if marks is None else marks.replace(",", "") + "."
    return marks


def _find_marks(texts: Sequence[str]) -> str | None:
    """The same for numbers with a decimal point."""
    marks: set[str] = set()
    bare = 0
    for text in map(str.strip, texts):
        if NUMBER.fullmatch(text):
            bare += float(text) != 0
            continue
        found = _split_marks(text)
        if found is None:
            return None
        marks |= set(found[1])
        bare += "%" not in found[1] and float(found[0]) != 0
    signs = marks - {",", MINUS}
    if len(signs) > 1 or ("%" in signs and bare):
        return None
    return "".join(signs) + "".join(mark for mark in (",", MINUS) if mark in marks)


def _split_marks(text: str) -> tuple[str, str] | None:
    """The number in a text, plainly spelled, and the marks around it."""
    match = _MARKED.fullmatch(text.replace(MINUS, "-"))
    if match is None:
        return None
    sign, before, inner, digits, rest, after = match.groups(default="")
    if (sign and inner) or (before and after) or not (digits or rest):
        return None
    marks = before + after + "," * ("," in digits) + MINUS * (MINUS in text)
    return sign + inner + digits.replace(",", "") + rest, marks
