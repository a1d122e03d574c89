"""What moments say about the scores x'w of given weights, without a look at the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from mbauc.checks import abbreviate
from mbauc.pairs.moment_sums import MomentSums

Array = NDArray[np.float64]


class ScorerStatistics(ABC):
    """Means, variances, risk and binormal AUC of scores, from class sums and sets of pairs."""

    sums: MomentSums

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @property
    @abstractmethod
    def mean_difference(self) -> Array:
        """μ."""

    @abstractmethod
    def _require_pairs(self) -> None:
        """Raise if there are no pairs."""

    def _columns(self, w: ArrayLike) -> tuple[Array, bool]:
        """Weight vectors as the columns of a matrix, and whether there was just one."""
        try:
            W = np.asarray(w, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"w must hold numbers, got {abbreviate(w)}.") from None
        if W.ndim not in (1, 2) or W.shape[-1] != self.n_features:
            raise ValueError(
                f"w must have shape ({self.n_features},) or (k, {self.n_features}), got {W.shape}."
            )
        return np.atleast_2d(W).T, W.ndim == 1

    @staticmethod
    def _result(values: Array, single: bool) -> Any:
        return float(values[0]) if single else values

    def score_means(self, w: ArrayLike) -> tuple[Any, Any]:
        """Mean of the score x'w in each class, (positives, negatives); arrays for several w."""
        W, single = self._columns(w)
        return (
            self._result(self.sums.classes.positive.mean @ W, single),
            self._result(self.sums.classes.negative.mean @ W, single),
        )

    def score_variances(self, w: ArrayLike) -> tuple[Any, Any]:
        """Variance of the score x'w in each class, (positives, negatives). ``O(d²)`` per w."""
        W, single = self._columns(w)
        plus, minus = self.sums.classes.score_variances(W)
        return self._result(plus, single), self._result(minus, single)

    def score_difference(self, w: ArrayLike) -> tuple[Any, Any]:
        """Mean and variance over the pairs of the difference w'(x⁺ - x⁻); arrays for several w."""
        W, single = self._columns(w)
        mean, variance = self._difference_moments(W)
        return self._result(mean, single), self._result(variance, single)

    def _difference_moments(self, W: Array) -> tuple[Array, Array]:
        """Mean and variance over the pairs of the score difference, for each column of W."""
        self._require_pairs()
        mean = self.mean_difference @ W
        if self.sums.pairs is not None:
            quadratic = np.einsum("ij,ij->j", W, self.sums.pairs.scatter @ W)
            return mean, np.maximum(quadratic, 0.0) / self.sums.pairs.differences.weight
        plus, minus = self.sums.classes.score_variances(W)
        return mean, plus + minus

    def risk(self, w: ArrayLike) -> Any:
        """Mean of (1 - w'(x⁺ - x⁻))² over the pairs: the exact pairwise squared risk of Eq. (8).

        Parameters
        ----------
        w : array-like of shape (d,) or (k, d)
            One scorer, or several.

        Returns
        -------
        float, or ndarray of shape (k,)
        """
        W, single = self._columns(w)
        mean, variance = self._difference_moments(W)
        return self._result((1.0 - mean) ** 2 + variance, single)

    def binormal_auc(self, w: ArrayLike) -> Any:
        """AUC that x'w would have if its scores were normal in each class: Φ(w'μ / √(w'(Σ - μμ')w)).

        Computed without another pass over the data. Accurate if scores are sums of many small terms, inaccurate
        if they have heavy tails. Arguments and result as for :meth:`risk`.
        """
        W, single = self._columns(w)
        mean, variance = self._difference_moments(W)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(mean == 0.0, 0.0, mean / np.sqrt(variance))
        return self._result(ndtr(ratio), single)
