"""Whether one method beats another over repeated splits of data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from mbauc.checks import check_number, check_share

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PairedTest:
    """Result of a paired t-test of two methods over the same splits.

    Attributes
    ----------
    difference, stderr : float
        Mean of a - b and its standard error.
    statistic, p_value : float
        Student's t and its two-sided p-value.
    """

    difference: float
    stderr: float
    statistic: float
    p_value: float


def paired_t_test(a: ArrayLike, b: ArrayLike, *, test_ratio: float = 0.0) -> PairedTest:
    """Paired t-test of the scores of two methods over n splits.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of both methods on the same splits, in the same order.
    test_ratio : float, default=0.0
        Number of test rows over number of training rows of a split. 0 is the plain test, which the MBA paper
        uses. It assumes independent splits; random splits of one data set share most of their rows, so that its
        false-positive rate is far too high. With the ratio (1 for halves) the variance is corrected (Nadeau and
        Bengio 2003): s² (1/n + test_ratio) instead of s²/n.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> a, b = [0.91, 0.92, 0.90, 0.93, 0.91], [0.90, 0.90, 0.90, 0.91, 0.90]
    >>> round(paired_t_test(a, b).p_value, 3), round(paired_t_test(a, b, test_ratio=1.0).p_value, 3)
    (0.033, 0.261)
    """
    check_number("test_ratio", test_ratio, low=0.0)
    gaps = _gaps(a, b)
    n = gaps.size
    difference = float(gaps.mean())
    # gaps that are equal but for rounding have no spread
    spread = float(gaps.std(ddof=1))
    spread = 0.0 if spread <= 1e-12 * float(np.abs(gaps).max()) else spread
    stderr = spread * float(np.sqrt(1 / n + test_ratio))
    if stderr == 0.0:
        certain = difference != 0.0
        return PairedTest(
            difference, 0.0, np.copysign(np.inf, difference) if certain else 0.0, float(not certain)
        )
    statistic = difference / stderr
    return PairedTest(difference, stderr, statistic, float(2 * stats.t.sf(abs(statistic), n - 1)))


@dataclass(frozen=True)
class WinTieLoss:
    """Counts of data sets on which a method is significantly better, not different, or worse.

    Attributes
    ----------
    wins, ties, losses : int
        Number of data sets with each outcome.
    outcome : dict of str to int
        1, 0 or -1 for each data set.
    tests : dict of str to PairedTest
        The test of each data set.
    """

    wins: int
    ties: int
    losses: int
    outcome: dict[str, int]
    tests: dict[str, PairedTest]

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def win_tie_loss(
    ours: Mapping[str, ArrayLike],
    theirs: Mapping[str, ArrayLike],
    *,
    confidence: float = 0.95,
    test_ratio: float = 0.0,
) -> WinTieLoss:
    """Count data sets on which one method is significantly better, not different, or worse than another.

    Parameters
    ----------
    ours, theirs : mapping of data set to scores
        Scores of each method over the same splits, for each data set.
    confidence : float, default=0.95
        A difference is significant if its p-value is below 1 - confidence.
    test_ratio : float, default=0.0
        As for :func:`paired_t_test`.

    Returns
    -------
    WinTieLoss

    Examples
    --------
    >>> ours = {"easy": [0.99, 0.98, 0.99], "hard": [0.61, 0.63, 0.59]}
    >>> theirs = {"easy": [0.90, 0.91, 0.92], "hard": [0.60, 0.62, 0.64]}
    >>> print(win_tie_loss(ours, theirs))
    1/1/0
    """
    check_share("confidence", confidence)
    if set(ours) != set(theirs) or not ours:
        odd = sorted(map(str, set(ours) ^ set(theirs)))
        raise ValueError(
            f"both methods need scores for the same data sets, at least one; {odd} are not shared."
        )
    tests, outcome = {}, {}
    for name in ours:
        try:
            test = paired_t_test(ours[name], theirs[name], test_ratio=test_ratio)
        except ValueError as error:
            raise ValueError(f"data set {name!r}: {error}") from None
        tests[str(name)] = test
        outcome[str(name)] = int(np.sign(test.difference)) if test.p_value < 1 - confidence else 0
    wins, ties, losses = (sum(value == sign for value in outcome.values()) for sign in (1, 0, -1))
    return WinTieLoss(wins, ties, losses, outcome, tests)


def finite_vector(name: str, values: Any) -> Array:
    """Finite numbers in one dimension, or an error that names the argument."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers.") from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}.")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name} has {array[place]} at place {place}; every score must be finite.")
    return array


def _gaps(a: Any, b: Any) -> Array:
    first, second = finite_vector("a", a), finite_vector("b", b)
    if first.size != second.size or first.size < 2:
        raise ValueError(
            f"a and b must have scores of the same splits, at least 2; got {first.size} and {second.size}."
        )
    return first - second
