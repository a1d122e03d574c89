"""Standard errors of the weights, from the moments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinvh

from mbauc.pairs.moments import PairMoments
from mbauc.runtime.threads import blas_for_matrix

Array = NDArray[np.float64]


def coefficient_standard_errors(moments: PairMoments, w: Array, ridge: Array) -> Array:
    """Standard deviation of each weight over data sets like this one. ``O(s³)`` for s non-zero weights.

    w solves ``mean of g = 0`` with ``g = z (z'w - 1) + ridge · w`` over the pairs z = x⁺ - x⁻. Averaged over
    one partner, g depends on a single row x = m + u, up to a constant, through ``u u'w + b u + μ u'w``
    with b = μ'w - 1. If u is normal with covariance C, this has covariance ::

        V(C) = (w'Cw) C + C w w'C + (b I + μ w') C (b I + w μ')

    and by the delta method ``Cov(w) = A⁻¹ [V(C₊)/n₊ + V(C₋)/n₋] A⁻¹`` with A = Σ + ridge and n the rows that
    each class counts for (:attr:`mbauc.PairMoments.effective_sizes`). Pairs that stay matched vary a
    little more, by ``[V(C₊ + C₋) - V(C₊) - V(C₋)]`` over their number.

    Assumptions: independent rows, class-conditional normality (for its fourth moments), many rows per
    feature. The penalty's bias is not included. Weights that are exactly zero get zero: the errors hold
    given the selected support.

    Parameters
    ----------
    moments : PairMoments
        What w was fitted to.
    w : ndarray of shape (d,)
        The weights.
    ridge : ndarray of shape (d,)
        What was added to the diagonal of Σ.
    """
    errors = np.zeros_like(w)
    support = np.flatnonzero(w)
    if support.size == 0:
        return errors
    chosen = np.ix_(support, support)
    v, mu = w[support], moments.mean_difference[support]
    system = moments.second_moment[chosen]
    system[np.diag_indices_from(system)] += ridge[support]
    classes = [
        _gradient_covariance(moments.class_covariance(positive)[chosen], v, mu) for positive in (True, False)
    ]
    sizes = moments.effective_sizes
    spread = classes[0] / sizes[0] + classes[1] / sizes[1]
    if moments.is_closed:
        joint = _gradient_covariance(moments.difference_covariance[chosen], v, mu)
        spread += (joint - classes[0] - classes[1]) / moments.n_pairs
    solved = inverse(system)
    errors[support] = np.sqrt(np.maximum(np.diagonal(solved @ spread @ solved), 0.0))
    return errors


def drawing_covariance(moments: PairMoments, w: Array, system: Array) -> Array:
    """What matched pairs add to the covariance of the weights, times their number, if rows are normal."""
    mu = moments.mean_difference
    plus, minus = moments.class_covariance(True), moments.class_covariance(False)
    joint, *single = (_gradient_covariance(C, w, mu) for C in (plus + minus, plus, minus))
    solved = inverse(system)
    return np.asarray(solved @ (joint - single[0] - single[1]) @ solved)


def inverse(system: Array) -> Array:
    """Inverse of a positive definite matrix; the pseudo-inverse of a singular one."""
    with blas_for_matrix(len(system)):
        try:
            factor = cho_factor(system, check_finite=False)
        except LinAlgError:
            return np.asarray(pinvh(system, check_finite=False))
        return np.asarray(cho_solve(factor, np.eye(len(system)), check_finite=False))


def _gradient_covariance(C: Array, w: Array, mu: Array) -> Array:
    """V(C) of :func:`coefficient_standard_errors`."""
    b = float(mu @ w) - 1.0
    Cw = C @ w
    quadratic = float(w @ Cw)
    mixed = b * np.outer(mu, Cw)
    return (quadratic + b**2) * C + np.outer(Cw, Cw) + mixed + mixed.T + quadratic * np.outer(mu, mu)
