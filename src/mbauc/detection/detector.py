"""Lemma 1: the Neyman–Pearson detector, and what it detects at a given false-alarm rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from mbauc.seeds import generator
from mbauc.settings import check_number

Array = NDArray[np.float64]

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Detector:
    """The rule of Lemma 1: positive where p₊ > η p₋, by a coin of probability γ where they are equal.

    Attributes
    ----------
    eta : float
        Threshold η of the likelihood ratio.
    log_eta : float
        Its logarithm, which scores are compared with.
    gamma : float
        Probability γ of a positive decision at the threshold.
    detection, false_alarm : float
        P_D and P_F of the rule.
    """

    log_eta: float
    gamma: float
    detection: float
    false_alarm: float

    @property
    def eta(self) -> float:
        """Threshold of the likelihood ratio itself."""
        return float(np.exp(self.log_eta))

    def decide(self, log_likelihood_ratio: ArrayLike, random_state: Any = None) -> NDArray[np.bool_]:
        """True where the decision is positive."""
        ratio = np.asarray(log_likelihood_ratio, dtype=np.float64)
        if np.isnan(ratio).any():
            raise ValueError("log_likelihood_ratio must not hold NaN.")
        coin = generator(random_state).random(ratio.shape) < self.gamma
        return np.asarray((ratio > self.log_eta) | ((ratio == self.log_eta) & coin))


class DetectionCurve(Protocol):
    """The ROC curve of a likelihood-ratio test, P_D against P_F."""

    @property
    def auc(self) -> float:
        """Area under it: the largest that any scorer reaches."""

    def detector(self, alpha: float) -> Detector:
        """The rule with false-alarm rate alpha."""

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-alarm rates."""


class AtomicCurve:
    """The curve of a likelihood ratio that takes finitely many values, or of a sample of its values.

    Parameters
    ----------
    log_ratio : ndarray of shape (m,)
        Values of log p₊/p₋; infinite where one of the two is zero.
    plus, minus : ndarray of shape (m,)
        Probability of each value under both hypotheses.
    """

    def __init__(self, log_ratio: Array, plus: Array, minus: Array) -> None:
        levels, place = np.unique(-log_ratio, return_inverse=True)
        self._levels = -levels  # falling
        self._plus = np.bincount(place, weights=plus)
        self._minus = np.bincount(place, weights=minus)
        self._rates = (
            np.concatenate([[0.0], np.cumsum(self._minus)]),
            np.concatenate([[0.0], np.cumsum(self._plus)]),
        )

    @property
    def auc(self) -> float:
        """Area under the curve; values with the same ratio are tied."""
        false_alarm, detection = self._rates
        return float(np.sum(np.diff(false_alarm) * (detection[:-1] + detection[1:]) / 2))

    def detector(self, alpha: float) -> Detector:
        """η, γ, P_D and P_F for a false-alarm rate of exactly alpha (in [0, 1])."""
        check_number("alpha", alpha, low=0.0, high=1.0)
        false_alarm, detection = self._rates
        # the last level that is wholly or partly accepted
        at = min(int(np.searchsorted(false_alarm[1:], alpha, side="left")), self._levels.size - 1)
        gamma = 1.0  # stays where alpha = 0 and the negative hypothesis excludes the outcome
        if self._minus[at] > 0.0:
            gamma = min(1.0, float((alpha - false_alarm[at]) / self._minus[at]))
        return Detector(
            float(self._levels[at]),
            gamma,
            float(detection[at] + gamma * self._plus[at]),
            float(false_alarm[at] + gamma * self._minus[at]),
        )

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-alarm rates; between values of the ratio a coin decides."""
        return np.asarray(np.interp(np.asarray(false_alarm, dtype=np.float64), *self._rates))


class TailCurve:
    """The curve of a continuous statistic whose tails are known under both hypotheses.

    Parameters
    ----------
    plus, minus : callable
        P(statistic > z) under the positive and the negative hypothesis.
    span : tuple of two floats
        Where the statistic lies, but for a probability that float64 cannot tell from zero.
    auc : float
        Area under the curve.
    log_ratio : callable, optional
        log p₊/p₋ as an increasing function of the statistic.
    """

    def __init__(
        self,
        plus: Callable[[Any], Array],
        minus: Callable[[Any], Array],
        span: tuple[float, float],
        auc: float,
        log_ratio: Callable[[float], float] | None = None,
    ) -> None:
        self._plus, self._minus, self._span, self._auc, self._log_ratio = plus, minus, span, auc, log_ratio

    @property
    def auc(self) -> float:
        """Area under the curve."""
        return self._auc

    def threshold(self, alpha: float) -> float:
        """Value that the statistic exceeds with probability alpha under the negative hypothesis."""
        check_number("alpha", alpha, low=0.0, high=1.0)
        if alpha in (0.0, 1.0):
            return np.inf if alpha == 0.0 else -np.inf
        low, high = self._span
        if alpha >= self._minus(low):
            return low
        if alpha <= self._minus(high):
            return high

        def excess(z: float) -> float:
            # on the scale of logarithms, so that 1e-9 is met as well as 0.1
            return float(np.log(np.maximum(self._minus(z), _TINY)) - np.log(alpha))

        return float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14))

    def detector(self, alpha: float) -> Detector:
        """η, γ, P_D and P_F for a false-alarm rate of alpha; ties have no probability, so γ = 0."""
        if self._log_ratio is None:
            raise ValueError("this curve is not that of a likelihood ratio; use threshold(alpha).")
        z = self.threshold(alpha)
        log_eta = float(self._log_ratio(z)) if np.isfinite(z) else z
        return Detector(log_eta, 0.0, float(self._plus(z)), float(self._minus(z)))

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-alarm rates."""
        rates = np.asarray(false_alarm, dtype=np.float64)
        return np.array([float(self._plus(self.threshold(float(rate)))) for rate in rates.ravel()]).reshape(
            rates.shape
        )
