"""What the values of options may be: from words of a command to numbers, sizes and names."""

from __future__ import annotations

import argparse
import math
from decimal import Decimal, InvalidOperation

from mbauc.defaults import COLUMN_KINDS

#: Losses over pairs; those of :mod:`mbauc.losses`, which takes time to import.
LOSSES = ("squared", "squared_hinge", "hinge", "logistic", "exponential")


def whole(text: str) -> int:
    """A whole number of at least 0, as 1000000, 1_000_000, 1,000,000 or 1e6."""
    try:
        value = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or value.adjusted() > 30 or value != int(value) or value < 0:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least 0, such as 1000000 or 1e6, got {text!r}"
        )
    return int(value)


def row_range(text: str) -> tuple[int, int]:
    """Rows from the first to the last, as 7 or 0-19."""
    first, dash, last = text.partition("-")
    start = whole(first)
    stop = whole(last) if dash else start
    if stop < start:
        raise argparse.ArgumentTypeError(f"expected a first and a last row, such as 0-19, got {text!r}")
    return start, stop


def jobs(text: str) -> int:
    """A number of threads of at least 1."""
    value = whole(text)
    if not 1 <= value <= 4096:
        raise argparse.ArgumentTypeError(f"expected a number of threads from 1 to 4096, got {text!r}")
    return value


def seed(text: str) -> int:
    """A whole number that fits into 32 bits."""
    value = whole(text)
    if value >= 2**32:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {2**32 - 1:,}, got {text!r}")
    return value


def any_number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}")
    return value


def number(text: str) -> float:
    """A number of at least 0."""
    value = any_number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")
    return value


def number_or_auto(text: str) -> float | str:
    """A number of at least 0, or ``auto``."""
    return "auto" if text == "auto" else number(text)


def pairs(text: str) -> int | str:
    """``all``, or a number of pairs of at least 1."""
    if text == "all":
        return text
    value = whole(text)
    if not 1 <= value <= 10**12:
        raise argparse.ArgumentTypeError(f"expected 'all' or a number from 1 to 1e12, got {text!r}")
    return value


def share(text: str) -> float:
    """A number of at least 0, as 0.05 or 5%."""
    if not text.endswith("%"):
        return number(text)
    try:
        return number(f"{text[:-1].strip()}e-2")
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"expected a number of at least 0, such as 0.05 or 5%, got {text!r}"
        ) from None


def rate(text: str) -> float:
    """A number strictly between 0 and 1, as 0.05 or 5%."""
    value = share(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, such as 0.05 or 5%, got {text!r}")
    return value


def memory(text: str) -> int:
    """Bytes, from a size such as ``4GB``."""
    from mbauc.runtime.memory import parse_memory

    try:
        return parse_memory(int(text) if text.isdecimal() else text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def name_list(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in (part.strip() for part in text.split(",")) if name]


def hash_dim(text: str) -> int:
    """A number of hashed columns."""
    value = whole(text)
    if not 2 <= value < 2**31:
        raise argparse.ArgumentTypeError(f"expected a whole number from 2 to {2**31 - 1:,}, got {text!r}")
    return value


def delimiter(text: str) -> str:
    """One character; ``tab`` for a tab."""
    text = {r"\t": "\t", "tab": "\t"}.get(text, text)
    if len(text.encode()) != 1:
        raise argparse.ArgumentTypeError(f"expected one character, or tab, got {text!r}")
    return text


def column_kinds(text: str) -> dict[str, str]:
    """Names of columns and what each is, as in ``site=category,bid=numeric``."""
    found: dict[str, str] = {}
    for part in name_list(text):
        name, equals, kind = part.rpartition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"expected NAME=KIND, got {part!r}")
        if kind not in COLUMN_KINDS:
            raise argparse.ArgumentTypeError(
                f"expected one of {', '.join(COLUMN_KINDS)} for {name}, got {kind!r}"
            )
        if found.setdefault(name, kind) != kind:
            raise argparse.ArgumentTypeError(f"expected one kind for {name}, got {found[name]} and {kind}")
    return found
