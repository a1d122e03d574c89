"""Groups of rows (queries, users, days), within which alone pairs count: from their values to keys."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.hashing.texts import hash_features
from mbauc.rows.labels import check_mask, is_missing

Keys = NDArray[np.uint64]

#: What the hashes of groups are features of.
GROUP = "group"
#: Dtypes that have a value for none.
_MAY_MISS = "fcmM"


def check_groups(groups: Any, n_rows: int) -> NDArray[Any]:
    """A group for each row, none of them missing, or an error that says what is wrong; objects become texts."""
    check_mask(groups, "groups")
    labels = np.asarray(groups)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have a value for each of the {n_rows:,} rows, got shape {labels.shape}.")
    missing = np.zeros(0, dtype=np.bool_)
    if labels.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in labels], dtype=np.bool_)
    elif labels.dtype.kind in _MAY_MISS:
        missing = labels != labels
    if missing.any():
        raise ValueError(
            f"groups has no value at row {int(np.argmax(missing)):,}; drop the row or name its group."
        )
    return np.array([group_text(value) for value in labels]) if labels.dtype.kind == "O" else labels


class GroupKeys(np.ndarray[Any, np.dtype[np.uint64]]):
    """Keys of groups in the blocks of a source; numbers that are not marked so are values like any others."""


def mark_keys(keys: Keys | None) -> GroupKeys | None:
    """Keys that nothing hashes again, nor some of them; None stays None."""
    return None if keys is None else keys.view(GroupKeys)


def group_codes(groups: Any, n_rows: int) -> Keys:
    """Keys of groups that are all in memory: their places among the sorted ones.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], 3)
    array([1, 0, 1], dtype=uint64)
    """
    return np.unique(check_groups(groups, n_rows), return_inverse=True)[1].astype(np.uint64)


def group_keys(groups: Any, n_rows: int) -> Keys:
    """Keys of groups of which others are elsewhere: hashes of 64 bits of their texts.

    The same value has the same key whether it is a whole number of any type or the text of that number. Of ten
    million groups two share a key with a probability of 3 in a million. Keys that are marked as such
    (:func:`mark_keys`) stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> group_keys([7, 8], 2).tolist() == group_keys(np.array(["7", "8"]), 2).tolist()
    True
    """
    labels = check_groups(groups, n_rows)
    if isinstance(groups, GroupKeys):
        return labels
    distinct, codes = np.unique(labels, return_inverse=True)
    return hash_groups([group_text(value) for value in distinct])[codes]


def hash_groups(texts: Any) -> Keys:
    """Keys of groups whose texts are given, as a sequence or an Arrow array."""
    return hash_features(GROUP, texts)


def group_text(value: Any) -> str:
    """A group as a text: whole numbers without a point, whatever their type."""
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, float | np.floating | Decimal) and float(value).is_integer():
        return str(int(value))
    return str(value)
