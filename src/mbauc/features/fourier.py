"""FourierFeatures: a linear ranker behind it ranks by a smooth function of all columns together."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mbauc.basis.fourier import FourierMap
from mbauc.checks import check_number
from mbauc.features.column_units import ColumnUnits
from mbauc.features.gamma import GammaChoice, choose_gamma, enough_rows, median_gamma
from mbauc.features.numbers import validate_numbers
from mbauc.rows.labels import find_classes, positive_rows
from mbauc.runtime.seeds import generator


class FourierFeatures(TransformerMixin, BaseEstimator):
    """Random Fourier features, which approximate the Gaussian kernel exp(-gamma ‖u - v‖²).

    u and v are centred and scaled rows. A linear model on these features fits a smooth function of all columns
    together. Use it for numeric columns that act together, such as pixels or signals; where effects of columns
    are additive, :class:`CurveFeatures` needs fewer features.

    Frequencies are regenerated from a seed and not stored; only the mean and scale of each column are. Encoding
    a row does not depend on the other rows. Missing values (NaN) are replaced by the mean.

    ``fit`` takes ``O(n d)`` time and, where gamma is chosen, at most about a second more; ``transform``
    ``O(n d D)``, with ``8 n D`` bytes for its result.

    Parameters
    ----------
    n_components : int, default=1024
        Number of features D. More features approximate the kernel better; a subsequent fit takes ``O(n D² +
        D³)``.
    gamma : "auto", "median" or float, default="auto"
        Kernel coefficient; larger values fit finer structure. ``"median"`` is 1 / (2 m), m being the median
        squared distance between rows. ``"auto"`` selects among multiples of it by held-out AUC
        (:func:`choose_gamma`) if ``fit`` has labels of two classes, at least 8 rows of each; otherwise it is
        ``"median"``.
    scale : bool or "auto", default="auto"
        ``True`` standardises each column; ``False`` divides all columns by one number, which is right for
        columns in the same unit, such as pixels, where columns of low variance matter little. ``"auto"`` tries
        both if gamma is selected; otherwise it is ``True``.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the frequencies, and of the rows used to select gamma.

    Attributes
    ----------
    map_ : FourierMap
        The fitted encoding; ``map_.to_dict()`` returns it as data.
    gamma_ : float
        The gamma used.
    scale_ : bool
        Whether each column is divided by its own standard deviation.
    choice_ : GammaChoice or None
        The candidates and their held-out AUC, if gamma was selected.
    columns_ : ColumnUnits
        Count, mean and variance of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)

    See Also
    --------
    choose_gamma : selects the kernel coefficient by held-out AUC.
    CurveFeatures : additive effects of single columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from mbauc import MBAClassifier
    >>> from mbauc.features import FourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = (X**2).sum(axis=1) < 1
    >>> ranker = make_pipeline(FourierFeatures(128), MBAClassifier()).fit(X[:1000], y[:1000])
    >>> from mbauc.metrics import roc_auc
    >>> roc_auc(y[1000:], ranker.decision_function(X[1000:])) > 0.98
    True
    """

    map_: FourierMap
    gamma_: float
    scale_: bool
    choice_: GammaChoice | None
    columns_: ColumnUnits
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        n_components: int = 1024,
        gamma: float | Literal["auto", "median"] = "auto",
        *,
        scale: bool | Literal["auto"] = "auto",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.scale = scale
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Compute mean and scale of each column, and select gamma.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Rows of numbers; NaN where one is missing.
        y : array-like of shape (n,), optional
            Labels; with two classes, ``gamma="auto"`` is selected by held-out AUC.
        """
        X = self._validate(X, reset=True)
        columns = ColumnUnits.from_rows(X)
        seed = int(generator(self.random_state).integers(2**31))
        self._check()
        choice = self._choose(X, y, seed)
        if choice is not None:
            gamma, own = choice.gamma, choice.scale
        else:
            own = True if isinstance(self.scale, str) else bool(self.scale)
            gamma = (
                median_gamma(X, columns.mean, columns.units(own=own), seed)
                if isinstance(self.gamma, str)
                else float(self.gamma)
            )
        self.map_ = FourierMap(self.n_components, seed, gamma, columns.mean, columns.units(own=own))
        self.gamma_, self.scale_, self.choice_, self.columns_ = gamma, own, choice, columns
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Update means and scales of the columns with a block of rows.

        The first block also determines ``gamma_`` and ``scale_``, which then stay fixed: it should have some
        thousand rows. Features change with each block: finish the pass before calling ``transform``.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        """
        if not hasattr(self, "map_"):
            return self.fit(X, y)
        X = self._validate(X, reset=False)
        columns = self.columns_ + ColumnUnits.from_rows(X)
        known = self.map_
        unit = columns.units(own=self.scale_)
        self.map_ = FourierMap(known.n_components, known.seed, known.gamma, columns.mean, unit)
        self.columns_ = columns
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Encode rows as cosine and sine of each frequency, side by side.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Numeric rows, with NaN for missing values. Sparse rows are made dense a few at a time.

        Returns
        -------
        ndarray of shape (n, D)
        """
        check_is_fitted(self, "map_")
        return self.map_.encode(self._validate(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: ``cos0``, ``sin0``, ``cos1``, …; names of the columns are ignored."""
        check_is_fitted(self, "map_")
        return np.array(self.map_.names, dtype=object)

    def _choose(self, X: Any, y: ArrayLike | None, seed: int) -> GammaChoice | None:
        """The choice by held-out rows, where it is wanted and labels allow it."""
        if y is None or not (isinstance(self.gamma, str) and self.gamma == "auto"):
            return None
        if type_of_target(y) != "binary":
            return None
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        classes = np.unique(labels)
        if classes.size < 2 or not enough_rows(positive_rows(labels, find_classes(labels))):
            return None
        return choose_gamma(X, labels, scale=self.scale, random_state=seed)

    def _check(self) -> None:
        if isinstance(self.gamma, str):
            if self.gamma not in ("auto", "median"):
                raise ValueError(f"gamma must be 'auto', 'median' or a number, got {self.gamma!r}.")
        else:
            check_number("gamma", self.gamma, low=0.0, open_low=True)
        if not isinstance(self.scale, bool | np.bool_) and self.scale != "auto":
            raise ValueError(f"scale must be True, False or 'auto', got {self.scale!r}.")

    def _validate(self, X: Any, *, reset: bool) -> Any:
        return validate_numbers(self, X, reset=reset, accept_sparse="csr", dtype="numeric")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
