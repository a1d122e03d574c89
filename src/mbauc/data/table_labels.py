"""The label column of a table: which two values it has, and which of them is positive."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.data.column_values import flat, number_of
from mbauc.data.table_faults import Fault
from mbauc.data.table_pieces import Piece

#: Negative labels that are remembered where one label stands against all others.
_REMEMBERED = 100


def label_of(value: Any) -> Any:
    """A label as a number, a truth value or a text, whatever the file made of it; None if it is missing.

    Examples
    --------
    >>> from mbauc.data.table_labels import label_of
    >>> label_of("1"), label_of(1.0), label_of("+1"), label_of("yes"), label_of("True"), label_of("")
    (1, 1, 1, 'yes', True, None)
    """
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in ("true", "false"):
            return value.lower() == "true"
        number = number_of(value) if value else None
        if number is None or math.isnan(number):
            return value or None
        value = number
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


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
        given = list(positive) if isinstance(positive, list | tuple | set | frozenset) else [positive]
        self.positive = [] if positive is None else [label_of(value) for value in given]
        if positive is not None and (not self.positive or None in self.positive):
            raise ValueError(f"positive must be a label or a collection of labels, got {positive!r}.")
        self._classes = classes
        self._seen: dict[Any, str] = {}

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

    def check(self, where: str) -> None:
        """Raise if the rows so far do not hold both classes."""
        if self.complete:
            return
        seen = list(self._seen)
        if self.positive and not any(label in self.positive for label in seen):
            raise ValueError(
                f"{where}: expected the label {_told(self.positive)} in column {self.name!r}, but it never "
                f"occurs; the labels are {_told(seen)}. Check positive."
            )
        raise ValueError(
            f"{where}: column {self.name!r} has one class only ({_told(seen)}); AUC needs both classes. "
            "Check the label column."
        )

    def look(self, piece: Piece) -> None:
        """Note the labels of some rows; missing ones are not looked at."""
        if self._classes is not None:
            return
        values, codes = self._coded(piece)
        for place, label in enumerate(values):
            if label is None or label in self._seen:
                continue
            if not self.positive and len(self._seen) == 2:
                row = int(np.flatnonzero(codes == place)[0])
                raise ValueError(
                    f"{piece.place(row)}: a third label {label!r} in column {self.name!r}, after "
                    f"{_told(list(self._seen))}; two classes are needed. Say which is positive, as in "
                    f"positive={label!r}; the others will be negative."
                )
            if len(self._seen) < _REMEMBERED:
                self._seen[label] = piece.place(int(np.flatnonzero(codes == place)[0]))
        kinds = {isinstance(label, str) for label in self._seen}
        if not self.positive and len(kinds) > 1:
            raise ValueError(
                f"{piece.file}: column {self.name!r} mixes numbers and texts ({_told(list(self._seen))}), "
                "so that none is the larger. Say which is positive with positive=…"
            )

    def read(self, piece: Piece) -> tuple[NDArray[np.int8], list[Fault]]:
        """1 and 0 for the rows, and what is wrong with them."""
        self.look(piece)
        values, codes = self._coded(piece)
        faults = []
        missing = np.array([label is None for label in values] + [True])[codes]
        if missing.any():
            message = (
                f"expected a label in column {self.name!r}, got none. Drop such rows, or pass on_error='skip'."
            )
            faults.append(Fault(missing, "no label", lambda row: message))
        if self._classes is not None and not self.positive:
            self._check_known(piece, values, codes)
        if not self.complete:  # while learning, when nobody asks yet
            return np.zeros(codes.size, dtype=np.int8), faults
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
                f"got {values[codes[row]]!r}. Say which labels are positive with positive=…"
            )

    def _coded(self, piece: Piece) -> tuple[list[Any], NDArray[np.int64]]:
        """The distinct labels, and for each row the place of its own (-1 for missing ones)."""
        column = flat(piece.table[self.name]).dictionary_encode()
        values = [label_of(value) for value in column.dictionary.to_pylist()]
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return values, np.asarray(codes, dtype=np.int64)


def _one_or_all(labels: list[Any]) -> Any:
    return labels[0] if len(labels) == 1 else tuple(labels)


def _told(labels: list[Any]) -> str:
    shown = ", ".join(map(repr, labels[:5]))
    return shown + (", …" if len(labels) > 5 else "")
