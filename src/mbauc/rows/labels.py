"""Two-valued labels: which rows are positive, and what is wrong if that cannot be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")

#: Pairs of values that leave no doubt about which one is positive, even when only one of them is seen.
_CONVENTIONS = ((0, 1), (-1, 1))


def distinct_labels(y: NDArray[Any], name: str = "y") -> NDArray[Any]:
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
            f"{name} mixes types that cannot be ordered ({', '.join(kinds)}); give all labels one type."
        ) from None


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True
    except ValueError:  # an array, which is equal in each of its values
        return False


def check_mask(values: Any, name: str) -> None:
    """Raise for a masked array that masks something: NumPy reads what is behind the mask."""
    if isinstance(values, np.ma.MaskedArray) and (count := int(np.ma.getmaskarray(values).sum())):
        raise ValueError(
            f"{name} is a masked array with {count:,} masked value{'s' if count > 1 else ''}; fill them with "
            f"{name}.filled(…), or drop their rows."
        )


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Labels as a one-dimensional array without missing values."""
    check_mask(y, name)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {labels.shape}; pass one label per row.")
    if labels.size == 0:
        raise ValueError(f"{name} is empty: found array with 0 sample(s); at least one row is required.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        what = "NaN" if np.isnan(labels[row]) else "infinity (inf)"
        raise ValueError(f"Input {name} contains {what} at row {row:,}; drop the rows without a label.")
    if labels.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in labels])
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(
                f"Input {name} contains NaN or None at row {row:,}; drop the rows without a label."
            )
    if labels.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold labels, not complex numbers.")
    return labels


def check_label_count(n_labels: int, n_rows: int) -> None:
    """Raise unless there is a label for each row."""
    if n_labels != n_rows:
        raise ValueError(
            f"X has {n_rows:,} rows and y has {n_labels:,} labels; they must have the same number."
        )


def find_classes(y: Any, name: str = "y") -> NDArray[Any]:
    """The two classes of y, negative first (in sorted order, as scikit-learn does).

    Raises
    ------
    ValueError
        If y has one class, or three and more, or holds measurements instead of labels.
    """
    labels = as_labels(y, name)
    classes = distinct_labels(labels, name)
    if classes.size == 2:
        return classes
    if classes.size == 1:
        raise ValueError(
            f"{name} has one class only ({classes.tolist()[0]!r}, {labels.size:,} rows); AUC needs both "
            "classes. Check the split, or stratify it."
        )
    if labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any()):
        raise ValueError(
            f"Unknown label type: continuous. {name} holds {classes.size:,} distinct values such as "
            f"{classes[0]} and {classes[1]}; a classifier needs two classes. Threshold {name} first."
        )
    shown = ", ".join(repr(value) for value in classes[:5].tolist())
    raise ValueError(
        "Only binary classification is supported. The type of the target is multiclass: "
        f"{name} has {classes.size:,} classes ({shown}{', …' if classes.size > 5 else ''}). "
        f"Choose one class against the rest, for example {name} == positive."
    )


def check_classes(classes: Any) -> NDArray[Any]:
    """``classes`` as a sorted array of two distinct labels."""
    found = distinct_labels(as_labels(classes, "classes"), "classes")
    if found.size != 2:
        raise ValueError(f"classes must name exactly two labels, got {found.tolist()!r}.")
    return found


def has_label_sets(classes: Iterable[Any]) -> bool:
    """Whether a class of a source is several labels, which have no label of their own."""
    return any(isinstance(side, tuple | list | set) for side in classes)


def source_classes(classes: Any) -> NDArray[Any]:
    """The two labels of a source, negative first; 0 and 1 where a class is several labels."""
    return np.array([0, 1]) if has_label_sets(classes) else np.asarray(classes)


def positive_rows(y: Any, classes: Any = None, name: str = "y") -> NDArray[np.bool_]:
    """Mask of the positive rows; positive is the second of the two sorted classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    classes : sequence of two labels, optional
        Needed when y may hold one class only. Labels in {0, 1}, {-1, 1} and booleans explain themselves.
    name : str, default="y"
        How the caller's argument is called.
    """
    labels = as_labels(y, name)
    if classes is None:
        known = distinct_labels(labels, name)
        if known.size == 1:
            for pair in _CONVENTIONS:
                if known.dtype.kind in "biuf" and known[0] in pair:
                    # a lone 1 is positive in both conventions, a lone 0 or -1 negative in its own
                    return np.full(labels.size, bool(known[0] == pair[1]))
            raise ValueError(
                f"{name} has one class only ({known.tolist()[0]!r}, {labels.size:,} rows), and it is unknown "
                "whether that is the positive one. Pass both labels as classes (the larger is positive), or "
                "use the labels {0, 1} or {-1, 1}."
            )
        known = find_classes(labels, name)
    else:
        known = check_classes(classes)
    positive = np.asarray(labels == known[1])
    strange = ~(positive | np.asarray(labels == known[0]))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        label = labels[row : row + 1].tolist()[0]
        raise ValueError(
            f"{name} has label {label!r} at row {row:,}, but the classes are {known.tolist()!r}. "
            "Only binary classification is supported; `classes` must list both labels."
        )
    return positive


class Labels:
    """Which of two labels is positive, learned from blocks of which each may hold one label only.

    A block of one label has a meaning only by convention (0, 1, -1), which others may contradict.

    Parameters
    ----------
    classes : sequence of two labels, optional
        Both labels, where they are known; the larger is positive.

    Attributes
    ----------
    meaning : dict
        Whether each label that was seen was taken for positive.
    is_clear : bool
        Whether the labels of all blocks so far were unambiguous and agreed.
    """

    def __init__(self, classes: Any = None) -> None:
        self.known = None if classes is None else check_classes(classes)
        self.meaning: dict[Any, bool] = {}
        self.is_clear = True

    def mask(self, y: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which rows are positive; None if neither this block nor earlier ones decide."""
        labels = distinct_labels(y)
        if self.known is None and labels.size == 1 and not _is_conventional(labels):
            self.meaning.setdefault(_plain(labels[0]), False)
            self.is_clear = False
            return None
        positive = positive_rows(y, self.known)
        self.is_clear &= self._learn(labels, y, positive) is None
        return positive if self.is_clear else None

    def require_mask(self, y: Any, name: str = "y") -> NDArray[np.bool_]:
        """Which rows are positive; raises if that is undecided, or if the block ``name`` contradicts others."""
        labels = as_labels(y)
        positive = positive_rows(labels, self.known)
        if (label := self._learn(distinct_labels(labels), labels, positive)) is not None:
            now, before = ("negative", "positive") if self.meaning[label] else ("positive", "negative")
            raise ValueError(
                f"label {label!r} is {now} in {name}, but was taken for {before} in an earlier block that had "
                "no other label. Pass both labels as classes."
            )
        if len(self.meaning) > 2:
            raise ValueError(
                f"blocks up to {name} hold {len(self.meaning)} labels ({list(self.meaning)!r}); only two "
                "classes are supported. Pass both labels as classes."
            )
        return positive

    def _learn(self, labels: NDArray[Any], y: NDArray[Any], positive: NDArray[np.bool_]) -> Any:
        """Note what labels mean here; the first that meant something else before, or None."""
        contradicted = None
        for label in labels:
            side = bool(positive[y == label][0])
            if self.meaning.setdefault(_plain(label), side) != side and contradicted is None:
                contradicted = _plain(label)
        return contradicted

    def merge(self, other: Labels) -> Labels:
        """What both have learned."""
        result = Labels(self.known)
        agree = all(self.meaning.get(label, side) == side for label, side in other.meaning.items())
        result.is_clear = self.is_clear and other.is_clear and agree
        result.meaning = other.meaning | self.meaning
        return result

    @property
    def classes(self) -> NDArray[Any]:
        """Both labels, negative first."""
        return classes_among(self.meaning) if self.known is None else self.known

    @property
    def is_right(self) -> bool:
        """Whether every block took its labels for what they are, now that both are known."""
        if not self.is_clear or self.known is not None:
            return self.is_clear
        # blocks of one label each may agree and be wrong all the same: -1 and 0 are both taken for negative
        negative, positive = self.classes
        return self.meaning == {_plain(negative): False, _plain(positive): True}


def run_with_classes(run: Callable[[Any], tuple[Labels, Value]], classes: Any) -> tuple[Value, NDArray[Any]]:
    """The result of a job, and both classes; a second job where the first could not decide which is positive.

    ``run`` is a job, given both classes or None; it returns what it has learned of the labels with its result.
    """
    labels, found = run(None if classes is None else check_classes(classes))
    known = labels.classes
    if not labels.is_right:
        _, found = run(known)
    return found, known


def classes_among(labels: Iterable[Any]) -> NDArray[Any]:
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


def _is_conventional(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "biuf" and labels[0] in (-1, 0, 1)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
