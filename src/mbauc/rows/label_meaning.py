"""Which label is positive, where no part need have seen both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.labels import _distinct, check_classes, find_classes, positive_rows

Value = TypeVar("Value")


@dataclass
class Labelled(Generic[Value]):
    """A result that depends on which label is positive, and what that was taken to be.

    Attributes
    ----------
    value : object or None
        None as soon as a part could not tell.
    meaning : dict
        Whether each label was taken for positive.
    """

    value: Value | None
    meaning: dict[Any, bool] = field(default_factory=dict)

    def merged(self, other: Labelled[Value], merge: Callable[[Value, Value], Value]) -> Labelled[Value]:
        """Both results as one; none if they took a label for different things."""
        agree = all(self.meaning.get(label, side) == side for label, side in other.meaning.items())
        known = agree and self.value is not None and other.value is not None
        value = merge(self.value, other.value) if known else None  # type: ignore[arg-type]
        return Labelled(value, other.meaning | self.meaning)


@dataclass
class Labels:
    """Reads the labels of a part, block by block.

    Parameters
    ----------
    classes : ndarray of two labels, or None
        Both labels, where they are known.
    """

    classes: NDArray[Any] | None
    meaning: dict[Any, bool] = field(default_factory=dict)
    clear: bool = True

    def positive(self, y: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which rows are positive; None if that cannot be told."""
        labels = _distinct(y)
        if self.classes is None and labels.size == 1 and not _tells(labels):
            self.meaning.setdefault(_plain(labels[0]), False)
            self.clear = False
            return None
        positive = positive_rows(y, self.classes)
        for label in labels:
            side = bool(positive[y == label][0])
            if self.meaning.setdefault(_plain(label), side) != side:
                self.clear = False
        return positive if self.clear else None


def settle_classes(
    run: Callable[[NDArray[Any] | None], Labelled[Value]], classes: Any
) -> tuple[Value, NDArray[Any]]:
    """The result of a job, and both classes; a second job where the first could not tell which is positive.

    Parameters
    ----------
    run : callable
        A job, given both classes or None.
    classes : sequence of two labels, optional
        What the caller said.
    """
    known = None if classes is None else check_classes(classes)
    found = run(known)
    if known is None:
        known = classes_of(found.meaning)
        # parts of one label each may agree and be wrong all the same: -1 and 0 are both taken for negative
        if found.value is None or found.meaning != {_plain(known[0]): False, _plain(known[1]): True}:
            found = run(known)
    if found.value is None:
        raise AssertionError("labels have a meaning once both classes are given")
    return found.value, known


def classes_of(labels: Mapping[Any, Any]) -> NDArray[Any]:
    """The two classes among the labels that parts have seen."""
    found = list(labels)
    if len(found) == 1:
        raise ValueError(f"y has one class only ({found[0]!r}) in all partitions; AUC needs both classes.")
    known = np.array(found)
    if known.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in found):
        raise ValueError(
            f"y has labels of different types in different partitions ({', '.join(map(repr, found[:5]))}); "
            "give all labels one type."
        )
    return find_classes(known)


def _tells(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "biuf" and labels[0] in (-1, 0, 1)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
