"""The l2 that is expected to rank best, from products with Σ alone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, CheckpointError
from mbauc.runtime.warn import warn
from mbauc.solvers.leave_one_out import (
    L2_MULTIPLES,
    Solved,
    Spectrum,
    best_place,
    effective_rows,
    expected_loss,
    expected_separation,
    l2_grid,
)
from mbauc.solvers.matrix_free.lanczos import Lanczos
from mbauc.solvers.matrix_free.subspace import RidgeSubspace
from mbauc.solvers.operator import SymmetricOperator

Array = NDArray[np.float64]

#: Rows for each vector of random signs.
_ROWS_A_PROBE = 5000
#: Vectors of random signs, at most.
MOST_PROBES = 8
#: Steps from each random vector before the risk is estimated.
_FIRST_STEPS = 8
#: Steps, at least.
_LEAST_STEPS = 5
#: Steps, at most.
MOST_STEPS = 200
#: The choice is certain if no l2 down to this fraction of it …
_NEAR = 4.0
#: … can have less than this share of its risk.
_WORTH = 0.99
#: Steps spent on l2 farther below …
_FAR_STEPS = 64
#: … that could have less than this share of its risk.
_FAR_WORTH = 0.9
#: Unpenalised columns are penalised so much less than any other.
_UNPENALISED = 1e-6


class Criterion:
    """What each l2 of a grid is expected to be worth, as :func:`mbauc.solvers.choose_l2` has it.

    Parameters
    ----------
    products : SymmetricOperator
        Products with Σ.
    factors : ndarray of shape (d,)
        Penalty factors.
    sizes : (float, float)
        Rows of each class.
    n_features : int
        Columns of the data, those that never occur included.

    Attributes
    ----------
    grid, degrees : ndarrays of one shape
        Values of l2, and the degrees of freedom that each takes, at most.
    share : float
        Columns that occur, divided by the rows that pairs count for.
    """

    def __init__(
        self, products: SymmetricOperator, factors: Array, sizes: tuple[float, float], n_features: int
    ) -> None:
        penalised, occurring = factors > 0, products.diagonal > 0
        ratios = products.diagonal[penalised] / factors[penalised]
        mean = float(ratios.sum()) / max(n_features - int(np.count_nonzero(~penalised)), 1)
        self.grid = l2_grid(mean, float(ratios[ratios > 0].min())) if mean > 0 else L2_MULTIPLES
        self._sizes, self._rows = sizes, effective_rows(sizes)
        self._free = int(np.count_nonzero(occurring & ~penalised))
        self._ratios, self._penalised = ratios, penalised
        self._bound = self.degrees = self._free + _trace(ratios, self.grid)
        self.share = np.count_nonzero(occurring) / self._rows if ratios.any() else 0.0
        largest = float(ratios.max(initial=0.0)) or 1.0
        safe = np.where(penalised, factors, products.diagonal * _UNPENALISED / largest)
        self._root = np.sqrt(np.where(safe > 0, safe, 1.0))
        self._products = products
        self._occurring = occurring

    def best(self, subspace: RidgeSubspace) -> float:
        """The l2 that is best as far as the subspace knows the risk."""
        if not subspace.size:
            # nothing is known of the risk yet: where degrees of freedom begin to cost
            return self.least
        found = expected_separation(subspace.evaluate(self.grid), self.degrees, self.grid, self._sizes)
        return float(self.grid[best_place(expected_loss(found))])

    def refine(self, subspace: RidgeSubspace) -> None:
        """Bound the degrees of freedom by what the span holds of Σ, and the diagonal of the rest.

        For positive semidefinite A and B and concave f with f(0) = 0, tr f(A + B) ≤ tr f(A) + tr f(B), and
        tr f(B) is at most the sum of f over the diagonal of B.
        """
        roots, share = subspace.project_sigma()
        roots = roots[:, self._penalised] / self._root[self._penalised]
        held = np.maximum(np.linalg.eigvalsh(roots @ roots.T), 0.0)
        rest = self._ratios * (1.0 - share[self._penalised])
        bound = self._free + (held / (held + self.grid[:, None])).sum(axis=1) + _trace(rest, self.grid)
        self.degrees = np.minimum(self._bound, bound)

    @property
    def least(self) -> float:
        """The smallest l2 that could be worth its degrees of freedom: half of the rows at most."""
        worth = self.degrees < 0.5 * self._rows
        return float(self.grid[np.argmax(worth)]) if worth.any() else float(self.grid[-1])

    def is_certain(self, subspace: RidgeSubspace, l2: float) -> bool:
        """Whether the subspace is certain to hold the risk of all l2 down to a quarter of this one, to 1%."""
        risk = float(subspace.evaluate(np.array([l2])).risk[0])
        return subspace.bound(l2 / _NEAR) <= (1 - _WORTH) * max(risk, 0.0)

    # -- by quadrature ---------------------------------------------------------------------------------

    def quadrature(self) -> L2Search:
        """A search for the best l2 by Lanczos quadrature."""
        # with v = √f w the penalty is the same for all columns: √f divides Σ on both sides
        root = self._root

        def multiply(v: Array) -> Array:
            return np.asarray(self._products.product(v / root) / root)

        count = min(MOST_PROBES, max(1, int(np.ceil(_ROWS_A_PROBE / self._rows))))
        signs = np.random.default_rng(0).integers(0, 2, size=(count, root.size)) * 2.0 - 1.0
        signs[:, ~self._occurring] = 0.0
        return L2Search(
            Lanczos(multiply, self._products.mu / root),
            [Lanczos(multiply, one) for one in signs],
            self.grid,
            self._sizes,
        )


class L2Search:
    """The best l2 of a grid from products with Σ, and what any other could be worth.

    From μ, Lanczos quadrature brackets the risk of every l2 at once; from vectors of random signs (always the
    same ones), degrees of freedom up to the noise of these vectors, about 1% of the rows. The worse ends give
    the choice; it is certain once the better ends leave nothing near it that is better by 1%.

    Parameters
    ----------
    mean, traces : Lanczos, list of Lanczos
        Processes from μ and from the random signs.
    grid : ndarray
        Values of l2, rising.
    sizes : (float, float)
        Rows of each class.

    Attributes
    ----------
    l2 : float
        The best so far.
    certain : bool
        Whether it is certain.
    """

    def __init__(self, mean: Lanczos, traces: list[Lanczos], grid: Array, sizes: tuple[float, float]) -> None:
        self._mean, self._traces, self._grid, self._sizes = mean, traces, grid, sizes
        self.l2 = float(grid[-1])
        self.certain = False

    @property
    def products(self) -> int:
        """Products spent."""
        return self._mean.steps + sum(one.steps for one in self._traces)

    def degrees(self, rule: Literal["gauss", "radau"] = "gauss") -> Array:
        """Degrees of freedom of each l2, at most ("gauss") or at least, up to noise of the random vectors."""
        rules = [getattr(process, rule)() for process in self._traces]
        nodes, weights = (np.concatenate(parts) for parts in zip(*rules, strict=True))
        spectrum = Spectrum(nodes, weights / len(rules), np.zeros_like(nodes))
        return spectrum.degrees_of_freedom(self._grid)

    def _evaluate(self, rule: Literal["gauss", "radau"]) -> Solved:
        """Of the solutions for each l2: the worst ("gauss") or the best that they can be."""
        nodes, energy = getattr(self._mean, rule)()
        return Spectrum(nodes, np.zeros_like(nodes), energy).evaluate(self._grid)

    def _losses(self, solved: Solved, degrees: Array) -> Array:
        return expected_loss(expected_separation(solved, degrees, self._grid, self._sizes))

    def look_at_degrees(self) -> bool:
        """Spend a product on degrees of freedom; False once a first look at them is done."""
        return any(process.steps < _FIRST_STEPS and process.step() for process in self._traces)

    def step(self) -> bool:
        """Spend products on what the choice depends on most; False if it is certain, or all is known."""
        solved, degrees = self._evaluate("gauss"), self.degrees()
        worst = self._losses(solved, degrees)
        best = best_place(worst)
        self.l2 = float(self._grid[best])
        better = self._evaluate("radau"), self.degrees("radau")
        could = self._losses(*better) / worst[best]
        rivals = np.flatnonzero((self._grid >= self.l2 / _NEAR) & (could < _WORTH))
        if not rivals.size and self._mean.steps < _FAR_STEPS:
            # there may be another valley further down
            rivals = np.flatnonzero(could < _FAR_WORTH)
        self.certain = not rivals.size
        enough = self._mean.exhausted or self._mean.steps >= _LEAST_STEPS
        if (self.certain and enough) or self._mean.steps >= MOST_STEPS:
            return False
        if rivals.size:
            # which of the two brackets leaves more open at the farthest rival
            place = rivals[-1]
            by_degrees = self._losses(solved, better[1])[place] < self._losses(better[0], degrees)[place]
            if by_degrees and self._step_traces():
                return True
        return self._mean.step() or self._step_traces()

    def _step_traces(self) -> bool:
        stepped = [process.steps < MOST_STEPS and process.step() for process in self._traces]
        return any(stepped)

    def state(self) -> dict[str, Any]:
        """All that is needed to resume to the same bits."""
        states = [process.state() for process in (self._mean, *self._traces)]
        steps = np.array([tridiagonal.shape[1] for _, tridiagonal in states])
        tridiagonals = np.zeros((len(states), 2, int(steps.max())))
        for padded, (_, tridiagonal) in zip(tridiagonals, states, strict=True):
            padded[:, : tridiagonal.shape[1]] = tridiagonal
        vectors = np.array([vectors for vectors, _ in states])
        return {"vectors": vectors, "tridiagonals": tridiagonals, "steps": steps}

    def resume(self, state: dict[str, Any]) -> None:
        """Resume from a state."""
        if len(state["steps"]) != 1 + len(self._traces):
            raise CheckpointError(
                f"the state of the solver has {len(state['steps'])} vectors under way and must have "
                f"{1 + len(self._traces)}: it is not one of this fit. Delete it, or choose another folder."
            )
        for k, process in enumerate((self._mean, *self._traces)):
            process.resume(state["vectors"][k], state["tridiagonals"][k][:, : int(state["steps"][k])])


def search_l2(
    products: SymmetricOperator, factors: Array, sizes: tuple[float, float], n_features: int
) -> float:
    """Matrix-free approximation of :func:`mbauc.solvers.choose_l2`, from some dozens of products.

    Parameters
    ----------
    products, factors, sizes, n_features
        As for :class:`~mbauc.solvers.matrix_free.l2_search.Criterion`.
    """
    search = Criterion(products, factors, sizes, n_features).quadrature()
    while search.look_at_degrees() or search.step():
        pass
    if not search.certain:
        warn_of_choice(search.l2, search.products)
    return search.l2


def warn_of_choice(l2: float, products: int) -> None:
    """Say that the choice of l2 is not certain."""
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"the search for l2='auto' did not converge in {products} products with Σ: it selected {l2:.3g}, but a "
        "smaller l2 may rank better. "
        + Advice("Use MBAClassifierCV, or pass {l2}.", command="Use {cv}, or pass {l2}."),
        ConvergenceWarning,
    )


def _trace(values: Array, grid: Array) -> Array:
    """Sum of v/(v + l2) over the values for each l2 of the grid, values that differ by under 5% as one."""
    values = values[values > 0]
    if not values.size:
        return np.zeros(grid.size)
    bins = np.frexp(values)[1] * 16 + np.floor(np.frexp(values)[0] * 32).astype(np.int64)
    bins -= bins.min()
    counts = np.bincount(bins)
    means = np.bincount(bins, values) / np.maximum(counts, 1)
    return np.asarray((counts * means / (means + grid[:, None])).sum(axis=1))
