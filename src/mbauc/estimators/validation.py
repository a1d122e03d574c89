"""One validation for all estimators: what they take, and what they say about what they do not take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Lock, RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from mbauc.checks import abbreviate
from mbauc.errors import NonFiniteError
from mbauc.losses import PairWeights
from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.rows.block import Block
from mbauc.rows.column_faults import as_numbers, check_columns, column_names, explain_failure
from mbauc.rows.groups import group_codes
from mbauc.rows.labels import check_classes, check_mask, find_classes, positive_rows
from mbauc.rows.matrix import check_structure, check_weights, is_sparse
from mbauc.rows.schema import Schema

Method = TypeVar("Method", bound=Callable[..., Any])


#: One lock for each estimator, and not in it: estimators are copied, cloned and pickled.
_locks: WeakKeyDictionary[Any, RLock] = WeakKeyDictionary()
_locks_lock = Lock()


def _get_lock(estimator: Any) -> RLock:
    with _locks_lock:
        return _locks.setdefault(estimator, RLock())


def restore_on_failure(method: Method) -> Method:
    """A method that, if it fails or is interrupted, leaves the estimator as it was before the call.

    Calls from several threads are done one after the other.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _get_lock(self):
            before = dict(vars(self))
            try:
                return method(self, *args, **kwargs)
            except BaseException:
                vars(self).update(before)
                for name in set(vars(self)) - set(before):
                    delattr(self, name)
                raise

    return guarded  # type: ignore[return-value]


@contextmanager
def name_columns(X: Any) -> Iterator[None]:
    """Within this block an error about a value of X names its column, if X has column names."""
    try:
        yield
    except NonFiniteError as error:
        names = column_names(X)
        if names is None:
            raise
        raise NonFiniteError(error.row, error.column, error.value, names[error.column]) from None


def validate_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a dense or CSR/CSC matrix of real numbers; finiteness is checked where X is read anyway."""
    check_columns(X)
    try:
        matrix = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        explain_failure(X, error)
        raise
    if is_sparse(matrix):
        check_structure(matrix)
    return as_numbers(matrix, X)


def label_column(y: Any) -> NDArray[Any]:
    """The labels as a one-dimensional array; a column is taken with a warning, as scikit-learn does."""
    check_mask(y, "y")
    return np.asarray(column_or_1d(y, warn=True))


def validate_training_data(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    reset: bool,
    classes: Any = None,
    groups: Any = None,
) -> tuple[Block, NDArray[Any]]:
    """The rows and the two classes, negative first.

    Without ``classes`` both classes must be present with positive weight.
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X = validate_matrix(estimator, X, reset=reset)
    y = label_column(y)
    check_consistent_length(X, y)
    known = find_classes(y) if classes is None else check_classes(classes)
    positive = positive_rows(y, known)
    weight = check_weights(sample_weight, X.shape[0])
    if classes is None and weight is not None:
        check_class_weights(weight, positive, known)
    frequencies = getattr(estimator, "weights", "sampling") == "frequency"
    codes = None if groups is None else group_codes(groups, X.shape[0])
    return Block(X, positive, weight, frequencies=frequencies, groups=codes), known


def remember_columns(estimator: Any, schema: Schema) -> None:
    """Tell an estimator how many columns there are, and their names; those of an earlier fit are forgotten."""
    estimator.n_features_in_ = schema.n_features
    # as scikit-learn has it: names are texts, and numbers are no names
    if schema.names is not None and all(isinstance(name, str) for name in schema.names):
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def require_pairs_within_groups(block: Block) -> None:
    """Raise if no group has rows of both classes, and warn of groups that have rows of one class only."""
    if block.groups is not None:
        warn_of_one_class_groups(PairWeights.build(block.positive, block.weight, block.groups))


def check_class_weights(
    weight: NDArray[np.float64],
    positive: NDArray[np.bool_],
    classes: NDArray[Any] | Sequence[Any],
    what: str = "sample_weight",
) -> None:
    """Raise if all rows of a class have weight zero; ``what`` names the weights."""
    names = classes.tolist() if isinstance(classes, np.ndarray) else classes
    for name, rows in zip(names, (~positive, positive), strict=True):
        if not weight[rows].any():
            raise ValueError(what + f" is zero for all rows of class {name!r}; AUC needs both classes.")


def check_factors(factors: Any, n_features: int) -> NDArray[np.float64]:
    """Penalty factors as an array of one finite, non-negative number a feature."""
    if factors is None:
        return np.ones(n_features)
    try:
        array = np.asarray(factors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"penalty_factors must be numbers, got {abbreviate(factors)}.") from None
    if array.shape != (n_features,):
        raise ValueError(
            f"penalty_factors must have one number for each of the {n_features} features, "
            f"got shape {array.shape}."
        )
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        column = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"penalty_factors has {array[column]} for column {column}; "
            "factors must be finite and not negative (0 leaves a feature unpenalised)."
        )
    return array
