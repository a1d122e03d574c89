"""What all rivals share: passes over rows in a reproducible order, streams, and when to stop."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from mbauc.checks import check_flag, check_number, check_whole
from mbauc.errors import DivergedError
from mbauc.estimators.linear import LinearRanker
from mbauc.estimators.validation import (
    name_columns,
    restore_on_failure,
    validate_training_data,
)
from mbauc.paper.rivals.blocks import RowBlock, Table
from mbauc.runtime.progress import Advance, progress, silent
from mbauc.runtime.seeds import generator
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]


#: Operations between two chances to be interrupted: less than a second.
_OPERATIONS = 5e8
#: Weights may grow this far before scores come near the end of floating point.
_LARGE = 1e150

#: All that an algorithm remembers between rows: arrays, updated in place, and its random numbers.
State = SimpleNamespace


class OnlineRanker(LinearRanker):
    """A linear ranker that learns from one row (or one batch) after another.

    A subclass says what it remembers (``_start``), how a block of rows changes that (``_learn``), and which
    weights follow from it (``_weights``).
    """

    #: Whether weights can diverge, so that a stream must be able to go back. If not, see ``_longest_step``.
    _may_diverge = True
    #: Settings that must be greater than 0, and those that must be 0 or more.
    _positive: tuple[str, ...] = ()
    _not_negative: tuple[str, ...] = ()
    _state: State

    def __init__(
        self, max_iter: int, tol: float | None, n_iter_no_change: int, random_state: Any, verbose: bool
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.verbose = verbose

    @restore_on_failure
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit in ``max_iter`` passes over the rows; any earlier fit is discarded.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Dense of any real dtype and layout, CSR or CSC, or a pandas, polars or Arrow table.
        y : array-like of shape (n,)
            Two-valued labels; the larger (in sorted order) is positive.

        Returns
        -------
        self
        """
        self._check_settings()
        rows, classes = validate_training_data(self, X, y, None, reset=True)
        with name_columns(X):
            table = Table(rows)
        rng = self._generator()
        state = self._start(table.n_features, rng)
        state.n_features = table.n_features
        self._check_steps(state, table)
        state.solution = None
        curve: list[float] = []
        with progress(len(table) * int(self.max_iter), type(self).__name__, show=bool(self.verbose)) as advance:
            for number in range(int(self.max_iter)):
                curve.append(self._pass(state, table, self._order(table, rng), number == 0, advance))
                if self._no_progress(curve):
                    break
            else:
                self._warn_unfinished()
        self.classes_ = classes
        self._state = state
        self.loss_curve_ = curve
        self.n_iter_ = len(curve)
        return self

    @restore_on_failure
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Update the fit with one pass over a block of rows, in the given order.

        A block may hold one row, or one class only.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        classes : sequence of two labels
            All class labels. Required at the first call, unless its block holds both.

        Returns
        -------
        self
        """
        self._check_settings()
        first = not hasattr(self, "_state")
        known = self._resolve_classes(y, classes, first)
        rows, known = validate_training_data(self, X, y, None, reset=first, classes=known)
        with name_columns(X):
            table = Table(rows)
        if first:
            state = self._start(table.n_features, self._generator())
            state.n_features = table.n_features
            curve: list[float] = []
        else:
            self._check_stream(self._state)
            check_unchanged("the number of columns", table.n_features, self._state.n_features)
            # one block is learned in one go, or not at all; more could be interrupted in between
            at_risk = self._may_diverge or len(table) > self._rows_a_block(table) or _read_only(self._state)
            state = copy.deepcopy(self._state) if at_risk else self._state
            curve = self.loss_curve_
        self._check_steps(state, table)
        state.solution = None
        loss = self._pass(state, table, np.arange(len(table)), True, silent)
        self.classes_ = known
        self._state = state
        self.loss_curve_ = curve
        self.loss_curve_.append(loss)
        self.n_iter_ = 1
        return self

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """Weights, shape (1, d)."""
        return self._solution()[0][None, :].copy()

    @property
    def intercept_(self) -> Array:  # type: ignore[override]
        """Intercept, shape (1,)."""
        return np.array([self._solution()[1]])

    @property
    def t_(self) -> int:
        """Number of steps so far."""
        return int(self._fitted_state().clock[0])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _fitted_state(self) -> State:
        if not hasattr(self, "_state"):
            raise AttributeError(
                f"this {type(self).__name__} has not been fitted yet; call fit or partial_fit."
            )
        return self._state

    def _solution(self) -> tuple[Array, float]:
        """Weights and intercept, made when asked for and kept until more is learned."""
        state = self._fitted_state()
        if state.solution is None:
            state.solution = self._weights(state)
        return state.solution  # type: ignore[no-any-return]

    # -- for subclasses --------------------------------------------------------------------------------

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        """What is remembered before the first row."""
        raise NotImplementedError

    def _learn(self, state: State, table: Table, block: RowBlock, first_pass: bool, loss: Array) -> int:
        """Learn from a block; add up the losses, and return the number of rows (or steps) taken."""
        raise NotImplementedError

    def _weights(self, state: State) -> tuple[Array, float]:
        """Weights and intercept."""
        raise NotImplementedError

    def _rows_a_block(self, table: Table) -> int:
        """Rows to learn from in one go."""
        return table.rows_a_block

    def _longest_step(self, state: State, n_rows: int) -> float:
        """A bound on the weight that a step gives to a row, where steps are not watched one by one."""
        return 0.0

    def _check_stream(self, state: State) -> None:
        """Raise for settings that must stay what they were when the stream began."""

    def _check_settings(self) -> None:
        """Raise for settings that no data could make sense of, before any work."""
        check_whole("max_iter", self.max_iter)
        check_whole("n_iter_no_change", self.n_iter_no_change)
        if self.tol is not None:
            check_number("tol", self.tol, low=0.0)
        for name in ("shuffle", "fit_intercept", "centred", "verbose"):
            check_flag(name, getattr(self, name, True))
        for name in self._positive:
            check_number(name, getattr(self, name), low=0.0, open_low=True)
        for name in self._not_negative:
            check_number(name, getattr(self, name), low=0.0)

    def _check_steps(self, state: State, table: Table) -> None:
        """Raise before anything is changed if steps could take the weights beyond floating point."""
        if self._longest_step(state, len(table)) * max(table.squares, 1.0) > _LARGE:
            self._raise_diverged()

    # -- passes ----------------------------------------------------------------------------------------

    def _generator(self) -> np.random.Generator:
        """A generator of its own, so that what the caller's is used for elsewhere does not matter."""
        rng = generator(self.random_state)
        return rng.spawn(1)[0] if rng is self.random_state else rng

    def _order(self, table: Table, rng: np.random.Generator) -> NDArray[np.intp]:
        return rng.permutation(len(table)) if self.shuffle else np.arange(len(table))

    def _pass(
        self, state: State, table: Table, order: NDArray[np.intp], first_pass: bool, advance: Advance
    ) -> float:
        """Mean loss of the rows, each before it was learned from."""
        loss = np.array([0.0, 1.0])
        for block in table.blocks(order, self._rows_a_block(table)):
            if self._learn(state, table, block, first_pass, loss) < block.order.size:
                self._raise_diverged()
            advance(block.order.size)
        return float(loss[0] + np.log(loss[1])) / order.size

    def _raise_diverged(self) -> None:
        name = next(name for name in ("eta0", "alpha", "C") if hasattr(self, name))
        step = f"{name}={getattr(self, name)!r}"
        raise DivergedError(
            f"{type(self).__name__} diverged: scores grew beyond floating point. {step} is too large for these "
            "columns; lower it, or scale them first (sklearn.preprocessing.StandardScaler or MaxAbsScaler)."
        )

    def _no_progress(self, curve: list[float]) -> bool:
        """Whether none of the last passes beat the best one before them."""
        patience = int(self.n_iter_no_change)
        if self.tol is None or len(curve) <= patience:
            return False
        return min(curve[-patience:]) >= min(curve[:-patience]) - float(self.tol)

    def _warn_unfinished(self) -> None:
        if self.tol is None:
            return
        if self.max_iter <= self.n_iter_no_change:
            found = f"cannot tell whether to stop before n_iter_no_change={self.n_iter_no_change} passes"
        else:
            found = "still made progress"
        warn(
            f"{type(self).__name__} {found} after max_iter={self.max_iter}; raise max_iter or tol.",
            ConvergenceWarning,
        )


def _read_only(state: State) -> bool:
    """Whether an array of it cannot be written to, as when it was loaded as a memory map."""
    return any(isinstance(array, np.ndarray) and not array.flags.writeable for array in vars(state).values())


def limit_rows(table: Table, cost: float) -> int:
    """Rows to learn from at a time, given the operations a row takes: an interrupt waits for them."""
    return max(1, min(table.rows_a_block, int(_OPERATIONS / max(cost, 1.0))))


def check_unchanged(name: str, value: Any, before: Any) -> None:
    """Raise if a setting on which the memory of a stream depends is not what it was."""
    if value != before:
        raise ValueError(
            f"{name} must be {before!r} as when the stream began, got {value!r}; call fit to start again."
        )


def check_step(value: Any) -> None:
    """A positive step, or "auto"."""
    if not (isinstance(value, str) and value == "auto"):
        if isinstance(value, str):
            raise ValueError(f"eta0 must be a number greater than 0 or 'auto', got {value!r}.")
        check_number("eta0", value, low=0.0, open_low=True)


def auto_step(step: float, learning_rate: str) -> float:
    """A step that does not shrink had better be small from the start."""
    return step / 30 if learning_rate == "constant" else step


def halfway(w: Array, means: Array) -> float:
    """The intercept that puts 0 halfway between the scores of two class means, shape (2, d)."""
    return float(-0.5 * (w @ means[1] + w @ means[0]))


def class_means(state: State) -> Array:
    """Means of the classes from the sums and counts of their rows, negatives first."""
    return np.asarray(state.sums / np.maximum(state.seen, 1)[:, None])
