"""How fast Fourier features should change: the median of distances, or what ranks held-out rows best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.basis.fourier import FourierMap
from mbauc.checks import check_number, check_whole
from mbauc.features.column_units import ColumnUnits, dense_rows
from mbauc.metrics import roc_auc
from mbauc.pairs.moments import PairMoments
from mbauc.rows.labels import find_classes, positive_rows
from mbauc.rows.matrix import as_matrix, is_sparse
from mbauc.runtime.seeds import generator
from mbauc.runtime.threads import single_threaded_blas
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Multiples of the median rule that are tried.
MULTIPLES = (0.25, 1.0, 4.0)
#: Rows between which distances are taken.
_DISTANCE_ROWS = 1000
#: Rows of each class that a half needs to say anything.
_FEWEST = 4


class TriedGamma(NamedTuple):
    """A candidate of :func:`choose_gamma` and its held-out AUC.

    Attributes
    ----------
    gamma : float
        Kernel coefficient.
    scale : bool
        Whether each column was divided by its own standard deviation.
    aucs : tuple of two floats
        Held-out AUC of each half of the rows.
    """

    gamma: float
    scale: bool
    aucs: tuple[float, float]

    @property
    def auc(self) -> float:
        """Mean held-out AUC of the two halves."""
        return sum(self.aucs) / 2


class GammaChoice(NamedTuple):
    """Result of :func:`choose_gamma`.

    Attributes
    ----------
    gamma : float
        Kernel coefficient.
    scale : bool
        Whether each column is divided by its own standard deviation.
    auc : float
        Mean held-out AUC.
    tried : tuple of TriedGamma
        All candidates.
    """

    gamma: float
    scale: bool
    auc: float
    tried: tuple[TriedGamma, ...]


def median_gamma(X: Any, center: Array, unit: Array, random_state: Any = 0) -> float:
    """The median rule: ``1 / (2 m)`` for the median m of squared distances between rows, in units.

    ``O(k² d)`` time for k = 500 rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Rows; those that are compared are drawn from them. A missing value counts as the centre.
    center, unit : ndarray of shape (d,)
        As for :class:`~mbauc.basis.fourier.FourierMap`.
    random_state : int, Generator, RandomState or None, default=0
        Of the rows that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> bool(abs(median_gamma(X, np.zeros(50), np.ones(50)) - 1 / 200) < 0.0005)
    True
    """
    n_rows = X.shape[0]
    rows = generator(random_state).permutation(n_rows)[:_DISTANCE_ROWS]
    values = dense_rows(X, rows) - center
    values = np.divide(values, unit, out=np.zeros_like(values), where=unit > 0)
    np.clip(np.nan_to_num(values, copy=False), -1e6, 1e6, out=values)
    first, second = values[: rows.size // 2], values[rows.size // 2 :]
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * first @ second.T
    varying = max(1, int((unit > 0).sum()))
    # rows that are mostly alike have no median distance; 2 is the mean square of a standardised difference
    known = squares[squares > 1e-9 * varying]
    middle = float(np.median(known)) if known.size else 2.0 * varying
    return 1.0 / (2.0 * middle)


def choose_gamma(
    X: Any,
    y: ArrayLike,
    multiples: Sequence[float] = MULTIPLES,
    *,
    scale: bool | Literal["auto"] = "auto",
    n_components: int = 512,
    max_rows: int = 6000,
    random_state: Any = 0,
) -> GammaChoice:
    """Select gamma for Fourier features by held-out AUC.

    A sample of rows, balanced where there are enough of each class, is split in halves (two-fold
    cross-validation). For each gamma a ridge ranker with automatic l2 is solved in closed form on either half
    (Eq. 14) and evaluated on the other. Both kinds of scaling are tried first, with the multiple closest to 1,
    then the other multiples with the better scaling. A later candidate replaces the best one only if its AUC is
    higher on both halves, to guard against chance.

    ``O(r d D + r D² + D³)`` time for each gamma, with r rows and D components.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows; NaN where a value is missing.
    y : array-like of shape (n,)
        Two-valued labels, at least 8 rows of each class.
    multiples : sequence of float, default=(0.25, 1.0, 4.0)
        Multiples of the median heuristic (:func:`~mbauc.features.gamma.median_gamma`) to try.
    scale : bool or "auto", default="auto"
        Whether each column is divided by its own standard deviation, or all columns by one number; ``"auto"``
        tries both.
    n_components : int, default=512
        Number of features for each candidate; fewer than for the final fit suffice.
    max_rows : int, default=6000
        Maximum number of rows in the sample.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample and of the frequencies.

    Returns
    -------
    GammaChoice
        ``gamma`` and ``scale``, their held-out ``auc``, and all candidates in ``tried``.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.features import choose_gamma
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> choice = choose_gamma(X, (X**2).sum(axis=1) < 1, n_components=64)
    >>> choice.auc > 0.95, len(choice.tried)
    (True, 4)
    """
    factors = _check_multiples(multiples)
    if not (isinstance(scale, bool | np.bool_) or (isinstance(scale, str) and scale == "auto")):
        raise ValueError(f"scale must be True, False or 'auto', got {scale!r}.")
    check_whole("max_rows", max_rows, 4 * _FEWEST)
    X = as_matrix(X)
    if is_sparse(X):
        X = X.tocsr()
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(
            f"y must have one label for each of the {X.shape[0]:,} rows, got shape {labels.shape}."
        )
    positive = positive_rows(labels, find_classes(labels))
    if not enough_rows(positive):
        raise ValueError(
            f"y has {int(positive.sum()):,} positives and {int((~positive).sum()):,} negatives; to choose "
            f"gamma there must be at least {2 * _FEWEST} rows of each. Use median_gamma instead."
        )
    random = generator(random_state)
    rows = _draw_rows(positive, max_rows, random)
    trial = _Trial(dense_rows(X, rows), positive[rows], n_components, int(random.integers(2**31)))
    start = min(factors, key=lambda factor: abs(np.log(factor)))
    ways = (True, False) if isinstance(scale, str) else (bool(scale),)
    # for so few columns threads of BLAS gain little, and on a busy machine they wait long for each other
    with single_threaded_blas():
        tried = [trial.run(start, own) for own in ways]
        own = _best(tried).scale
        tried += [trial.run(factor, own) for factor in factors if factor != start]
    best = _best(tried)
    return GammaChoice(best.gamma, best.scale, best.auc, tuple(tried))


def _best(tried: list[TriedGamma]) -> TriedGamma:
    """The last that ranks both halves better than the best before it."""
    best = tried[0]
    for one in tried[1:]:
        if all(new > old for new, old in zip(one.aucs, best.aucs, strict=True)):
            best = one
    return best


def enough_rows(positive: NDArray[np.bool_]) -> bool:
    """Whether either half of the rows would have some of both classes."""
    return min(int(positive.sum()), int((~positive).sum())) >= 2 * _FEWEST


class _Trial:
    """Rows to try a kernel on."""

    def __init__(self, X: Array, positive: NDArray[np.bool_], n_components: int, seed: int) -> None:
        self._X, self._positive, self._n_components, self._seed = X, positive, n_components, seed
        self._columns = ColumnUnits.from_rows(X)
        # rows are in random order within each class
        order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        self._halves = (order[0::2], order[1::2])

    def run(self, multiple: float, own: bool) -> TriedGamma:
        """AUC of either half with the weights of the other."""
        center, unit = self._columns.mean, self._columns.units(own=own)
        gamma = multiple * median_gamma(self._X, center, unit, self._seed)
        Z = FourierMap(self._n_components, self._seed, gamma, center, unit).encode(self._X)
        first, second = self._halves
        return TriedGamma(gamma, own, (self._auc(Z, first, second), self._auc(Z, second, first)))

    def _auc(self, Z: Array, train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
        moments = PairMoments.from_arrays(Z[train], self._positive[train])
        problem = Problem(moments, np.ones(Z.shape[1]), scale=False)
        weights = problem.solve(0.0, "auto", tol=1e-6, max_iter=1000).coef
        return float(roc_auc(self._positive[test], Z[test] @ weights))


def _draw_rows(positive: NDArray[np.bool_], max_rows: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Rows of each class in random order: half of each, and more of the one if the other has fewer."""
    positives, negatives = (random.permutation(np.flatnonzero(side)) for side in (positive, ~positive))
    most = max(max_rows // 2, max_rows - negatives.size)
    positives = positives[:most]
    return np.concatenate([positives, negatives[: max_rows - positives.size]])


def _check_multiples(multiples: Any) -> list[float]:
    try:
        found = [check_number("multiples", one, low=0.0, open_low=True) for one in multiples]
    except TypeError:
        raise ValueError(f"multiples must be a sequence of numbers, got {multiples!r}.") from None
    if not found:
        raise ValueError("multiples must have at least one number, got none; leave it out to use the default.")
    return list(dict.fromkeys(found))
