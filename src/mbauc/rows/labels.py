"""Two-valued labels: which rows are positive, and what is wrong if that cannot be told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Pairs of values that leave no doubt about which one is positive, even when only one of them is seen.
_CONVENTIONS = ((0, 1), (-1, 1))


def _distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Sorted distinct values of y; numbers in two linear passes where there are at most two."""
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        if bool(((y == low) | (y == high)).all()):
            return np.array([low] if low == high else [low, high], dtype=y.dtype)
    try:
        return np.unique(y)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in y.ravel()[:1000]})
        raise ValueError(
            f"y mixes types that cannot be ordered ({', '.join(kinds)}); give all labels one type."
        ) from None


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def _as_labels(y: Any) -> NDArray[Any]:
    """Y as a one-dimensional array without missing values."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {labels.shape}; pass one label per row.")
    if labels.size == 0:
        raise ValueError("y is empty: found array with 0 sample(s); at least one row is required.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        what = "NaN" if np.isnan(labels[row]) else "infinity (inf)"
        raise ValueError(f"Input y contains {what} at row {row:,}; drop the rows without a label.")
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in labels])
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(f"Input y contains NaN or None at row {row:,}; drop the rows without a label.")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold labels, not complex numbers.")
    return labels


def find_classes(y: Any) -> NDArray[Any]:
    """The two classes of y, negative first (in sorted order, as scikit-learn does).

    Raises
    ------
    ValueError
        If y has one class, or three and more, or holds measurements instead of labels.
    """
    labels = _as_labels(y)
    classes = _distinct(labels)
    if classes.size == 2:
        return classes
    if classes.size == 1:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}, {labels.size:,} rows); AUC needs both classes. "
            "Check the split, or stratify it."
        )
    if labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any()):
        raise ValueError(
            f"Unknown label type: continuous. y holds {classes.size:,} distinct values such as "
            f"{classes[0]} and {classes[1]}; a classifier needs two classes. Threshold y first."
        )
    shown = ", ".join(repr(value) for value in classes[:5].tolist())
    raise ValueError(
        "Only binary classification is supported. The type of the target is multiclass: "
        f"y has {classes.size:,} classes ({shown}{', …' if classes.size > 5 else ''}). "
        "Choose one class against the rest, for example y == positive."
    )


def check_classes(classes: Any) -> NDArray[Any]:
    """``classes`` as a sorted array of two distinct labels."""
    found = _distinct(_as_labels(classes))
    if found.size != 2:
        raise ValueError(f"classes must name exactly two labels, got {found.tolist()!r}.")
    return found


def positive_rows(y: Any, classes: Any = None) -> NDArray[np.bool_]:
    """Mask of the positive rows; positive is the second of the two sorted classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    classes : sequence of two labels, optional
        Needed when y may hold one class only. Labels in {0, 1}, {-1, 1} and booleans explain themselves.
    """
    labels = _as_labels(y)
    if classes is None:
        known = _distinct(labels)
        if known.size == 1:
            for pair in _CONVENTIONS:
                if known.dtype.kind in "biuf" and known[0] in pair:
                    # a lone 1 is positive in both conventions, a lone 0 or -1 negative in its own
                    return np.full(labels.size, bool(known[0] == pair[1]))
            raise ValueError(
                f"y has one class only ({known.tolist()[0]!r}, {labels.size:,} rows), which could be either. "
                "Pass both labels as classes (the larger counts as positive), or labels in {0, 1} or {-1, 1}."
            )
        known = find_classes(labels)
    else:
        known = check_classes(classes)
    positive = np.asarray(labels == known[1])
    strange = ~(positive | np.asarray(labels == known[0]))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        label = labels[row : row + 1].tolist()[0]
        raise ValueError(
            f"y has label {label!r} at row {row:,}, but the classes are {known.tolist()!r}. "
            "Only binary classification is supported; `classes` must list both labels."
        )
    return positive


class BlockLabels:
    """Sees to it that a label means the same in every block.

    A block of one class tells what its label means only by convention, which a later block may contradict.
    """

    def __init__(self, classes: Any) -> None:
        self._classes = classes
        self._meaning: dict[Any, bool] = {}

    def check(self, y: Any, number: int) -> None:
        """Raise if the labels of block ``number`` contradict those of earlier blocks."""
        labels = _as_labels(y)
        positive = positive_rows(labels, self._classes)
        for label in _distinct(labels):
            key = label.item() if hasattr(label, "item") else label
            meaning = bool(positive[labels == label][0])
            if self._meaning.setdefault(key, meaning) != meaning:
                raise ValueError(
                    f"label {key!r} is {'positive' if meaning else 'negative'} in block {number}, but was the "
                    "other in an earlier block of one class. Pass both labels as classes."
                )
        if len(self._meaning) > 2:
            raise ValueError(
                f"blocks up to {number} hold {len(self._meaning)} labels ({list(self._meaning)!r}); "
                "only two classes are supported. Pass both labels as classes."
            )
