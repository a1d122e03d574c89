"""Ridge from products with Σ: one l2, a path of them, or the one that generalised cross-validation favours."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.array_schema import ArrayOf, Arrays
from mbauc.solvers.gap import binormal_auc, excess_risk_bound
from mbauc.solvers.gcv import L2_MULTIPLES
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.product_gcv import Criterion, probed_degrees
from mbauc.solvers.products import PairProducts
from mbauc.solvers.solution import Solution
from mbauc.solvers.subspace import ROOM, RidgeSubspace

Array = NDArray[np.float64]
#: Told a state to resume from, the number of products so far, the estimated excess risk and AUC.
Watch = Callable[[dict[str, Any], int, float, float], object]

#: The excess risk is estimated from what so many directions have brought, as if they went on shrinking so.
_WINDOW, _FASTEST, _SLOWEST = 3, 1 / 3, 0.9
#: A guarantee so many times worse than tol, at a gradient that is still so large, is worth a warning.
_DOUBTFUL, _FAR_FROM_OPTIMAL = 1000.0, 5e-3
#: To choose l2 the risk need not be known better than this, and so many directions are enough at first.
_CHOICE_TOL, _CHOICE_ROOM = 1e-3, 10
#: Degrees of freedom that take a larger share of the rows than this are worth a better estimate.
_SMALL_SHARE = 0.05


def _check_stage(state: Mapping[str, NDArray[Any]]) -> None:
    if str(state["stage"]) != "convergence" and len(state["looks"]) != len(state["basis"]):
        raise ValueError("'looks' must have one entry for each direction while l2 is being chosen")


#: Of numbers that can still be squared.
_RANGE = (-1e150, 1e150)
#: A state of this solver; d is the number of columns in use.
RIDGE_STATE = Arrays(
    {
        "basis": ArrayOf("<f8", ("k", "d"), *_RANGE),
        "images": ArrayOf("<f8", ("k", "d"), *_RANGE),
        "gram": ArrayOf("<f8", ("k", "k"), *_RANGE),
        "penalty": ArrayOf("<f8", ("k", "k")),
        "projected": ArrayOf("<f8", ("k",), *_RANGE),
        "stage": ArrayOf("U", pattern="choice|second choice|convergence"),
        "iterations": ArrayOf("<i8", low=0),
        "l2": ArrayOf("<f8", low=0),
        "same": ArrayOf("<i8", low=0),
        "looks": ArrayOf("|b1", ("looks",)),
        "degrees": ArrayOf("<f8", ("grid",), low=0),
        "gains": ArrayOf("<f8", ("gains",), *_RANGE),
    },
    sizes={"k": range(1, ROOM + 1), "gains": range(_WINDOW + 2), "grid": (0, L2_MULTIPLES.size)},
    agree=_check_stage,
)


def unwatched(state: dict[str, Any], iteration: int, excess_risk: float, auc: float) -> None:
    """Progress that nobody looks at."""


def solve_ridge_products(
    products: PairProducts,
    penalty: Penalty,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    resume: dict[str, Any] | None = None,
    watch: Watch = unwatched,
) -> Solution:
    """Minimise ½ w'Σw - w'μ + ½ l2 Σ fⱼ wⱼ² by conjugate gradients, without Σ.

    Stops where the regularised pairwise risk 1 - 2w'μ + w'Σw + l2 Σ fⱼ wⱼ² is estimated to be within ``tol`` of
    its minimum, or is certain to be. The estimate goes on with the slower of the latest two rates at which
    directions have brought less and less. An excess costs about half as much AUC
    (:func:`mbauc.solvers.gap.auc_loss`); ``Solution.excess_bound`` is what it is at most.

    Parameters
    ----------
    products : PairProducts
        Products with Σ; each costs a sweep over the rows.
    penalty : Penalty
        l2 and the factors; l1 must be 0.
    tol : float
        Excess risk to accept.
    max_iter : int
        Most products to spend.
    resume : dict, optional
        A state that ``watch`` was told, to go on from there to the same bits.
    watch : callable
        Told ``(state, products so far, estimated excess risk, binormal AUC)`` after each product.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.solvers import MatrixProducts, Penalty
    >>> sigma, mu = np.diag([1.0, 3.0]), np.array([1.0, 2.0])
    >>> solve_ridge_products(MatrixProducts(sigma, mu), Penalty(0.0, 1.0, np.ones(2)), tol=1e-12).coef
    array([0.5, 0.5])
    """
    run = _Run(products, penalty.factors, tol, max_iter, watch)
    run.start(resume)
    run.converge(penalty.l2)
    return run.finished(penalty.l2)


def ridge_products_path(
    products: PairProducts,
    l2: Sequence[float],
    factors: Array,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> list[Solution]:
    """Solutions for each l2, from the largest down; all share the directions found on the way.

    Parameters as for :func:`solve_ridge_products`; ``max_iter`` holds for each l2.
    """
    run = _Run(products, factors, tol, max_iter, unwatched)
    solutions: dict[float, Solution] = {}
    for value in sorted(set(l2), reverse=True):
        run.iterations = 0
        run.converge(value)
        solutions[value] = run.finished(value)
    return [solutions[value] for value in l2]


def solve_ridge_auto(
    products: PairProducts,
    factors: Array,
    sizes: tuple[float, float],
    n_features: int,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    resume: dict[str, Any] | None = None,
    watch: Watch = unwatched,
) -> tuple[Solution, float]:
    """Ridge with the l2 that :func:`mbauc.solvers.choose_l2` would choose, found while solving.

    The risk for every l2 is known within the directions found so far, so l2 is chosen again after each
    product. Degrees of freedom are bounded by those of what the directions hold of Σ, and the diagonal of the
    rest: not much too large where columns overlap little. Where they are more than 5% of the rows, they are
    estimated from products with one vector of random signs (always the same ones).

    Parameters
    ----------
    products, factors, tol, max_iter, resume, watch
        As for :func:`solve_ridge_products`.
    sizes : (float, float)
        Rows of each class.
    n_features : int
        Columns of the data, those that never occur included.

    Returns
    -------
    solution : Solution
    l2 : float
    """
    run = _Run(products, factors, tol, max_iter, watch)
    run.start(resume)
    criterion = Criterion(products, factors, sizes, n_features)
    if run.stage == "choice":
        run.choose(criterion, _CHOICE_ROOM)
        if criterion.share > _SMALL_SHARE:
            run.degrees = probed_degrees(products, factors, criterion, run.l2)
            run.stage = "second choice"
    if run.stage == "second choice":
        criterion.degrees = run.degrees
        run.choose(criterion, run.subspace.room)
    run.converge(run.l2)
    return run.finished(run.l2), run.l2


def estimated_excess(gains: Sequence[float]) -> float:
    """What a growing sum still lacks, if its steps go on shrinking at the slower of the latest two rates.

    Infinite for fewer than four values; steps are taken to shrink by a tenth at least, and to a third at most.

    Examples
    --------
    >>> round(estimated_excess([0.0, 0.5, 0.75, 0.875]), 6)
    0.125
    """
    if len(gains) <= _WINDOW:
        return float("inf")
    first, second, third = (max(after - before, 0.0) for before, after in pairwise(gains[-_WINDOW - 1 :]))
    if third == 0.0:
        return 0.0
    ratio = max(third / second if second else 1.0, second / first if first else 1.0)
    ratio = min(max(ratio, _FASTEST), _SLOWEST)
    return max(third, ratio * second) * ratio / (1.0 - ratio)


class _Run:
    """Growing a subspace until the risk stops falling."""

    def __init__(self, products: PairProducts, factors: Array, tol: float, max_iter: int, watch: Watch) -> None:
        self.products, self.factors = products, factors
        self.tol, self.max_iter, self.watch = tol, max_iter, watch
        self.subspace = RidgeSubspace(products, factors)
        self.iterations, self.excess = 0, float("inf")
        self.stage: Literal["choice", "second choice", "convergence"] = "choice"
        #: the latest l2, how often it has been the same, and which directions were looks at a smaller one
        self.l2, self.same, self.looks = 0.0, 0, np.zeros(0, dtype=np.bool_)
        self.degrees = np.empty(0)
        #: t'w for the final l2 after each of the latest products
        self.gains: list[float] = []

    def choose(self, criterion: Criterion, room: int) -> None:
        """Grow to ``room`` directions, or until l2 is settled and its risk known well enough to choose it."""
        tol = max(self.tol, _CHOICE_TOL)
        while True:
            if self.subspace.size and self.stage == "choice":
                criterion.refine(self.subspace)
            l2 = criterion.best(self.subspace)
            self.same = self.same + 1 if l2 == self.l2 else 0
            self.l2 = l2
            low = min(criterion.least, l2)
            if self.subspace.size >= room or self.iterations >= self.max_iter:
                return
            if self.same >= _WINDOW - 1 and self._known(l2) <= tol and self._known(low) <= tol:
                return
            # every other direction shows where less l2 would lead: what it could gain is not seen from afar
            look = self.iterations % 2 == 1 and self._known(low) > tol
            if not self.subspace.grow(low if look else l2) and not self.subspace.grow(low):
                return
            self.looks = np.append(self.looks, look)
            self._grown()

    def _known(self, l2: float) -> float:
        """How well the risk for an l2 is known."""
        return estimated_excess(self.subspace.gains(l2, _WINDOW + 1)[::-1])

    def converge(self, l2: float) -> None:
        """Grow until the estimated excess risk for ``l2`` is within ``tol``."""
        if self.stage != "convergence" or self.l2 != l2:
            self.gains = []
            if self.stage != "convergence" and self.l2 == l2:
                # what was grown while this l2 was being chosen; looks at smaller ones count with what followed
                gains = np.array(self.subspace.gains(l2, self.subspace.size)[::-1])
                self.gains = gains[~self.looks][-_WINDOW - 1 :].tolist()
            self.stage, self.l2 = "convergence", l2
        while True:
            self.excess = min(estimated_excess(self.gains), self.subspace.bound(l2))
            if self.excess <= self.tol or self.iterations >= self.max_iter:
                return
            if self.subspace.is_full:
                self.subspace.collapse(l2)
            if not self.subspace.grow(l2):
                self.excess = 0.0
                return
            self.gains = [*self.gains[-_WINDOW:], *self.subspace.gains(l2)]
            self._grown()

    def _grown(self) -> None:
        self.iterations += 1
        state = self.subspace.state() | {
            "stage": np.str_(self.stage),
            "iterations": np.int64(self.iterations),
            "l2": np.float64(self.l2),
            "same": np.int64(self.same),
            "looks": self.looks,
            "degrees": self.degrees,
            "gains": np.array(self.gains),
        }
        auc = binormal_auc(*self.subspace.differences(self.l2))
        self.watch(state, self.iterations, estimated_excess(self.gains), auc)

    def start(self, state: dict[str, Any] | None) -> None:
        """Go on from a state, if there is one."""
        if state is None:
            return
        self.subspace.resume(state)
        self.stage = str(state["stage"])  # type: ignore[assignment]
        self.iterations, self.l2, self.same = int(state["iterations"]), float(state["l2"]), int(state["same"])
        self.looks, self.degrees = np.array(state["looks"]), np.array(state["degrees"])
        self.gains = [float(value) for value in state["gains"]]

    def finished(self, l2: float) -> Solution:
        w = self.subspace.solution(l2)
        if self.excess > self.tol:
            _warn(self.iterations, self.excess, self.tol)
        solution = certified_products(
            self.products, Penalty(0.0, l2, self.factors), w, self.iterations, self.excess
        )
        doubtful = _DOUBTFUL * self.tol < solution.excess_bound < np.inf
        if self.excess <= self.tol and doubtful and solution.optimality > _FAR_FROM_OPTIMAL:
            _warn_of_doubt(solution, self.tol)
        return solution


def certified_products(
    products: PairProducts, penalty: Penalty, w: Array, iterations: int, excess_risk: float
) -> Solution:
    """The solution w with objective and optimality from a product of its own."""
    product = products.product(w)
    gradient = product - products.mu
    scale = float(np.abs(products.mu).max(initial=0.0)) or 1.0
    # where weights are free or nothing is penalised there is no bound without the smallest eigenvalue of Σ
    held = penalty.l2 > 0 and bool((penalty.factors[products.diagonal > 0] > 0).all())
    bound = excess_risk_bound(products, penalty, w, product) if held else float("inf")
    return Solution(
        coef=w,
        objective=float(0.5 * w @ product - w @ products.mu + penalty.value(w)),
        optimality=penalty.distance_to_stationarity(gradient, w) / scale,
        iterations=iterations,
        excess_risk=min(excess_risk, bound),
        excess_bound=bound,
    )


def _warn_of_doubt(solution: Solution, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"the excess risk is estimated at {solution.excess_risk:.1e}, but {solution.excess_bound:.1e} cannot "
        f"be ruled out (optimality {solution.optimality:.1e}): some columns nearly repeat others. "
        f"Use solver='gram', a smaller tol than {tol:g}, or more l2.",
        ConvergenceWarning,
        stacklevel=5,
    )


def _warn(iterations: int, excess: float, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"stopped after {iterations} products with an estimated excess risk of {excess:.1e} > tol={tol:g}. "
        "Increase max_iter, raise l2, or accept less with tol.",
        ConvergenceWarning,
        stacklevel=4,
    )
