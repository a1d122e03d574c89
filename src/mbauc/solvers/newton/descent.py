"""Newton steps down a loss over pairs, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.losses.objective import PairObjective
from mbauc.runtime.warn import warn
from mbauc.solvers.gap import estimate_excess
from mbauc.solvers.newton.model import Goal, minimise_elastic_net, minimise_ridge
from mbauc.solvers.newton.rows import Point, ScaledRows
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution
from mbauc.solvers.watch import Watch
from mbauc.store.array_schema import ArrayOf, Arrays

Array = NDArray[np.float64]

#: A model is minimised until what is left to gain is this share of what has been gained …
_FORCING = 0.2
#: … or this share of the tolerance.
_ENOUGH = 0.25
#: A step must gain this share of what the model says.
_SUFFICIENT = 1e-2
#: Times that a step is shortened, at most.
_SHORTENED = 30
#: The estimate is trusted if the bound is at most this multiple of tol …
_TRUSTED = 100.0
#: … and must otherwise be below this multiple of tol.
_BEYOND_DOUBT = 1e-3
#: A gain below this share of the value is rounding.
_ROUNDING = 4 * np.finfo(np.float64).eps

#: What rounding may hide, as a share of the value, where a step would gain no more than rounding.
_HIDDEN = 1e-8
#: Times that weights are halved on their way to zero, at most, and a share of them that is none.
_HALVED, _SMALLEST = 10, 1e-15

#: Values of the latest weights that are kept, to see how the steps shrink.
_VALUES = 4
#: Of numbers that can still be squared.
_LARGEST = 1e150
#: A state of this descent; d is the number of columns in use.
NEWTON_STATE = Arrays(
    {
        "coef": ArrayOf("<f8", ("d",), -_LARGEST, _LARGEST),
        "l2": ArrayOf("<f8", low=0),
        "steps": ArrayOf("<i8", low=0),
        "half_sweeps": ArrayOf("<i8", low=0),
        "excess": ArrayOf("<f8", low=0, high=np.inf),
        "values": ArrayOf("<f8", ("values",), -_LARGEST, _LARGEST),
    },
    sizes={"values": range(_VALUES + 1)},
)


class NewtonDescent:
    """Weights on their way to the minimum of a loss over pairs plus a penalty.

    Each step minimises the loss around the weights as a quadratic, with the penalty, and no better than is of
    use: conjugate gradients for l1 = 0, :class:`~mbauc.solvers.matrix_free.face_descent.FaceDescent` otherwise.
    Then it goes as far there as the loss itself falls; the scores at both ends tell without another sweep.

    It stops where the regularised pairwise risk, twice loss and penalty, is estimated to be within ``tol`` of
    its minimum: what the model could still be lowered by, and what it was wrong by. The bound must agree, up to
    a factor of 100; where it does not, the estimate must be a thousand times smaller.

    Where pairs count by their ranks, the loss has kinks. The model is wrong about them however short a step is,
    and the bound does not go to zero, since a gradient at a kink does not: it stops where the gains of the
    latest steps say so, or where no step leads down. The bound remains one where the loss is convex; the excess
    is a guess. Weights that are worse than zero by more than ``tol`` are given up for a share of themselves,
    which ranks alike, or for zero.

    Parameters
    ----------
    rows : ScaledRows
        The rows.
    objective : PairObjective
        The loss.
    penalty : Penalty
        l1, l2 and the factors.
    start : ndarray of shape (d,)
        Weights to start from.
    tol : float
        Excess risk to accept.
    max_iter : int
        Most sweeps to spend.
    watch : callable, optional
        Called with ``(state, sweeps so far, estimated excess risk, binormal AUC)`` after each step.
    """

    def __init__(
        self,
        rows: ScaledRows,
        objective: PairObjective,
        penalty: Penalty,
        start: Array,
        *,
        tol: float,
        max_iter: int,
        watch: Watch | None = None,
    ) -> None:
        self._loss = objective.loss.name
        self._rows, self._penalty, self._smooth = rows, penalty, objective.region.is_whole
        self._tol, self._max_iter, self._watch = tol, max_iter, watch
        self.point = Point(rows, objective, penalty, np.where(rows.known, start, 0.0))
        self._require_sound(self.point.w, self.point.value)
        self.steps, self.excess, self.stuck = 0, float("inf"), False
        self._values = [self.point.value]
        self._at_zero = objective.at_zero
        # derivative at zero, of pairs among all rows
        self._unit = rows.largest_difference * abs(float(objective.loss.slopes(np.zeros(1))[0])) or 1.0

    def state(self) -> dict[str, Any]:
        """All that the next steps depend on."""
        return {
            "coef": self.point.w,
            "l2": np.float64(self._penalty.l2),
            "steps": np.int64(self.steps),
            "half_sweeps": np.int64(self._rows.half_sweeps),
            "excess": np.float64(self.excess),
            "values": np.array(self._values),
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state whose weights this was started from."""
        self.steps, self.excess = int(state["steps"]), float(state["excess"])
        self._rows.half_sweeps = int(state["half_sweeps"])
        self._values = [float(value) for value in state["values"]]

    def run(self, ranking: Callable[[], Array] | None = None) -> Solution:
        """Step until there is little to gain.

        Where no weights lower the loss over a part of the ROC curve, those that the steps end at are small, and
        may rank worse than chance. Weights of such a size that rank as those of ``ranking`` are as good.
        """
        self._descend()
        if 2.0 * (self.point.value - self._at_zero) > self._tol:
            self._turn_to_zero()
            self._descend()
        if ranking is not None and not self._smooth and 2.0 * (self._at_zero - self.point.value) <= self._tol:
            self._rank_as(ranking())
        return self._solution()

    def _descend(self) -> None:
        while not (self._is_enough() or self.stuck or self._rows.sweeps >= self._max_iter):
            self.step()
            if self._watch is not None:
                self._watch(self.state(), self._rows.sweeps, self.excess, self.point.binormal_auc())

    def _turn_to_zero(self) -> None:
        """Go to the lowest of some shares of the weights, or to the largest that is about as good as zero."""
        here, zero = self.point, self.point.move(np.zeros_like(self.point.w))
        shares = 0.5 ** np.arange(1.0, _HALVED + 1.0)
        above = np.array([here.value_between(zero, 1.0 - t) for t in shares]) - zero.value
        near = np.flatnonzero(2.0 * above <= 0.5 * self._tol)
        share = shares[np.argmin(above)] if above.min() < 0.0 else shares[near[0]] if near.size else 0.0
        self.point = here.move(share * here.w) if share else zero
        # the estimate was wrong by what this gained
        self.excess = max(self.excess, 2.0 * (here.value - self.point.value))
        self.stuck, self._values = False, [self.point.value]

    def _rank_as(self, w: Array) -> None:
        """Go to the largest share of weights that is about as good as zero."""
        before, zero = self.point.value, self.point.move(np.zeros_like(w))
        there = self.point.move(np.where(self._rows.known, w, 0.0))
        share = 1.0
        while 2.0 * (there.value_between(zero, 1.0 - share) - zero.value) > 0.5 * self._tol:
            share = 0.5 * share if share > _SMALLEST else 0.0
        self.point, self.stuck = there.move(share * there.w), True
        self.excess += 2.0 * max(self.point.value - before, 0.0)

    def _is_enough(self) -> bool:
        if self.excess > self._tol:
            return False
        if not self._smooth:
            return True
        bound = self.point.excess_bound
        trusted = bound <= _TRUSTED * self._tol or bound == np.inf
        return trusted or self.excess <= _BEYOND_DOUBT * self._tol

    def step(self) -> None:
        """One model, and as far as it leads."""
        minimise = minimise_ridge if self._penalty.l1 == 0.0 else minimise_elastic_net
        enough = 0.5 * _ENOUGH * self._tol * (1.0 if self.excess > self._tol else _BEYOND_DOUBT)

        def is_enough(count: int, gained: float, left: float) -> bool:
            return left <= max(_FORCING * gained, enough)

        most = max(1, self._max_iter - self._rows.sweeps)
        goal = minimise(self._rows, self.point, self._penalty, is_enough, most)
        self.steps += 1
        self._require_sound(goal.w, goal.gain)
        if goal.gain <= _ROUNDING * abs(self.point.value):
            self.stuck, self.excess = True, min(self.excess, 2.0 * max(goal.gain, 0.0))
            return
        reached = self._search(goal)
        if reached is None:
            self.stuck = True
            return
        self._require_sound(reached.w, reached.value)
        gain = self.point.value - reached.value
        self.excess = 2.0 * (goal.left + abs(goal.gain - gain))
        self.point = reached
        self._values = [*self._values[1 - _VALUES :], reached.value]
        if not self._smooth:
            self.excess = min(self.excess, 2.0 * estimate_excess([-value for value in self._values]))

    def _require_sound(self, w: Array, value: float) -> None:
        """Raise where a loss leads nowhere; it may be infinite where the way down begins."""
        if np.isfinite(w).all() and value > -_LARGEST:
            return
        raise ValueError(
            f"the loss {self._loss!r} diverges: it must be convex and non-negative, with finite values, first "
            "and second derivatives."
        )

    def _search(self, goal: Goal) -> Point | None:
        """The goal, or a point on the way that is lower by what the model lets expect; None if none is."""
        here, end = self.point, self.point.move(goal.w)
        t, value = 1.0, end.value
        for _ in range(_SHORTENED):
            fall = here.value - value
            if fall >= _SUFFICIENT * t * goal.gain:
                return end if t == 1.0 else here.move(here.w + t * (goal.w - here.w))
            # lowest point of the parabola with the slope of the model and the value found
            slope = 2.0 * goal.gain
            bend = 2.0 * (t * slope - fall) / t**2
            t = float(np.clip(slope / bend if np.isfinite(bend) else 0.0, 0.1 * t, 0.5 * t))
            value = here.value_between(end, t)
        return None

    def _solution(self) -> Solution:
        point, penalty = self.point, self._penalty
        bound = point.excess_bound
        # never more than a hundred times below what can be ruled out
        least = bound / _TRUSTED if self._smooth and np.isfinite(bound) else 0.0
        excess = min(max(self.excess, least), bound)
        self._warn(excess)
        return Solution(
            coef=point.w,
            objective=point.value,
            optimality=penalty.distance_to_stationarity(point.gradient, point.w) / self._unit,
            iterations=self._rows.sweeps,
            excess_risk=excess,
            excess_bound=bound,
            l1=penalty.l1,
            l2=penalty.l2,
        )

    def _warn(self, excess: float) -> None:
        """Warn where the tolerance was not reached."""
        from sklearn.exceptions import ConvergenceWarning

        left = f"estimated excess risk {excess:.1e} > tol={self._tol:g}. "
        if not self.stuck:
            if min(self.excess, self.point.excess_bound) > self._tol:
                advice = Advice("Increase {max_iter}, raise {l2}, or increase {tol}.", command="Raise {l2}.")
                warn(f"no convergence after {self._rows.sweeps} sweeps: {left}" + advice, ConvergenceWarning)
        elif self._smooth and excess > max(self._tol, _HIDDEN * abs(self.point.value)):
            advice = Advice("Raise {l2}, or divide columns with {scale}.", scale=True)
            warn(f"no convergence: no step decreases the loss further; {left}" + advice, ConvergenceWarning)
        elif not self._smooth and excess > _TRUSTED * self._tol:
            warn(
                "no convergence: at tied scores no step decreases the loss over this part of the ROC curve; "
                f"{left}" + Advice("Raise {max_fpr} or lower {min_tpr}, or raise {l2}."),
                ConvergenceWarning,
            )
