"""The label column of a table: which two values it has, and which of them is positive."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.columns.number_texts import MISSING_NUMBERS, parse_number
from mbauc.readers.table.columns.values import flatten, read_distinct
from mbauc.readers.table.faults import RowFault
from mbauc.readers.table.files.pieces import Piece

#: Negative labels that are remembered where one label stands against all others.
_REMEMBERED = 100
#: Whole numbers, which are read exactly however long they are.
_WHOLE = re.compile(r"([+-]?\d{1,400})(?:\.0*)?")


def label_of(value: Any, named: frozenset[str] = frozenset()) -> Any:
    """A label as a number, a truth value or a text, whatever the file made of it; None if it is missing.

    Texts that spell a missing number (NA, NaN, null, ?) are missing labels, but for those in ``named``.

    Examples
    --------
    >>> from mbauc.readers.table.labels import label_of
    >>> label_of("1"), label_of(1.0), label_of("+1"), label_of("yes"), label_of("True"), label_of("NA")
    (1, 1, 1, 'yes', True, None)
    """
    if isinstance(value, str):
        return _label_of_text(value.strip(), named)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


def _label_of_text(text: str, named: frozenset[str]) -> Any:
    if text in MISSING_NUMBERS:
        return text if text in named else None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    whole = _WHOLE.fullmatch(text)
    if whole:
        return int(whole[1])
    number = parse_number(text)
    return text if number is None else label_of(number)


def _as_list(positive: Any) -> list[Any]:
    """Positive labels as the user gives them: one, or any collection."""
    if isinstance(positive, np.ndarray):
        positive = positive.tolist()  # one label if it has no dimension
    if isinstance(positive, str | bytes) or not isinstance(positive, Iterable):
        return [positive]
    return list(positive)


def _name_missing(labels: Iterable[Any]) -> frozenset[str]:
    """Spellings of missing values that are labels because the user names them."""
    texts = {label.strip() for label in labels if isinstance(label, str)}
    # who names one of the two signs means both
    signs = {"-"} if "+" in texts else set()
    return frozenset(((texts & MISSING_NUMBERS) | signs) - {""})


class TableLabels:
    """Learns which labels there are, then turns them into 1 for positive and 0 for negative rows.

    Parameters
    ----------
    name : str
        Name of the label column.
    positive : label or collection of labels, optional
        The positive ones; all others are negative. Without it there must be two, and the larger is positive.
    classes : (negative, positive), optional
        Known from other data.
    """

    def __init__(self, name: str, positive: Any = None, classes: tuple[Any, Any] | None = None) -> None:
        self.name = name
        given = [] if positive is None else _as_list(positive)
        known = [label for side in classes or () for label in (side if isinstance(side, tuple) else (side,))]
        self._named = _name_missing([*given, *known])
        self.positive = [label_of(value, self._named) for value in given]
        if positive is not None and (not self.positive or None in self.positive):
            raise ValueError(f"positive must be a label or a collection of labels, got {positive!r}.")
        self._classes = classes
        self._seen: dict[Any, str] = {}

    @property
    def known(self) -> bool:
        """Whether the classes are known from other data."""
        return self._classes is not None

    @property
    def complete(self) -> bool:
        """Whether both classes have been seen or are known."""
        if self._classes is not None:
            return True
        if not self.positive:
            return len(self._seen) == 2
        return {label in self.positive for label in self._seen} == {True, False}

    @property
    def classes(self) -> tuple[Any, Any]:
        """The two labels, negative first; several on one side are a tuple of labels."""
        if self._classes is not None:
            return self._classes
        if self.positive:
            others = [label for label in self._seen if label not in self.positive]
            return _one_or_all(others), _one_or_all(self.positive)
        negative, positive = sorted(self._seen)
        return negative, positive

    @property
    def absent(self) -> list[Any]:
        """Labels that should be positive and have not been seen, as far as that is known."""
        if self._classes is not None or len(self._seen) >= _REMEMBERED:
            return []
        return [label for label in self.positive if label not in self._seen]

    def check(self, where: str, *, every: bool = False) -> None:
        """Raise if the rows so far do not hold both classes, or not ``every`` label that is positive."""
        if self.complete and not (every and self.absent):
            return
        seen = list(self._seen)
        if not seen:
            raise ValueError(
                f"{where}: column {self.name!r} holds no label in any row; AUC needs rows of both classes. "
                "Check the label column."
            )
        if self.positive and ((every and self.absent) or not any(label in self.positive for label in seen)):
            raise ValueError(
                f"{where}: expected the label {_join(self.absent or self.positive)} in column {self.name!r}, "
                f"but it never occurs; the labels are {_join(seen)}. " + Advice("Check {positive}.")
            )
        raise ValueError(
            f"{where}: column {self.name!r} has one class only ({_join(seen)}); AUC needs both classes. "
            "Check the label column."
        )

    def look(self, piece: Piece) -> None:
        """Note the labels of some rows; missing ones are not looked at."""
        if self._classes is None:
            self._note(piece, *self._encode(piece))

    def _note(self, piece: Piece, values: list[Any], codes: NDArray[np.int64]) -> None:
        for place, label in enumerate(values):
            if label is None or label in self._seen:
                continue
            if not self.positive and len(self._seen) == 2:
                row = int(np.flatnonzero(codes == place)[0])
                raise ValueError(
                    f"{piece.place(row)}: a third label {label!r} in column {self.name!r}, after "
                    f"{_join(list(self._seen))}; two classes are needed. "
                    + Advice(
                        "If this is the label column, say which is positive, as in {positive}; ", positive=label
                    )
                    + "the others will be negative."
                )
            if len(self._seen) < _REMEMBERED:
                self._seen[label] = piece.place(int(np.flatnonzero(codes == place)[0]))
        kinds = {isinstance(label, str) for label in self._seen}
        if not self.positive and len(kinds) > 1:
            raise ValueError(
                f"{piece.file}: column {self.name!r} mixes numbers and texts ({_join(list(self._seen))}), "
                "so neither is the larger one. " + Advice("Say which is positive with {positive}", positive=...)
            )

    @property
    def first_is_positive(self) -> bool:
        """Whether the first label that was seen is that of positive rows."""
        first = next(iter(self._seen), None)
        return first in self.positive if self.positive else first == self.classes[1]

    def read(self, piece: Piece) -> tuple[NDArray[np.int8] | None, list[RowFault]]:
        """1 and 0 for the rows, and what is wrong with them.

        None while all rows have had one and the same label, which may be either.
        """
        values, codes = self._encode(piece)
        if self._classes is None:
            self._note(piece, values, codes)
        faults = []
        missing = np.array([label is None for label in values] + [True])[codes]
        if missing.any():
            column = flatten(piece.table[self.name])
            faults.append(RowFault(missing, "no label", lambda row: self._no_label(column[row].as_py())))
        if self._classes is not None and not self.positive:
            self._check_known(piece, values, codes)
        if not self.complete and not self.positive:  # still learning: the classes are not known yet
            return None, faults
        wanted = self.positive or [self.classes[1]]
        positive = np.array([label is not None and label in wanted for label in values] + [False])
        return positive[codes].astype(np.int8), faults

    def _check_known(self, piece: Piece, values: list[Any], codes: NDArray[np.int64]) -> None:
        negative, positive = self.classes
        strange = [label is not None and label not in (negative, positive) for label in values]
        if any(strange):
            row = int(np.flatnonzero(np.array([*strange, False])[codes])[0])
            raise ValueError(
                f"{piece.place(row)}: expected the label {negative!r} or {positive!r} in column {self.name!r}, "
                f"got {values[codes[row]]!r}. "
                + Advice("Say which labels are positive with {positive}", positive=...)
            )

    def _no_label(self, value: Any) -> str:
        wanted = f"expected a label in column {self.name!r}, got"
        text = value.strip() if isinstance(value, str) else ""
        if not text:
            return f"{wanted} none."
        hint: str = "If it is a label, write it in another way."
        if text == "-":
            hint = Advice("If '-' is the negative label and '+' the other one, pass {positive}.", positive="+")
        return f"{wanted} {text!r}, which stands for a missing value. " + hint

    def _encode(self, piece: Piece) -> tuple[list[Any], NDArray[np.int64]]:
        """The distinct labels, and for each row the place of its own (-1 for missing ones)."""
        values, codes = read_distinct(piece.table[self.name], f"label column {self.name!r}", piece.file)
        return [label_of(value, self._named) for value in values], codes


def _one_or_all(labels: list[Any]) -> Any:
    return labels[0] if len(labels) == 1 else tuple(labels)


def _join(labels: list[Any]) -> str:
    shown = ", ".join(map(repr, labels[:5]))
    return shown + (", …" if len(labels) > 5 else "")
