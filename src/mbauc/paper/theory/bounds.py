"""Lemma 3: how far the moments of S drawn pairs may be from those of all pairs, and how large weights can be.

``constants="paper"`` gives the printed formulas, of which some do not hold; ``"rigorous"``, the default,
those that do. docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_number, check_share, check_whole
from mbauc.paper.theory.bernstein import Bernstein

Constants = Literal["rigorous", "paper"]


def second_moment_tail(
    gamma: ArrayLike,
    pairs: ArrayLike,
    *,
    d: int,
    R_x: float,
    sigma_norm: float,
    constants: Constants = "rigorous",
) -> Any:
    """Bound on P(‖Σ_S - Σ_N‖₂ > γ) for S matched pairs drawn with replacement, Lemma 3(i).

    Rigorous: ``2 d exp(-S γ² / (8 R_x ‖Σ_N‖ + (8/3) R_x γ))``. The paper has 4 in place of the 8, which does
    not hold for all data. ``O(1)`` for each γ.

    Parameters
    ----------
    gamma : float or array-like
        Distance in the spectral norm.
    pairs : int or array-like
        Number S of pairs.
    d : int
        Number of features.
    R_x : float
        Largest squared distance of any row from one fixed point.
    sigma_norm : float
        Spectral norm of Σ_N.
    constants : {"rigorous", "paper"}, default="rigorous"
        Proven constants, or those printed in the paper.

    Returns
    -------
    float, or ndarray if γ or S is an array

    Examples
    --------
    >>> round(second_moment_tail(0.1, 10_000, d=5, R_x=1.0, sigma_norm=0.5), 11)
    6.6e-10
    >>> second_moment_tail([0.01, 0.05], 10_000, d=5, R_x=1.0, sigma_norm=0.5).round(4)
    array([1.    , 0.0236])
    """
    inequality = second_moment_inequality(
        check_dimension(d), check_size("R_x", R_x), check_size("sigma_norm", sigma_norm), constants
    )
    return _tail(inequality, "gamma", gamma, pairs)


def mean_tail(t: ArrayLike, pairs: ArrayLike, *, d: int, R_x: float, trace: float) -> Any:
    """Bound on P(‖μ_S - μ_N‖ > t) for S matched pairs drawn with replacement.

    ``(d + 1) exp(-S t²/2 / (tr Σ_N + 4 √R_x t / 3))``: replaces Lemma 3(ii), because it holds uniformly over
    all weights, including those fitted to the same pairs. ``O(1)`` for each t.

    Parameters
    ----------
    t : float or array-like
        Euclidean distance.
    pairs, d, R_x
        As for :func:`second_moment_tail`.
    trace : float
        Trace of Σ_N, the mean squared length of a difference.

    Returns
    -------
    float, or ndarray if t or S is an array

    Examples
    --------
    >>> round(mean_tail(0.1, 10_000, d=5, R_x=1.0, trace=2.0), 10)
    4e-10
    """
    inequality = mean_inequality(check_dimension(d), check_size("R_x", R_x), check_size("trace", trace))
    return _tail(inequality, "t", t, pairs)


def linear_tail(
    gamma: ArrayLike,
    pairs: ArrayLike,
    *,
    R_x: float,
    R_w: float,
    d: int | None = None,
    trace: float | None = None,
    sigma_norm: float | None = None,
    constants: Constants = "rigorous",
) -> Any:
    """Bound on ``P(|(w_N - w_S)'(μ_N - μ_S)| > γ)``, the event of Lemma 3(ii).

    Rigorous: :func:`mean_tail` at t = γ / (2 √R_w), needs ``d`` and ``trace``. Printed: ``2 exp(-S γ² / (4 R_w
    ‖Σ_N‖ + (8/3) γ √(R_x R_w)))``, needs ``sigma_norm``; it treats w_S as independent of the sampled pairs.
    ``O(1)`` for each γ.

    Parameters
    ----------
    gamma, pairs, R_x
        As for :func:`second_moment_tail`.
    R_w : float
        Largest squared norm of the weights; see :func:`weight_bound`.
    d
        As for :func:`second_moment_tail`.
    trace : float
        Trace of Σ_N.
    sigma_norm, constants
        As for :func:`second_moment_tail`.

    Returns
    -------
    float, or ndarray if γ or S is an array

    Examples
    --------
    >>> round(linear_tail(0.2, 10_000, R_x=1.0, R_w=1.0, d=5, trace=2.0), 10)
    4e-10
    >>> linear_tail(0.2, 10_000, R_x=1.0, R_w=1.0, sigma_norm=0.5, constants="paper") < 1e-60
    True
    """
    check_choice("constants", constants, ("rigorous", "paper"))
    check_size("R_x", R_x)
    check_positive("R_w", R_w)
    if constants == "paper":
        if sigma_norm is None:
            raise ValueError("sigma_norm must be given with constants='paper'; it is the norm of Σ.")
        return _tail(
            printed_linear_inequality(R_x, R_w, check_size("sigma_norm", sigma_norm)), "gamma", gamma, pairs
        )
    if d is None or trace is None:
        raise ValueError("d and trace must be given with constants='rigorous'; trace is the trace of Σ.")
    inequality = mean_inequality(check_dimension(d), R_x, check_size("trace", trace))
    return _tail(inequality, "gamma", gamma, pairs, unit=2 * math.sqrt(R_w))


def residual_tail(t: ArrayLike, pairs: ArrayLike, *, d: int, R_x: float, R_w: float) -> Any:
    """Bound on P(‖(Σ_S - Σ_N) w_N - (μ_S - μ_N)‖ > t): the gradient of the sampled objective at w_N.

    ``(d + 1) exp(-S t²/2 / (4 R_x + 4 √R_x (1 + √(R_x R_w)) t / 3))``. It is the mean of one vector per pair, x
    (x'w_N - 1) minus its expectation, so no matrix has to converge, and w_N does not depend on the sample.
    ``O(1)`` for each t.

    Parameters
    ----------
    t : float or array-like
        Euclidean length.
    pairs, d, R_x
        As for :func:`second_moment_tail`.
    R_w : float
        Largest squared norm of w_N; see :func:`weight_bound`.

    Returns
    -------
    float, or ndarray if t or S is an array

    Examples
    --------
    >>> round(residual_tail(0.1, 10_000, d=5, R_x=1.0, R_w=1.0), 6)
    4.9e-05
    """
    inequality = residual_inequality(check_dimension(d), check_size("R_x", R_x), check_positive("R_w", R_w))
    return _tail(inequality, "t", t, pairs)


def weight_bound(l1: float = 0.0, l2: float = 0.0) -> float:
    """R_w: bound on the squared norm of any minimiser of Eq. (14) or (18), for any data. ``O(1)``.

    At the minimiser w'Σw + l2 ‖w‖² + l1 ‖w‖₁ = w'μ, and Σ exceeds μμ', so that with s = w'μ
    ``l2 ‖w‖² + l1 ‖w‖ ≤ s - s² ≤ 1/4``. Solved for ‖w‖: ``R_w = 1 / (4 (l1 + √(l1² + l2))²)``, which is
    1 / (4 l2) for ridge, 1 / (16 l1²) for the lasso, and less than either for the elastic net.

    Parameters
    ----------
    l1, l2 : float
        λ₁ and λ₂ of Eq. (14), not both 0.

    Examples
    --------
    >>> weight_bound(l2=0.1), weight_bound(l1=0.5), round(weight_bound(l1=0.5, l2=0.1), 4)
    (2.5, 0.25, 0.2098)
    """
    check_number("l1", l1, low=0.0)
    check_number("l2", l2, low=0.0)
    if l1 == 0.0 and l2 == 0.0:
        raise ValueError(
            "l1 and l2 must not both be 0, got l1=0, l2=0: without a penalty nothing bounds the weights. "
            "Give l2 > 0 (or l1 > 0)."
        )
    return float(0.25 / (l2 + 2 * l1 * (l1 + math.sqrt(l1**2 + l2))))


# -- the inequalities, for what is built on them -------------------------------------------------------


def second_moment_inequality(d: int, R_x: float, sigma_norm: float, constants: Constants) -> Bernstein:
    """Of Σ_S - Σ_N. With ‖x⁺ - x⁻‖² ≤ 4 R_x its terms and their variance follow; (25) has half the latter."""
    check_choice("constants", constants, ("rigorous", "paper"))
    factor = 4.0 if constants == "rigorous" else 2.0
    return Bernstein(2 * d, factor * R_x * sigma_norm, 4 * R_x)


def mean_inequality(d: int, R_x: float, trace: float) -> Bernstein:
    """Of the vector μ_S - μ_N."""
    return Bernstein(d + 1, trace, 4 * math.sqrt(R_x))


def printed_linear_inequality(R_x: float, R_w: float, sigma_norm: float) -> Bernstein:
    """Of the scalar (w_N - w_S)'(μ_N - μ_S), with the constants of (26) and (27)."""
    return Bernstein(2, 2 * R_w * sigma_norm, 4 * math.sqrt(R_x * R_w))


def residual_inequality(d: int, R_x: float, R_w: float) -> Bernstein:
    """Of the vector (Σ_S - Σ_N) w_N - (μ_S - μ_N); the risk of w_N is at most that of zero, which is 1."""
    return Bernstein(d + 1, 4 * R_x, 4 * math.sqrt(R_x) * (1 + math.sqrt(R_x * R_w)))


def check_dimension(d: Any) -> int:
    """A number of features."""
    check_whole("d", d)
    return int(d)


def check_size(name: str, value: Any) -> float:
    """A norm, a trace or a squared length: finite and not negative."""
    return check_number(name, value, low=0.0)


def check_positive(name: str, value: Any) -> float:
    """A number that is divided by: finite and greater than zero."""
    return check_number(name, value, low=0.0, open_low=True)


def check_probability(p: Any) -> float:
    """A probability that is neither 0, which no bound reaches, nor 1, which needs none."""
    return check_share("p", p)


def _tail(inequality: Bernstein, name: str, threshold: ArrayLike, pairs: ArrayLike, unit: float = 1.0) -> Any:
    """Probabilities from checked numbers, the threshold in some unit; a float for one."""
    t, size = _numbers(name, threshold, 0.0), _numbers("pairs", pairs, 1.0)
    tail = inequality.tail(t / unit, size)
    return float(tail) if tail.ndim == 0 else tail


def _numbers(name: str, values: ArrayLike, low: float) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers, got {values!r}.") from None
    if not (numbers >= low).all():
        raise ValueError(f"{name} must be at least {low:g} everywhere, got {values!r}.")
    return numbers
