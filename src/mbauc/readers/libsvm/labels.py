"""Labels of LIBSVM files: which there are, and which of them are positive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.libsvm.lines import Text

#: Different labels beyond which they are taken for measurements.
_MANY = 1000


def plain_label(label: float) -> int | float:
    """A label as people write it: 1 rather than 1.0."""
    return int(label) if float(label).is_integer() and abs(label) < 2**53 else float(label)


class LibsvmLabels:
    """Which labels occur and which are positive, as given or as seen so far.

    Parameters
    ----------
    classes : sequence of two labels, optional
        Negative and positive, two numbers or two words: no other may occur.
    positive : number or collection of numbers, optional
        These are positive and all others negative. With neither, two labels may occur, the larger positive.

    Attributes
    ----------
    known : ndarray of float64
        The labels that may occur; empty if any may.
    words : ndarray of uint8 of shape (2, width) or None
        Text labels, each with a zero after it; rows then have the numbers 0 and 1.
    seen : list of float
        Labels in order of appearance.

    Examples
    --------
    >>> labels = LibsvmLabels(None, {3, 8})
    >>> labels.see(np.array([1.0, 3.0, 8.0]))
    >>> labels.classes()
    (1, (3, 8))
    >>> labels.binary(np.array([1.0, 3.0, 8.0]))
    array([0, 1, 1], dtype=int8)
    """

    def __init__(self, classes: Any, positive: Any) -> None:
        if classes is not None and positive is not None:
            raise ValueError(
                "give classes or positive, not both: classes names the negative label, then the positive."
            )
        self.known: NDArray[np.float64] = np.empty(0)
        self.words: Text | None = None
        self.seen: list[float] = []
        self._given: tuple[Any, Any] | None = None
        self._positive: list[float] | None = None
        if classes is not None:
            self._given = _two_labels(classes)
            if isinstance(self._given[0], str):
                self.words = _pad(self._given)
                self._positive = [1.0]
            else:
                self.known = np.array(self._given, dtype=np.float64)
                self._positive = [float(self._given[1])]
        elif positive is not None:
            self._positive = _numbers(positive)
        self._limit = 2 if positive is None else _MANY

    @property
    def is_given(self) -> bool:
        """Whether both labels are known beforehand."""
        return self._given is not None

    @property
    def two(self) -> NDArray[np.float64]:
        """The two labels that may occur, given or seen; empty if others may."""
        if self.is_given or self._positive is not None:
            return self.known
        return np.array(sorted(self.seen))

    @property
    def positive(self) -> list[float]:
        """The positive labels, given or seen, as rows have them."""
        return list(self._positive) if self._positive is not None else sorted(self.seen)[1:]

    def see(self, labels: NDArray[np.float64]) -> int | None:
        """Take note of the labels of some rows; the row whose label is one too many, if any."""
        if self.is_given:
            return None
        new = labels
        for label in self.seen:
            new = new[new != label]
        while new.size > 0:
            if len(self.seen) == self._limit:
                return int(np.flatnonzero(labels == new[0])[0])
            self.seen.append(float(new[0]))
            new = new[new != new[0]]
        return None

    def too_many(self, label: float) -> str:
        """What is said about a label that is one too many."""
        if self._limit == 2:
            first, second, third = (plain_label(each) for each in (*self.seen, label))
            return (
                f"expected the label {first} or {second} as in the rows before, got a third one, {third}. "
                + Advice("Name the positive ones, such as {positive}; ", positive=third)
                + "all others are then negative."
            )
        return (
            f"expected classes, got more than {_MANY:,} different labels, {plain_label(label)} the last. "
            "They look like measurements; "
            + Advice(
                "to threshold them yourself read them with read_libsvm(labels='raw').",
                command="{positive} names classes.",
            )
        )

    def classes(self) -> tuple[Any, Any]:
        """The negative and the positive label; several on one side are a tuple."""
        if self._given is not None:
            return self._given
        seen = sorted(self.seen)
        positive = self._positive if self._positive is not None else seen[1:]
        sides = (
            [label for label in seen if label not in positive],
            [label for label in seen if label in positive],
        )
        if not all(sides):
            raise ValueError(self._one_class(seen))
        negative, positive = (_side(side) for side in sides)
        return negative, positive

    def _one_class(self, seen: list[float]) -> str:
        shown = ", ".join(str(plain_label(label)) for label in seen[:5]) + (", …" if len(seen) > 5 else "")
        if self._positive is not None:
            wanted = ", ".join(str(plain_label(label)) for label in self._positive)
            what = "all labels are" if any(label in self._positive for label in seen) else "no label is"
            return f"{what} among the positive ones ({wanted}); the labels are {shown}. " + Advice(
                "Check {positive}."
            )
        return f"all rows have the label {shown}; two labels are needed. " + Advice(
            "If these are rows of one class out of two, name both: classes=(negative, positive).", command=""
        )

    def binary(self, labels: NDArray[np.float64]) -> NDArray[np.int8]:
        """1 for the positive rows, 0 for the others."""
        positive = self.positive
        mask = labels == positive[0] if len(positive) == 1 else np.isin(labels, positive)
        return np.asarray(mask, dtype=np.int8)


def _side(labels: list[float]) -> Any:
    return plain_label(labels[0]) if len(labels) == 1 else tuple(plain_label(label) for label in labels)


def _two_labels(classes: Any) -> tuple[Any, Any]:
    labels = list(classes) if isinstance(classes, Iterable) and not isinstance(classes, str | bytes) else []
    words = [label for label in labels if isinstance(label, str)]
    if len(labels) == 2 and len(words) == 2:
        for word in words:
            if not word or any(c.isspace() or c in "#:\0" for c in word):
                raise ValueError(f"classes must be words without spaces, '#' and ':', got {word!r}.")
    if len(labels) != 2 or len(words) == 1 or labels[0] == labels[1]:
        raise ValueError(
            f"classes must be two different numbers or two words, negative first, got {classes!r}."
        )
    if words:
        return words[0], words[1]
    negative, positive = (plain_label(_number("classes", label)) for label in labels)
    return negative, positive


def _numbers(positive: Any) -> list[float]:
    several = isinstance(positive, Iterable) and not isinstance(positive, str | bytes)
    labels = sorted({_number("positive", label) for label in (positive if several else [positive])})
    if not labels:
        raise ValueError(f"positive must name at least one label, got {positive!r}.")
    return labels


def _number(name: str, label: Any) -> float:
    try:
        number = float(label if not isinstance(label, str | bytes) else "nan")
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        advice = Advice(" For text labels name both, classes=(negative, positive).", command="")
        raise ValueError(
            f"{name} must hold finite numbers, got {label!r}." + (advice if isinstance(label, str) else "")
        )
    return number


def _pad(words: tuple[str, str]) -> Text:
    encoded = [word.encode() for word in words]
    width = max(map(len, encoded)) + 1
    return np.frombuffer(b"".join(word.ljust(width, b"\0") for word in encoded), np.uint8).reshape(2, width)
