"""Settings that no data could make sense of, and how values are shown in errors."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

#: Characters of a value in an error, at most.
_VALUE = 80
#: Characters of a reason in an error, at most.
_REASON = 400


def abbreviate(value: Any) -> str:
    """A value for an error: short, in one line, and nothing in it moves a terminal's cursor."""
    if type(value) is str and len(value) <= _VALUE // 4:  # names, as often as not thousands of them
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = _VALUE
    short.maxlevel = 2
    return truncate(short.repr(value).replace("...", "…"), _VALUE)


def truncate(text: str, most: int = _REASON) -> str:
    """The text, cut to ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def list_some(texts: Iterable[str], most: int = 20) -> str:
    """Texts in one line: the first of them, and how many more there are."""
    found = list(texts)
    return ", ".join(found[:most]) + (f" and {len(found) - most:,} more" if len(found) > most else "")


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A finite real number within bounds, or an error that names the parameter."""
    number = np.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    within = np.isfinite(number) and low <= number <= high
    if not within or (open_low and number == low) or (open_high and number == high):
        bounds = f"{'greater than' if open_low else 'at least'} {low:g}"
        if np.isfinite(high):
            bounds += f" and {'less than' if open_high else 'at most'} {high:g}"
        raise ValueError(f"{name} must be a finite number {bounds}, got {value!r}.")
    return number


def check_share(name: str, value: Any) -> float:
    """A number between 0 and 1, neither of them, or an error that names the parameter."""
    return check_number(name, value, low=0.0, high=1.0, open_low=True, open_high=True)


def check_whole(name: str, value: Any, low: int = 1) -> None:
    """A whole number of at least ``low``, or an error that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of a few words, or an error that names the parameter."""
    if not (isinstance(value, str) and value in choices):
        *others, last = (repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """True or False, or an error that names the parameter."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
