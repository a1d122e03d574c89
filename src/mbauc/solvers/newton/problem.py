"""A loss over pairs with an elastic net: scaling, factors and the columns of the data around a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, MbaucWarning
from mbauc.losses.objective import PairObjective
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.runtime.threads import single_threaded_blas
from mbauc.runtime.warn import warn
from mbauc.solvers.column_scales import Scaling, scale_columns
from mbauc.solvers.newton.descent import NewtonDescent
from mbauc.solvers.newton.rows import ScaledRows
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.problem import Problem, over_data
from mbauc.solvers.solution import Solution
from mbauc.solvers.watch import Watch

Array = NDArray[np.float64]

#: Excess risk of the solution for the squared loss that a descent starts from.
_START_TOL = 1e-2
#: Steps of a path of l2 that weights are extrapolated by, at most.
_FURTHEST = 1.5
#: Share of the loss of zero weights above which hardly anything is learned.
_HARDLY_BELOW = 0.99


class LossProblem:
    """A loss over pairs and an elastic net, in columns divided by ``scales``; the squared loss's is a Problem.

    Penalties hold in the scaled columns; weights, factors and scales are over the columns of the data.

    Parameters
    ----------
    pairs : PairOperator
        The data.
    objective : PairObjective
        The loss, over the rows of ``pairs`` in their order (``pairs.row_labels()``).
    factors : ndarray of shape (d,)
        Penalty factor of each column.
    scale : bool, "auto" or ndarray of shape (d,)
        What columns are divided by; see :func:`~mbauc.solvers.column_scales.column_scales`.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.losses import PairObjective, PairWeights, SquaredHinge
    >>> from mbauc.pairs.operator.from_rows import build_matrix_operator
    >>> X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([False, True, False, True])
    >>> pairs = build_matrix_operator(X, [np.flatnonzero(y), np.flatnonzero(~y)], None, 1)
    >>> objective = PairObjective(SquaredHinge(), PairWeights.build(*pairs.row_labels()))
    >>> problem = LossProblem(pairs, objective, np.ones(1), scale=False)
    >>> problem.solve(0.0, 0.5, tol=1e-9, max_iter=100).coef.round(6)
    array([0.230769])
    """

    def __init__(
        self, pairs: PairOperator, objective: PairObjective, factors: Array, *, scale: Scaling
    ) -> None:
        self.pairs, self.objective, self.factors = pairs, objective, factors
        self._scales = scale_columns(pairs, scale)
        self._rows = ScaledRows(pairs, self._scales)
        self._own_factors = factors[pairs.columns]
        self._squared = Problem(pairs, factors, scale=self.scales)

    @property
    def scales(self) -> Array:
        """What each column was divided by; 1 for columns that never occur."""
        return over_data(self.pairs, self._scales, 1.0)

    @property
    def variances(self) -> Array:
        """Diagonal of Σ in scaled columns: its mean is the unit in which l2 is large or small."""
        return self._squared.variances

    @property
    def largest_l1(self) -> float:
        """From here on all weights are zero: the largest derivative of the loss at zero, in scaled columns."""
        objective = self.objective
        # at zero all rows have the same rank: each selection is as good, and their mean is that of all pairs
        start = objective.loss.expand(objective.pairs, np.zeros(self.pairs.n_rows))
        return float(np.abs(self._rows.combine(start.gradient)).max(initial=0.0))

    def solve(
        self,
        l1: float,
        l2: float | Literal["auto"],
        *,
        tol: float,
        max_iter: int,
        start: Array | None = None,
        resume: dict[str, Any] | None = None,
        watch: Watch | None = None,
        always_rank: bool = False,
    ) -> Solution:
        """The solution for one l1 and l2, or for the l2 that is expected to rank best with the squared loss.

        ``start`` are weights over the columns of the data to start from; without, the solution for the squared
        loss. ``resume`` is a state that ``watch`` was given on the same problem: the run goes on from there, to
        the same bits. With ``always_rank`` the weights rank as those for the squared loss where none lower the
        loss over a part of the ROC curve; without, they may be zero there, or rank worse than chance.
        """
        self._rows.sweeps = 0
        with single_threaded_blas():
            if resume is not None:
                l2, own = float(resume["l2"]), np.array(resume["coef"])
            elif start is not None and not isinstance(l2, str):
                own = start[self.pairs.columns] * self._scales
            else:
                squared = self._squared.solve(l1, l2, tol=max(tol, _START_TOL), max_iter=max_iter)
                l2, own = squared.l2, squared.coef[self.pairs.columns] * self._scales
                self._rows.sweeps = squared.iterations
            descent = self._descent(Penalty(l1, l2, self._own_factors), own, tol, max_iter, watch)
            if resume is not None:
                descent.resume(resume)
            ranking = (lambda: self._start_from_squared(l1, l2, tol, max_iter)) if always_rank else None
            solution = descent.run(ranking)
        return replace(solution, coef=over_data(self.pairs, solution.coef / self._scales, 0.0))

    def grid(self, l1: Sequence[float], l2: Sequence[float], *, tol: float, max_iter: int) -> Array:
        """Weights for each pair of penalties, shape (len(l1), len(l2), d), each starting from others."""
        weights = np.empty((len(l1), len(l2), self._scales.size))
        with single_threaded_blas():
            for i, value in enumerate(l1):
                if value == 0.0:
                    weights[i] = self._ridge_path(l2, tol, max_iter)
            sparse = sorted((i for i, value in enumerate(l1) if value > 0.0), key=lambda i: -l1[i])
            for j, value in enumerate(l2 if sparse else ()):
                start = self._start_from_squared(l1[sparse[0]], value, tol, max_iter)
                for i in sparse:
                    start = weights[i, j] = self._run(l1[i], value, start, tol, max_iter)
        return over_data(self.pairs, weights / self._scales, 0.0)

    def _ridge_path(self, l2: Sequence[float], tol: float, max_iter: int) -> Array:
        """Weights for each l2, from the largest down, along the line through the latest two by log l2."""
        weights, seen = np.empty((len(l2), self._scales.size)), list[int]()
        for j in sorted(range(len(l2)), key=lambda j: -l2[j]):
            if not seen:
                start = self._start_from_squared(0.0, l2[j], tol, max_iter)
            else:
                start = weights[seen[-1]]
                if len(seen) > 1 and l2[j] > 0.0 and l2[seen[-1]] < l2[seen[-2]]:
                    share = np.log(l2[seen[-1]] / l2[j]) / np.log(l2[seen[-2]] / l2[seen[-1]])
                    start = start + min(float(share), _FURTHEST) * (start - weights[seen[-2]])
            weights[j] = self._run(0.0, l2[j], start, tol, max_iter)
            seen.append(j)
        return weights

    def _start_from_squared(self, l1: float, l2: float, tol: float, max_iter: int) -> Array:
        squared = self._squared.solve(l1, l2, tol=max(tol, _START_TOL), max_iter=max_iter)
        return np.asarray(squared.coef[self.pairs.columns] * self._scales)

    def _run(self, l1: float, l2: float, start: Array, tol: float, max_iter: int) -> Array:
        self._rows.sweeps = 0
        return self._descent(Penalty(l1, l2, self._own_factors), start, tol, max_iter, None).run().coef

    def warn_if_hardly_learned(self, solution: Solution) -> None:
        """Warn where a part of the ROC curve is so hard that weights near zero are best for the loss."""
        value, zero = solution.objective, self.objective.at_zero
        if self.objective.region.is_whole or value < _HARDLY_BELOW * zero:
            return
        said = (
            f"{value:.4f}, little below the {zero:.4f}"
            if f"{value:.4f}" < f"{zero:.4f}"
            else f"{zero:.4f}, not below that"
        )
        warn(
            f"the loss over this part of the ROC curve is {said} for weights of "
            "zero: the negatives in this part score about as high as the positives, and weights near zero "
            "minimise the loss. They rank about as weights for the squared loss over all pairs do, and may "
            "rank worse than weights fitted to a larger part. "
            + Advice(
                "Raise {max_fpr} or lower {min_tpr}, lower {l2}, or let cross-validation try larger parts.",
                command="Raise {max_fpr} or lower {min_tpr}, or let {loss} try larger parts.",
                loss="auto",
            ),
            MbaucWarning,
        )

    def _descent(
        self, penalty: Penalty, start: Array, tol: float, max_iter: int, watch: Watch | None
    ) -> NewtonDescent:
        return NewtonDescent(
            self._rows,
            self.objective,
            penalty,
            start,
            tol=tol,
            max_iter=max_iter,
            watch=watch,
        )
