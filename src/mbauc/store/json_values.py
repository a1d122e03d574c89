"""JSON texts of files, and how two values differ."""

from __future__ import annotations

import json
import math
from typing import Any

from mbauc.checks import abbreviate


def read_json(text: bytes) -> Any:
    """What a JSON text in ASCII says.

    Raises
    ------
    ValueError
        If it is no JSON, has numbers that are not finite, has a name twice or is nested too deeply.
    """
    try:
        return json.loads(
            text.decode("ascii"),
            object_pairs_hook=_reject_duplicates,
            parse_constant=_refuse,
            parse_float=_parse_finite,
        )
    except RecursionError:
        raise ValueError("its text is nested too deeply") from None


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name that occurs twice")
    return value


def _refuse(text: str) -> float:
    raise ValueError(f"the number {text}, which JSON does not allow")


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]}, which is too large")
    return number


def describe_differences(was: Any, now: Any) -> str:
    """What differs between two JSON values, in words; empty if nothing does.

    Examples
    --------
    >>> describe_differences({"l2": 1.0, "files": [{"size": 5}]}, {"l2": 2.0, "files": [{"size": 6}]})
    'files.0.size was 5, now 6; l2 was 1.0, now 2.0'
    """
    before, after = _flatten(was), _flatten(now)
    missing = object()
    apart = []
    for key in sorted({*before, *after}):
        old, new = before.get(key, missing), after.get(key, missing)
        if old is missing or new is missing or old != new or type(old) is not type(new):
            said, says = ("absent" if value is missing else abbreviate(value) for value in (old, new))
            # a key from a file is shown as it would be written, without its quotation marks
            apart.append(f"{abbreviate(key)[1:-1] or 'it'} was {said}, now {says}")
    first = "; ".join(apart[:5])
    return first if len(apart) <= 5 else f"{first}; and {len(apart) - 5} more"


def _flatten(value: Any, name: str = "") -> dict[str, Any]:
    """Nested lists and dicts as one, with dotted names."""
    items: list[tuple[Any, Any]]
    if isinstance(value, dict) and value:
        items = list(value.items())
    elif isinstance(value, list) and value:
        items = list(enumerate(value))
    else:
        return {name: value}
    flat: dict[str, Any] = {}
    for key, inner in items:
        flat |= _flatten(inner, f"{name}.{key}" if name else str(key))
    return flat
