"""Words and numbers as they stand in a report: nothing that comes from data is ever read as HTML."""

from __future__ import annotations

import html
import json
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
#: Longer texts from data are cut.
_LONGEST = 200


def escape(value: Any, longest: int = _LONGEST) -> str:
    """A value as text that is safe in HTML, SVG and attributes; cut in the middle if it is long."""
    text = str(value)
    if len(text) > longest:
        text = text[: longest * 2 // 3] + "…" + text[len(text) - longest // 3 + 1 :]
    return html.escape(_UNSEEN.sub("\ufffd", " ".join(text.split())), quote=True)


def escape_name(value: Any, longest: int = _LONGEST) -> str:
    """A name from data: as :func:`escape`, and letters that run from right to left turn nothing around."""
    return f"<bdi>{escape(value, longest) or '(no name)'}</bdi>"


def class_name(side: Any) -> str:
    """A class as text: its label, or its labels."""
    return ", ".join(map(str, side)) if isinstance(side, tuple | list) else str(side)


def dump_json(value: Any) -> str:
    """JSON for a ``<script>`` element: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def count(value: float) -> str:
    """A number of rows, or their weight with two digits."""
    return f"{int(value):,}" if float(value).is_integer() else f"{_half_up(value, 2):,}"


def rough_count(value: float) -> str:
    """A number of rows, or their weight without a fraction.

    Examples
    --------
    >>> rough_count(1234.0), rough_count(1234.56)
    ('1,234', '1,235')
    """
    return f"{value:,.0f}"


def percent(value: float) -> str:
    """A share with three digits, or more if it would read as 0% or 100% without being exactly that.

    Examples
    --------
    >>> percent(0.5), percent(0.01234), percent(2e-6), percent(0.99987), percent(1.0), percent(1e-12)
    ('50.0%', '1.23%', '0.000200%', '99.99%', '100%', 'about 0%')
    """
    if value != value:
        return "–"
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}%"
    if value < 1e-8:
        return "about 0%"
    hundredfold, digits, edge, half = 100 * value, 1, 10.0, 0.05
    while (hundredfold < edge or 100 - hundredfold < half) and digits < 10:
        digits, edge, half = digits + 1, edge / 10, half / 10
    return f"{_half_up(hundredfold, digits):f}%"


def rough_percent(value: float) -> str:
    """A share with two digits, of which no more than three stand behind the point.

    Examples
    --------
    >>> [rough_percent(share) for share in (0.4567, 0.0123, 0.00369, 1e-7, 0.0)]
    ['46%', '1.2%', '0.37%', '<0.001%', '0%']
    """
    if 0 < value < 1e-5:
        return "<0.001%"
    hundredfold = 100 * value
    digits = 0 if hundredfold >= 10 or value == 0 else min(3, 1 - math.floor(math.log10(hundredfold)))
    return f"{_half_up(hundredfold, digits)}%"


def between(low: float, high: float) -> str:
    """An interval of a share, in as many digits as its width can bear.

    Examples
    --------
    >>> between(0.012, 0.25), between(0.0126, 0.0368), between(0.0000369, 0.00809), between(0.3, 0.3)
    ('1–25%', '1.3–3.7%', '0.00–0.81%', '30.0–30.0%')
    """
    if not high > low:
        return f"{percent(low).removesuffix('%')}–{percent(high)}"
    digits = max(0, 1 - math.floor(math.log10(100 * (high - low))))
    return f"{_half_up(100 * low, digits)}–{_half_up(100 * high, digits)}%"


def short_percent(value: float) -> str:
    """A share that a user set: ``short_percent(0.01)`` is 1%."""
    return f"{100 * value:.6g}%"


def number(value: float) -> str:
    """A number with four digits.

    Examples
    --------
    >>> number(0.123456), number(-1e-7), number(3.0)
    ('0.1235', '−1e-07', '3')
    """
    return f"{value:.4g}".replace("-", "−", 1) if value < 0 else f"{value:.4g}"


def score_text(value: float) -> str:
    """A threshold with six digits at most; who copies it gets all of them.

    Examples
    --------
    >>> score_text(-0.0010367376825), score_text(0.25), score_text(float("-inf"))
    ('-0.00103674', '0.25', 'below all scores')
    """
    return "below all scores" if value == float("-inf") else f"{value:.6g}"


def _half_up(value: float, digits: int) -> Decimal:
    """Rounded as the script of the page rounds."""
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
