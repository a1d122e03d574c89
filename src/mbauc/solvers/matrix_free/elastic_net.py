"""Lasso and elastic net where Σ is too wide to form: few products with it, and a bound on the excess risk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number, check_whole
from mbauc.errors import Advice
from mbauc.runtime.warn import warn
from mbauc.solvers.gap import binormal_auc, excess_risk_bound, unpenalised_curvature
from mbauc.solvers.matrix_free.face_descent import FaceDescent
from mbauc.solvers.operator import SymmetricOperator
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution, certify
from mbauc.solvers.watch import Watch

Array = NDArray[np.float64]
#: From here on the gains of the latest steps say when to stop; the bound alone would take several times longer.
_ESTIMATED_TOL = 1e-5
#: Makes somebody who is shown the weights for falling penalties, and says whether smaller ones are worth a try.
Judge = Callable[[], Callable[[Array], bool]]


def solve_elastic_net_matrix_free(
    products: SymmetricOperator,
    penalty: Penalty,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: Array | None = None,
    resume: Mapping[str, Array] | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Matrix-free elastic net: minimise Eq. (14) using only products Σv.

    Algorithm: :class:`~mbauc.solvers.matrix_free.face_descent.FaceDescent`. ``O(d)`` memory (about 18 vectors),
    and ``O(d)`` time in addition to each product. If l1 is so large that all weights are zero, no product is
    needed.

    Parameters
    ----------
    products : SymmetricOperator
        μ, the diagonal of Σ and its products.
    penalty : Penalty
        l1, l2 and a factor for each feature; 0 leaves a feature unpenalised.
    tol : float, default=1e-06
        Tolerance on the optimality gap of R(w) = 1 - 2w'μ + w'Σw + 2 penalty(w); a warning is raised if it is
        not reached. Below 1e-5 the gap is bounded by :func:`~mbauc.solvers.gap.excess_risk_bound`; from there
        on it is estimated from the decrease of R over the latest eight products.
    max_iter : int, default=1000
        Maximum number of products, including the final check.
    start : ndarray of shape (d,), optional
        Initial weights (warm start), such as the solution for a similar penalty; by default zero.
    resume : mapping, optional
        State passed to ``watch`` on the same problem, from which to resume, with bit-identical results.
        Overrides ``start``.
    watch : callable, optional
        Callback ``watch(state, iteration, excess_risk, auc)`` after each step of one product. ``state``
        contains arrays in use: copy what is to be kept.

    Returns
    -------
    Solution
        ``iterations`` is the number of products; ``excess_risk`` the estimated gap, ``excess_bound`` its bound.
        Bound, objective and optimality are computed from a final product.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.solvers.operator import MatrixOperator
    >>> pairs = MatrixOperator(np.eye(2), np.array([0.5, 0.2]))
    >>> solve_elastic_net_matrix_free(pairs, Penalty(0.25, 1.0, np.ones(2))).coef
    array([0.125, 0.   ])
    """
    _check(tol, max_iter)
    if resume is not None:
        descent = FaceDescent.resume(products, penalty, resume)
    else:
        descent = _descent(products, penalty, None if start is None else _check_start(products, start))
    return _finish(products, penalty, descent, tol, max_iter, watch)[0]


def elastic_net_path_matrix_free(
    products: SymmetricOperator,
    l1: Sequence[float],
    l2: float,
    factors: Array,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> list[Solution]:
    """Matrix-free elastic-net path: minimise Eq. (14) for a sequence of l1, with warm starts.

    Parameters
    ----------
    products : SymmetricOperator
        μ, the diagonal of Σ and its products.
    l1 : sequence of float
        Values of λ₁ in any order.
    l2 : float
        λ₂.
    factors : ndarray of shape (d,)
        Penalty factor of each feature.
    tol, max_iter, watch
        As for :func:`solve_elastic_net_matrix_free`, for each value.

    Returns
    -------
    list of Solution
        In the order of ``l1``.
    """
    _check(tol, max_iter)
    solutions: dict[float, Solution] = {}
    coef = product = None
    for value in sorted(set(l1), reverse=True):
        penalty = Penalty(value, l2, factors)
        descent = _descent(products, penalty, coef, product)
        solutions[value], product = _finish(products, penalty, descent, tol, max_iter, watch)
        coef = solutions[value].coef
    return [solutions[value] for value in l1]


def walk_elastic_net_grid(
    products: SymmetricOperator,
    l1_values: Sequence[float],
    l2_values: Sequence[float],
    factors: Array,
    *,
    tol: float,
    max_iter: int,
    judge: Judge | None = None,
) -> Iterator[tuple[float, float, Array]]:
    """Triples (l1, l2, weights) of a grid of penalties, l1 > 0, from the largest l2 down.

    Each solution starts from the one for the same l1 and the l2 before. Once ``l2 Σ fⱼ wⱼ²`` is below ``tol``,
    l2 no longer matters beside l1, and the weights stand for all smaller values. For each l1 a ``judge`` is
    asked for, and called with the weights for each l2: smaller ones than that at which it says no are left out.
    """
    judges = {} if judge is None else {value: judge() for value in set(l1_values)}
    starts: dict[float, tuple[Array, Array]] = {}
    left, falling = sorted(set(l1_values), reverse=True), sorted(set(l2_values), reverse=True)
    for place, l2 in enumerate(falling):
        start: tuple[Array | None, Array | None] = None, None
        for l1 in tuple(left):
            penalty = Penalty(l1, l2, factors)
            descent = _descent(products, penalty, *starts.get(l1, start))
            solution, product = _finish(products, penalty, descent, tol, max_iter, None)
            start = starts[l1] = solution.coef, product
            settled = l2 * float(factors @ solution.coef**2) <= tol
            for value in falling[place:] if settled else [l2]:
                yield l1, value, solution.coef
            if settled or (judges and not judges[l1](solution.coef)):
                left.remove(l1)


def _check(tol: float, max_iter: int) -> None:
    check_number("tol", tol, low=0.0)
    check_whole("max_iter", max_iter)


def _check_start(products: SymmetricOperator, start: Array) -> Array:
    coef = np.array(start, dtype=np.float64)
    if coef.shape != products.mu.shape or not np.isfinite(coef).all():
        raise ValueError(
            f"start must be {products.mu.size:,} finite weights, one for each feature, got an array of shape "
            f"{coef.shape}{'' if np.isfinite(coef).all() else ' with NaN or infinity'}."
        )
    coef[products.diagonal == 0.0] = 0.0
    return coef


def _descent(
    products: SymmetricOperator, penalty: Penalty, coef: Array | None, product: Array | None = None
) -> FaceDescent:
    curvature, spent = unpenalised_curvature(products, penalty)
    if coef is None or not coef.any():
        coef, product = np.zeros_like(products.mu), np.zeros_like(products.mu)
    elif product is None:
        product, spent = products.product(coef), spent + 1
    descent = FaceDescent(products, penalty, coef, product, curvature)
    descent.products = spent
    return descent


def _finish(
    products: SymmetricOperator,
    penalty: Penalty,
    descent: FaceDescent,
    tol: float,
    max_iter: int,
    watch: Watch | None,
) -> tuple[Solution, Array]:
    """The solution that a descent leads to, and Σ times its weights."""

    def left() -> float:
        return descent.estimate if tol >= _ESTIMATED_TOL else descent.excess_risk

    while True:
        # one product is kept for the check at the end
        while left() > tol and not descent.stuck and descent.products < max_iter - 1:
            descent.step()
            if watch is not None:
                mean, square = descent.coef @ products.mu, descent.coef @ descent.product()
                watch(
                    descent.state(),
                    descent.products,
                    left(),
                    binormal_auc(float(mean), float(square)),
                )
        if descent.fresh:
            break
        # the product so far is a sum over many steps: make it anew, and see whether the bound still holds
        product = products.product(descent.coef)
        descent.products += 1
        descent.stuck = False
        descent.restart(descent.coef, product)
    solution = _solution(products, penalty, descent, left())
    if solution.excess_risk > tol:
        _warn(solution, tol)
    return solution, descent.product()


def _solution(products: SymmetricOperator, penalty: Penalty, descent: FaceDescent, left: float) -> Solution:
    w, product = descent.coef, descent.product()
    bound = min(
        excess_risk_bound(products, penalty, w, product, curvature=descent.curvature), descent.excess_risk
    )
    return certify(penalty, products.mu, w, product, descent.products, min(left, bound), bound)


def _warn(solution: Solution, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"descent stopped after {solution.iterations} products with Σ at an excess risk of up to "
        f"{solution.excess_risk:.1e} > tol={tol:g}. "
        + Advice("Increase {max_iter}, raise {l2}, or increase {tol}.", command="Raise {l2}."),
        ConvergenceWarning,
    )
