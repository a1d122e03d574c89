"""How far weights are from the minimum of Eq. (14), at most or by an estimate, and what that means for AUC."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mbauc.solvers.operator import SymmetricOperator
from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]

#: Lanczos steps spent on the curvature among unpenalised features.
_CURVATURE_STEPS = 12
#: Seed of their first vector.
_CURVATURE_SEED = 0
#: Eigenvalues of the scaled Σ below this count as zero.
_SINGULAR = 1e-12
#: Newton steps on the length of the dual point.
_SCALING_STEPS = 3
#: The excess risk is extrapolated from the latest so many steps …
WINDOW = 3
#: … which are taken to shrink by this factor at the fastest …
_FASTEST = 1 / 3
#: … and by this one at the slowest.
_SLOWEST = 0.9


def excess_risk_bound(
    products: SymmetricOperator, penalty: Penalty, w: Array, product: Array, *, curvature: float = 1.0
) -> float:
    """Upper bound on R(w) - min R, the regularised pairwise risk R(w) = 1 - 2w'μ + w'Σw + 2 penalty(w).

    Eq. (14) over all pairs is a least-squares problem in n + 1 rows X with targets y: X'X = Σ, X'y = μ,
    y'y = 1. Let r = y - Xw, so that X'r = μ - Σw =: p and r'r = 1 - 2w'μ + w'Σw. Every point s·r gives a
    lower bound of the minimum by duality, and R(w) minus that bound is, summed over the features,

        (1 - s)² r'r + 2 Σⱼ [hⱼ(wⱼ) + hⱼ*(s pⱼ) - s wⱼ pⱼ],    hⱼ(v) = fⱼ (l1 |v| + ½ l2 v²).

    * If l2 > 0, hⱼ*(u) = (|u| - l1 fⱼ)₊² / (2 l2 fⱼ): any s will do. With l1 = 0 and s = 1 this is
      Σⱼ gⱼ² / (l2 fⱼ), g the gradient.
    * If l1 > 0, put l2 into the rows instead: Σ becomes Σ + l2 diag(f) in p and r'r, hⱼ is l1 fⱼ |v| alone,
      and hⱼ* is zero as long as s |pⱼ| ≤ l1 fⱼ for all j.

    The smaller of the two is returned. Unpenalised features U ask for p = 0 there. Moving w to the best
    weights of U lowers R by Q = p_U' Σ_UU⁺ p_U at most, shortens r, and changes no other pⱼ by more than
    √(Σⱼⱼ Q) (Cauchy-Schwarz), so that Q + 2 s √Q Σⱼ |wⱼ| √Σⱼⱼ is added and |pⱼ| + √(Σⱼⱼ Q) takes the place
    of |pⱼ|. Q is bounded by Σ pⱼ²/Σⱼⱼ over U divided by ``curvature``.

    ``O(d)`` time, no product.

    Parameters
    ----------
    products : SymmetricOperator
        μ and the diagonal of Σ.
    penalty : Penalty
        l1, l2 and the factors.
    w, product : ndarrays of shape (d,)
        Weights and Σw. Weights of features with Σⱼⱼ = 0 must be zero.
    curvature : float, default=1.0
        See :func:`unpenalised_curvature`. Needed only if two or more features are unpenalised.

    Returns
    -------
    float
        Zero at the minimum, and never below R(w) - min R but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.solvers.operator import MatrixOperator
    >>> pairs, penalty = MatrixOperator(np.eye(2), np.array([0.5, 0.2])), Penalty(0.3, 0.0, np.ones(2))
    >>> excess_risk_bound(pairs, penalty, np.array([0.2, 0.0]), np.array([0.2, 0.0]))
    0.0
    >>> round(excess_risk_bound(pairs, penalty, np.zeros(2), np.zeros(2)), 4)
    0.16
    """
    mu, diagonal = products.mu, products.diagonal
    pull = mu - product
    squares = max(float(1.0 - w @ mu - w @ pull), 0.0)
    known = (diagonal > 0.0) & (penalty.factors * (penalty.l1 + penalty.l2) > 0.0)
    free = (diagonal > 0.0) & ~known
    slack = 0.0
    if free.any():
        slack = float((pull[free] ** 2 / diagonal[free]).sum()) / curvature
    if not known.any():
        return slack
    w, pull, factors = w[known], pull[known], penalty.factors[known]
    blur = np.sqrt(diagonal[known] * slack) if slack > 0.0 else np.zeros(1)
    by_blur = float((np.abs(w) * blur).sum()) if slack > 0.0 else 0.0
    bounds = []
    if penalty.l1 > 0.0:
        bounds.append(_scaled_gap(penalty, factors, w, pull, blur, by_blur, squares))
    if penalty.l2 > 0.0:
        bounds.append(_conjugate_gap(penalty, factors, w, pull, blur, squares))
    return max(slack + min(gap + 2.0 * s * by_blur for gap, s in bounds), 0.0)


def _scaled_gap(
    penalty: Penalty, factors: Array, w: Array, pull: Array, blur: Array, by_blur: float, squares: float
) -> tuple[float, float]:
    """The bound with l2 in the rows, and the length of its dual point."""
    ridge = penalty.l2 * factors
    squares += float(ridge @ w**2)
    pull = pull - ridge * w
    threshold = penalty.l1 * factors
    with np.errstate(divide="ignore"):
        longest = float((threshold / (np.abs(pull) + blur)).min(initial=np.inf))
    along = float(w @ pull)
    best = 1.0 + (along - by_blur) / squares if squares > 0.0 else 1.0
    s = min(max(best, 0.0), longest)
    # term by term, so that nothing cancels near the minimum
    return squares * (1.0 - s) ** 2 + 2.0 * float((threshold * np.abs(w) - s * w * pull).sum()), s


def _conjugate_gap(
    penalty: Penalty, factors: Array, w: Array, pull: Array, blur: Array, squares: float
) -> tuple[float, float]:
    """The bound with l2 in the conjugate, and the length of its dual point, found by Newton steps."""
    threshold, ridge = penalty.l1 * factors, penalty.l2 * factors
    size, along = np.abs(pull) + blur, float(w @ pull)
    own = threshold * np.abs(w) + 0.5 * ridge * w**2
    s, best = 1.0, (np.inf, 1.0)
    for _ in range(1 + _SCALING_STEPS):
        over = np.maximum(s * size - threshold, 0.0)
        terms = own - s * w * pull + over**2 / (2.0 * ridge)
        value = squares * (1.0 - s) ** 2 + 2.0 * float(terms.sum())
        best = min(best, (value, s))
        slope = -squares * (1.0 - s) - along + float((over * size / ridge).sum())
        bend = squares + float((size**2 / ridge)[over > 0.0].sum())
        if slope == 0.0 or bend == 0.0:
            break
        s = max(s - slope / bend, 0.0)
    return best


def estimate_excess(gains: Sequence[float]) -> float:
    """What a growing sum still lacks, if its steps keep shrinking at the slower of the latest two rates.

    Infinite for fewer than four values; steps are taken to shrink by a tenth at least, and to a third at most.

    Examples
    --------
    >>> round(estimate_excess([0.0, 0.5, 0.75, 0.875]), 6)
    0.125
    """
    if len(gains) <= WINDOW:
        return float("inf")
    first, second, third = (max(after - before, 0.0) for before, after in pairwise(gains[-WINDOW - 1 :]))
    if third == 0.0:
        return 0.0
    ratio = max(third / second if second else 1.0, second / first if first else 1.0)
    ratio = min(max(ratio, _FASTEST), _SLOWEST)
    return max(third, ratio * second) * ratio / (1.0 - ratio)


def unpenalised_curvature(products: SymmetricOperator, penalty: Penalty) -> tuple[float, int]:
    """Smallest positive eigenvalue of Σ among the unpenalised features, in units of its diagonal.

    By Lanczos steps on D^-½ Σ D^-½: exact for up to 12 unpenalised features; for more it is an estimate
    that may be too large, and so may make :func:`excess_risk_bound` too small.

    Returns
    -------
    curvature : float
        1 if there are fewer than two such features.
    products : int
        Number of products it took.
    """
    free = np.flatnonzero((products.diagonal > 0.0) & (penalty.factors * (penalty.l1 + penalty.l2) == 0.0))
    if free.size < 2:
        return 1.0, 0
    root = np.sqrt(products.diagonal[free])
    steps = min(free.size, _CURVATURE_STEPS)
    basis, image = np.zeros((steps, free.size)), np.zeros((steps, free.size))
    v = np.random.default_rng(_CURVATURE_SEED).standard_normal(free.size)
    done = 0
    full = np.zeros_like(products.mu)
    while done < steps:
        # twice, so that the vectors stay orthogonal to rounding
        for _ in range(2):
            v = v - basis[:done].T @ (basis[:done] @ v)
        length = float(np.linalg.norm(v))
        if length <= _SINGULAR:
            break
        basis[done] = v / length
        full[free] = basis[done] / root
        v = image[done] = products.product(full)[free] / root
        done += 1
    values = np.linalg.eigvalsh(basis[:done] @ image[:done].T)
    return float(values[values > _SINGULAR * values[-1]][0]), done


def binormal_auc(mu_w: float, w_sigma_w: float) -> float:
    """Φ(δ) with δ = w'μ / √(w'Σw - (w'μ)²), from the two numbers w'μ and w'Σw.

    Examples
    --------
    >>> binormal_auc(0.0, 0.0)
    0.5
    >>> round(binormal_auc(0.5, 0.5), 4)
    0.8413
    """
    return float(ndtr(_separation(mu_w, w_sigma_w)))


def auc_loss(excess_risk: float, mu_w: float, w_sigma_w: float) -> float:
    """Binormal AUC that better weights would gain if their risk were smaller by ``excess_risk``.

    The risk of the best multiple of w is 1 - (w'μ)²/w'Σw = 1/(1 + δ²), and binormal AUC is Φ(δ): solve the
    first for δ, with and without the excess. To first order the loss is φ(δ) (1 + δ²)² / (2δ) times the
    excess. A guide, not a bound: it takes risk without penalty, and scores for normal.

    Examples
    --------
    >>> round(auc_loss(1e-4, 0.5, 0.5), 6)
    4.8e-05
    """
    separation = _separation(mu_w, w_sigma_w)
    if np.isinf(separation):
        return 0.0
    # w that ranks backwards does no better than 0 when scaled
    risk = 1.0 / (1.0 + max(separation, 0.0) ** 2)
    better = risk - excess_risk
    attainable = np.sqrt(1.0 / better - 1.0) if better > 0.0 else np.inf
    return max(float(ndtr(attainable) - ndtr(separation)), 0.0)


def _separation(mu_w: float, w_sigma_w: float) -> float:
    variance = w_sigma_w - mu_w * mu_w  # infinite where a power would raise
    if mu_w == 0.0:
        return 0.0
    return mu_w / float(np.sqrt(variance)) if variance > 0.0 else float(np.copysign(np.inf, mu_w))
