"""Ridge from products with Σ: one l2, a path of them, or the one that is expected to rank best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.runtime.warn import warn
from mbauc.solvers.gap import WINDOW, binormal_auc, estimate_excess, excess_risk_bound
from mbauc.solvers.matrix_free.l2_search import MOST_PROBES, MOST_STEPS, Criterion, L2Search, warn_of_choice
from mbauc.solvers.matrix_free.subspace import ROOM, RidgeSubspace
from mbauc.solvers.operator import SymmetricOperator
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution, certify
from mbauc.solvers.watch import Watch
from mbauc.store.array_schema import ArrayOf, Arrays

Array = NDArray[np.float64]
#: The estimate is trusted if the bound is at most this multiple of tol …
_TRUSTED = 100.0
#: … and must otherwise be below this multiple of tol.
_BEYOND_DOUBT = 1e-3
#: A bound above this multiple of tol is worth a warning.
_DOUBTFUL = 1000.0
#: Columns as a share of the rows below which degrees of freedom hardly matter.
_FEW_COLUMNS = 0.05
#: Columns as a share of the rows above which degrees of freedom are all that matters.
_MANY_COLUMNS = 0.2
#: To choose l2 the risk need not be known better than this.
_CHOICE_TOL = 1e-3


_NO_STEPS = np.empty(0, dtype=np.int64)


def _check_stage(state: Mapping[str, NDArray[Any]]) -> None:
    if str(state["stage"]) == "convergence":
        return
    if len(state["looks"]) != len(state["basis"]):
        raise ValueError("'looks' must have one entry for each direction while l2 is being chosen")
    if not state["steps"].size or state["steps"].max() != state["tridiagonals"].shape[2]:
        raise ValueError("'steps' must say how many columns of 'tridiagonals' are in use")


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
        "stage": ArrayOf("U", pattern="degrees|choice|quadrature|convergence"),
        "iterations": ArrayOf("<i8", low=0),
        "searched": ArrayOf("<i8", low=0),
        "l2": ArrayOf("<f8", low=0),
        "same": ArrayOf("<i8", low=0),
        "looks": ArrayOf("|b1", ("looks",)),
        "gains": ArrayOf("<f8", ("gains",), *_RANGE),
        "vectors": ArrayOf("<f8", ("processes", 2, "d"), *_RANGE),
        "tridiagonals": ArrayOf("<f8", ("processes", 2, "steps"), *_RANGE),
        "steps": ArrayOf("<i8", ("processes",), low=0, high=MOST_STEPS),
    },
    sizes={
        "k": range(ROOM + 1),
        "gains": range(WINDOW + 2),
        "processes": range(2 + MOST_PROBES),
        "steps": range(MOST_STEPS + 1),
    },
    agree=_check_stage,
)


def solve_ridge_matrix_free(
    products: SymmetricOperator,
    penalty: Penalty,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    resume: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Matrix-free ridge: minimise ½ w'Σw - w'μ + ½ l2 Σ fⱼ wⱼ² by conjugate gradients.

    Stops when the optimality gap of the regularised pairwise risk 1 - 2w'μ + w'Σw + l2 Σ fⱼ wⱼ² is estimated to
    be at most ``tol`` and proven to be at most 100 times that. The estimate extrapolates the slower of the
    latest two rates of decrease. The loss of AUC is about half the gap (:func:`mbauc.solvers.gap.auc_loss`).
    ``Solution.excess_bound`` is the bound, and ``Solution.excess_risk``, the estimate, is at least a hundredth
    of it.

    Parameters
    ----------
    products : SymmetricOperator
        Products with Σ; each costs a sweep over the rows.
    penalty : Penalty
        l2 and the factors; l1 must be 0.
    tol : float, default=0.0001
        Tolerance on the optimality gap.
    max_iter : int, default=1000
        Maximum number of products.
    resume : dict, optional
        State passed to ``watch``, from which to resume, with bit-identical results.
    watch : callable, optional
        Callback with ``(state, products so far, estimated gap, binormal AUC)`` after each product.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.solvers import MatrixOperator, Penalty
    >>> sigma, mu = np.diag([1.0, 3.0]), np.array([1.0, 2.0])
    >>> solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 1.0, np.ones(2)), tol=1e-12).coef
    array([0.5, 0.5])
    """
    run = _Run(products, penalty.factors, tol, max_iter, watch)
    run.start(resume)
    run.converge(penalty.l2)
    return run.finish(penalty.l2)


def ridge_path_matrix_free(
    products: SymmetricOperator,
    l2: Sequence[float],
    factors: Array,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> list[Solution]:
    """Matrix-free ridge solutions for several l2, which share their search directions.

    Parameters as for :func:`solve_ridge_matrix_free`; ``max_iter`` applies to each l2.
    """
    walked = walk_ridge_path(products, l2, factors, tol=tol, max_iter=max_iter)
    solutions = {solution.l2: solution for solution in walked}
    return [solutions[value] for value in l2]


def walk_ridge_path(
    products: SymmetricOperator, l2: Sequence[float], factors: Array, *, tol: float, max_iter: int
) -> Iterator[Solution]:
    """The same one by one, from the largest l2 down: who stops early spends no product on smaller ones."""
    run = _Run(products, factors, tol, max_iter)
    for value in sorted(set(l2), reverse=True):
        run.iterations = 0
        run.converge(value)
        yield run.finish(value)


def solve_ridge_auto(
    products: SymmetricOperator,
    factors: Array,
    sizes: tuple[float, float],
    n_features: int,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    resume: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Matrix-free ridge with automatic l2, selected by the criterion of :func:`mbauc.solvers.choose_l2`.

    If there are more columns than a fifth of the rows (by :func:`~mbauc.solvers.leave_one_out.effective_rows`),
    l2 is selected by Lanczos quadrature, with two-sided bounds. Otherwise search directions are added to a
    subspace, within which the risk is known for every l2, and l2 is selected again after each product. If the
    subspace is full before the risk around the selected l2 is known, quadrature is used, with up to 200 steps
    from each of its vectors; a selection that is still uncertain causes a warning. ``max_iter`` applies to the
    iterations after the selection.

    Parameters
    ----------
    products, factors
        As for :func:`solve_ridge_matrix_free`.
    sizes : (float, float)
        Number of rows of each class.
    n_features : int
        Number of columns of the data, including those that never occur.
    tol, max_iter, resume, watch
        As for :func:`solve_ridge_matrix_free`.

    Returns
    -------
    Solution
        With the selected ``l2``.
    """
    run = _Run(products, factors, tol, max_iter, watch)
    criterion = Criterion(products, factors, sizes, n_features)
    run.search = criterion.quadrature()
    run.start(resume)
    if run.stage == "degrees":
        if criterion.share > _FEW_COLUMNS:
            run.look_at_degrees()
        run.stage = "quadrature" if criterion.share > _MANY_COLUMNS else "choice"
    if run.stage == "choice":
        if criterion.share > _FEW_COLUMNS:
            criterion.degrees = run.search.degrees()
        run.choose(criterion)
    if run.stage == "quadrature":
        run.choose_by_quadrature()
    run.converge(run.l2)
    return run.finish(run.l2)


class _Run:
    """Growing a subspace until the risk stops falling."""

    def __init__(
        self,
        products: SymmetricOperator,
        factors: Array,
        tol: float,
        max_iter: int,
        watch: Watch | None = None,
    ) -> None:
        self.products, self.factors = products, factors
        self.tol, self.max_iter, self.watch = tol, max_iter, watch
        self.subspace = RidgeSubspace(products, factors)
        self.iterations, self.excess = 0, float("inf")
        self.stage: Literal["degrees", "choice", "quadrature", "convergence"] = "degrees"
        #: the latest l2, how often it has been the same, and which directions were looks at a smaller one
        self.l2, self.same, self.looks = 0.0, 0, np.zeros(0, dtype=np.bool_)
        #: the search for l2, and products that it has spent
        self.search: L2Search | None = None
        self.searched = 0
        #: t'w for the final l2 after each of the latest products
        self.gains: list[float] = []

    def look_at_degrees(self) -> None:
        """Find out what degrees of freedom cost."""
        while self.search is not None and self.search.look_at_degrees():
            self._report()

    def choose(self, criterion: Criterion) -> None:
        """Grow until l2 is chosen and its risk known, or until there is no room; then choose by quadrature."""
        tol = max(self.tol, _CHOICE_TOL)
        while True:
            if self.subspace.size and criterion.share <= _FEW_COLUMNS:
                criterion.refine(self.subspace)
            l2 = criterion.best(self.subspace)
            self.same = self.same + 1 if l2 == self.l2 else 0
            self.l2 = l2
            low = min(criterion.least, l2)
            settled = self.same >= WINDOW - 1 and self._known(l2) <= tol and self._known(low) <= tol
            if settled or self.subspace.is_full or self.iterations >= self.max_iter:
                break
            # every other direction shows where less l2 would lead: what it could gain is not seen from afar
            look = self.iterations % 2 == 1 and self._known(low) > tol
            if not self.subspace.grow(low if look else l2) and not self.subspace.grow(low):
                break
            self.looks = np.append(self.looks, look)
            self._grow()
        if not (settled or self.iterations >= self.max_iter or criterion.is_certain(self.subspace, self.l2)):
            self.stage = "quadrature"

    def choose_by_quadrature(self) -> None:
        """Choose l2 from bounds on the risk and on degrees of freedom."""
        search = self.search
        if search is None:
            return
        self.look_at_degrees()
        while search.step():
            self._report()
        if search.l2 != self.l2:
            self.l2, self.looks = search.l2, np.ones(self.looks.size, dtype=np.bool_)
        if not search.certain:
            warn_of_choice(self.l2, search.products)

    def _known(self, l2: float) -> float:
        """How well the risk for an l2 is known."""
        return estimate_excess(self.subspace.gains(l2, WINDOW + 1)[::-1])

    def converge(self, l2: float) -> None:
        """Grow until the estimated excess risk for ``l2`` is within ``tol``."""
        if self.stage != "convergence" or self.l2 != l2:
            self.gains = []
            if self.stage != "convergence" and self.l2 == l2:
                # what was grown while this l2 was being chosen; looks at smaller ones count with what followed
                gains = np.array(self.subspace.gains(l2, self.subspace.size)[::-1])
                self.gains = gains[~self.looks][-WINDOW - 1 :].tolist()
            self.stage, self.l2 = "convergence", l2
        while True:
            bound = self.subspace.bound(l2)
            self.excess = min(estimate_excess(self.gains), bound)
            trusted = bound <= _TRUSTED * self.tol or bound == np.inf
            enough = self.tol if trusted else _BEYOND_DOUBT * self.tol
            if self.excess <= enough or self.iterations >= self.max_iter:
                return
            if self.subspace.is_full:
                self.subspace.collapse(l2)
            if not self.subspace.grow(l2):
                self.excess = 0.0
                return
            self.gains = [*self.gains[-WINDOW:], *self.subspace.gains(l2)]
            self._grow()

    def _grow(self) -> None:
        self.iterations += 1
        self._report()

    def _report(self) -> None:
        if self.search is not None and self.stage != "convergence":
            self.searched = self.search.products
        if self.watch is None:
            return
        state: dict[str, Any] = self.subspace.state() | {
            "stage": np.str_(self.stage),
            "iterations": np.int64(self.iterations),
            "searched": np.int64(self.searched),
            "l2": np.float64(self.l2),
            "same": np.int64(self.same),
            "looks": self.looks,
            "gains": np.array(self.gains),
        }
        if self.search is not None and self.stage != "convergence":
            state |= self.search.state()
        else:
            d = self.products.mu.size
            state |= {"vectors": np.empty((0, 2, d)), "tridiagonals": np.empty((0, 2, 0)), "steps": _NO_STEPS}
        auc = binormal_auc(*self.subspace.differences(self.l2)) if self.subspace.size else 0.5
        self.watch(state, self.iterations + self.searched, estimate_excess(self.gains), auc)

    def start(self, state: dict[str, Any] | None) -> None:
        """Resume from a state, if there is one."""
        if state is None:
            return
        self.subspace.resume(state)
        self.stage = str(state["stage"])  # type: ignore[assignment]
        self.iterations, self.l2, self.same = int(state["iterations"]), float(state["l2"]), int(state["same"])
        self.looks, self.searched = np.array(state["looks"]), int(state["searched"])
        self.gains = [float(value) for value in state["gains"]]
        if self.search is not None and self.stage != "convergence":
            self.search.resume(state)

    def finish(self, l2: float) -> Solution:
        w = self.subspace.solution(l2)
        products = self.iterations + self.searched
        if self.excess > self.tol:
            _warn(products, self.excess, self.tol)
        solution = certify_products(self.products, Penalty(0.0, l2, self.factors), w, products, self.excess)
        if self.excess <= self.tol and _DOUBTFUL * self.tol < solution.excess_bound < np.inf:
            _warn_of_doubt(solution)
        return solution


def certify_products(
    products: SymmetricOperator, penalty: Penalty, w: Array, iterations: int, excess_risk: float
) -> Solution:
    """The solution w with objective, optimality and bound from a product of its own."""
    product = products.product(w)
    # where weights are free or nothing is penalised there is no bound without the smallest eigenvalue of Σ
    bounded = penalty.l2 > 0 and bool((penalty.factors[products.diagonal > 0] > 0).all())
    bound = excess_risk_bound(products, penalty, w, product) if bounded else float("inf")
    # never more than a hundred times below what can be ruled out
    excess = min(max(excess_risk, bound / _TRUSTED if np.isfinite(bound) else 0.0), bound)
    return certify(penalty, products.mu, w, product, iterations, excess, bound)


def _warn_of_doubt(solution: Solution) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"convergence is uncertain: the estimated excess risk is {solution.excess_risk:.1e}, its upper bound "
        f"{solution.excess_bound:.1e} (optimality {solution.optimality:.1e}), because some columns are nearly "
        "collinear. "
        + Advice(
            "Use {solver}, a smaller {tol}, or more {l2}.", command="Use {solver}, or more {l2}.", solver="gram"
        ),
        ConvergenceWarning,
    )


def _warn(iterations: int, excess: float, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"no convergence after {iterations} products: estimated excess risk {excess:.1e} > tol={tol:g}. "
        + Advice("Increase {max_iter}, raise {l2}, or increase {tol}.", command="Raise {l2}."),
        ConvergenceWarning,
    )
