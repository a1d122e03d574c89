"""What is said about a line of LIBSVM text that cannot be read."""

from __future__ import annotations

import re

from mbauc.errors import Advice
from mbauc.readers.libsvm.labels import plain
from mbauc.readers.libsvm.text import LARGEST, Fault, Rules

_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_CORRECT = "Correct the line, or pass over such lines with {on_error}."
#: What to do about a line unless something else is said of it.
CORRECT = Advice(_CORRECT, on_error="skip")
#: Characters of a token that are shown.
_SHOWN = 60


def describe(fault: Fault, rules: Rules) -> tuple[str, str]:
    """What was expected and what came, and what to do about it (perhaps nothing to add).

    ``O(1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.libsvm import kernels
    >>> rules = Rules(False, None, np.empty(0), None, False)
    >>> describe(Fault(0, 0, kernels.BAD_ENTRY, b"17;1", -1), rules)
    ("expected 'index:value', got '17;1'", '')
    """
    from mbauc.readers.libsvm import kernels

    token = fault.token.split(b"#")[0] or fault.token
    got = f"got {shown(token)}"
    index, colon, value = token.partition(b":")
    if fault.kind in (kernels.BAD_LABEL, kernels.OTHER_LABEL) and colon:
        return f"expected a label before the first 'index:value', {got}", ""
    if fault.kind == kernels.BAD_LABEL:
        if re.fullmatch(rb"[^0-9+\-.]\S*", token) and not _NOT_FINITE.fullmatch(token):
            return (
                f"expected a number as label, {got}",
                _in_python("Text labels need both names: classes=(negative, positive)."),
            )
        return f"expected a finite number as label, {got}", ""
    if fault.kind == kernels.OTHER_LABEL:
        negative, positive = labels_of(rules)
        return (
            f"expected the label {negative!r} or {positive!r}, {got}",
            Advice("For a class against the rest give {positive}."),
        )
    if fault.kind == kernels.TWICE:
        return f"expected each index once, got {fault.column + rules.base} twice", ""
    if fault.kind == kernels.LARGE_VALUE:
        return f"expected a value below 1.8e308, {got}", ""
    if fault.kind == kernels.BAD_INDEX:
        number = int(index)
        if number == 0:
            from_zero = _in_python("If columns count from 0, pass {zero_based}.", zero_based=True)
            return f"expected an index of at least 1, {got}", from_zero
        if rules.n_features is None or number > LARGEST:
            return f"expected an index of at most {LARGEST:,}, {got}", ""
        largest = rules.n_features - 1 + rules.base
        return f"expected an index of at most {largest:,} (n_features={rules.n_features}), {got}", ""
    if re.fullmatch(rb"-[0-9]+", index) and colon:
        return f"expected an index of at least {rules.base if rules.least == 0 else 0}, {got}", ""
    if _NOT_FINITE.fullmatch(value):
        return f"expected a finite value, {got}", ""
    return f"expected 'index:value', {got}", ""


def _in_python(text: str, **arguments: object) -> Advice:
    """Advice for callers in Python; commands say what holds for any line."""
    return Advice(text, command=_CORRECT, on_error="skip", **arguments)


def labels_of(rules: Rules) -> list[str | int | float]:
    """The labels that may occur, as a caller would write them."""
    if rules.words is not None:
        return [word.tobytes().rstrip(b"\0").decode() for word in rules.words]
    return [plain(label) for label in rules.known]


def shown(token: bytes) -> str:
    """A token in quotes, cut where it is long; bytes that are not text are escaped."""
    text = token.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
