"""Lemma 1: the Neyman–Pearson detector, and what it detects at a given false-alarm rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from mbauc.checks import check_number
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Detector:
    """Neyman–Pearson test of Lemma 1: positive if p₊ > η p₋, randomised with probability γ if equal.

    Attributes
    ----------
    eta : float
        Threshold η of the likelihood ratio.
    log_eta : float
        Logarithm of η, the threshold of the scores.
    gamma : float
        Probability γ of a positive decision at the threshold.
    detection, false_alarm : float
        P_D (true-positive rate) and P_F (false-positive rate) of the test.
    """

    log_eta: float
    gamma: float
    detection: float
    false_alarm: float

    @property
    def eta(self) -> float:
        """Threshold η of the likelihood ratio."""
        return float(np.exp(self.log_eta))

    def decide(self, log_likelihood_ratio: ArrayLike, random_state: Any = None) -> NDArray[np.bool_]:
        """Decide; True where the decision is positive."""
        ratio = np.asarray(log_likelihood_ratio, dtype=np.float64)
        if np.isnan(ratio).any():
            raise ValueError("log_likelihood_ratio must not hold NaN.")
        coin = generator(random_state).random(ratio.shape) < self.gamma
        return np.asarray((ratio > self.log_eta) | ((ratio == self.log_eta) & coin))


class DetectionCurve(Protocol):
    """The ROC curve of a likelihood-ratio test, P_D against P_F."""

    @property
    def auc(self) -> float:
        """Area under the curve: the largest AUC of any scorer."""

    def detector(self, false_alarm: float) -> Detector:
        """The test with a given false-positive rate."""

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-positive rates."""


class AtomicCurve:
    """ROC curve of a likelihood ratio with finitely many values, or of a sample of its values.

    Parameters
    ----------
    log_ratio : array-like of shape (m,)
        Values of log p₊/p₋; infinite where one of the two is zero.
    plus, minus : array-like of shape (m,)
        Probability of each value under both hypotheses; each sums to one.
    """

    def __init__(self, log_ratio: ArrayLike, plus: ArrayLike, minus: ArrayLike) -> None:
        ratio, above, below = (np.asarray(part, dtype=np.float64) for part in (log_ratio, plus, minus))
        if np.isnan(ratio).any():
            raise ValueError("log_ratio must not hold NaN.")
        levels, place = np.unique(-ratio, return_inverse=True)
        self._levels = -levels  # falling
        self._plus, self._minus = (
            np.bincount(place, weights=part).astype(np.float64) for part in (above, below)
        )
        self._rates = _cumulate(self._minus), _cumulate(self._plus)

    @property
    def auc(self) -> float:
        """Area under the curve; values with the same ratio are tied."""
        false_alarm, detection = self._rates
        return float(np.sum(np.diff(false_alarm) * (detection[:-1] + detection[1:]) / 2))

    def detector(self, false_alarm: float) -> Detector:
        """η, γ, P_D and P_F for exactly that false-positive rate (in [0, 1]). ``O(log m)``."""
        wanted = check_number("false_alarm", false_alarm, low=0.0, high=1.0)
        rates, detection = self._rates
        # levels that are accepted whole; the rest of the rate goes to the next level, by a coin
        whole = int(np.searchsorted(rates[1:], wanted, side="right"))
        rest = wanted - rates[whole]
        if whole == self._levels.size or (whole > 0 and rest <= 0.0):
            at, gamma = whole - 1, 1.0
        else:
            at, gamma = whole, min(1.0, float(rest / self._minus[whole]))
        return Detector(
            float(self._levels[at]),
            gamma,
            min(1.0, float(detection[at] + gamma * self._plus[at])),
            min(1.0, float(rates[at] + gamma * self._minus[at])),
        )

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-positive rates; decisions are randomised between values of the ratio."""
        return np.asarray(np.interp(_check_rates(false_alarm), *self._rates))


def _cumulate(masses: Array) -> Array:
    """Sums from none to all, which is one but for rounding."""
    sums: Array = np.minimum(np.concatenate([[0.0], np.cumsum(masses)]), 1.0)
    sums[-1] = 1.0
    return sums


class TailCurve:
    """ROC curve of a continuous statistic with known tail probabilities under both hypotheses.

    Parameters
    ----------
    plus, minus : callable
        P(statistic > z) under the positive and the negative hypothesis.
    span : tuple of two floats
        Interval that contains the statistic, up to a probability below float64 resolution; of width of the
        order of one to a thousand.
    auc : float
        Area under the curve.
    log_ratio : callable, optional
        log p₊/p₋ as an increasing function of the statistic.
    origin, unit : float
        The score is ``origin + unit`` times the statistic.
    """

    def __init__(
        self,
        plus: Callable[[Any], Array],
        minus: Callable[[Any], Array],
        span: tuple[float, float],
        auc: float,
        log_ratio: Callable[[float], float] | None = None,
        origin: float = 0.0,
        unit: float = 1.0,
    ) -> None:
        self._plus, self._minus, self._span, self._auc, self._log_ratio = plus, minus, span, auc, log_ratio
        self._origin, self._unit = origin, unit

    @property
    def auc(self) -> float:
        """Area under the curve."""
        return self._auc

    def threshold(self, false_alarm: float) -> float:
        """Score that is exceeded with this probability under the negative hypothesis."""
        return self._origin + self._unit * self._place(
            check_number("false_alarm", false_alarm, low=0.0, high=1.0)
        )

    def detector(self, false_alarm: float) -> Detector:
        """η, γ, P_D and P_F for a false-positive rate; ties have probability zero, so γ = 0."""
        if self._log_ratio is None:
            raise ValueError("this curve is not that of a likelihood ratio; use threshold(false_alarm).")
        z = self._place(check_number("false_alarm", false_alarm, low=0.0, high=1.0))
        log_eta = float(self._log_ratio(z)) if np.isfinite(z) else z
        return Detector(log_eta, 0.0, float(self._plus(z)), float(self._minus(z)))

    def detection(self, false_alarm: ArrayLike) -> Array:
        """P_D at given false-positive rates; one root search for each, about 0.1 ms."""
        rates = _check_rates(false_alarm)
        found = [float(self._plus(self._place(float(rate)))) for rate in rates.ravel()]
        return np.array(found).reshape(rates.shape)

    def _place(self, false_alarm: float) -> float:
        """The statistic's threshold."""
        if false_alarm in (0.0, 1.0):
            return np.inf if false_alarm == 0.0 else -np.inf
        low, high = self._span
        if false_alarm >= self._minus(low):
            return low
        if false_alarm <= self._minus(high):
            return high

        def excess(z: float) -> float:
            # on the scale of logarithms, so that 1e-9 is met as well as 0.1
            return float(np.log(np.maximum(self._minus(z), _TINY)) - np.log(false_alarm))

        return float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14))


def _check_rates(false_alarm: ArrayLike) -> Array:
    rates = np.asarray(false_alarm, dtype=np.float64)
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise ValueError(f"false_alarm must lie between 0 and 1, got {false_alarm!r}.")
    return rates
