"""Eq. (14) minimised by products with Σ: proximal steps choose the signs, conjugate gradients the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.gap import excess_risk_bound
from mbauc.solvers.matrix_free.line_search import lowest_point
from mbauc.solvers.operator import SymmetricOperator
from mbauc.solvers.penalty import Penalty
from mbauc.store.array_schema import ArrayOf, Arrays

Array = NDArray[np.float64]

#: Proximal steps in a row, at most …
_PROXIMAL_STEPS = 3
#: … and fewer once one gains less than this share of the best of them.
_WORTH_REPEATING = 0.25
#: A conjugate step must gain this share of what it would without kinks.
_WORTH_CONTINUING = 0.5
#: Faces that may follow each other, each one weight smaller, before the next proximal steps.
_FACES_IN_A_ROW = 20
#: Steps whose gains together estimate what is still to be gained.
_RECENT = 8
#: The largest number that can still be squared.
_LARGEST = 1e150

_ARRAYS = ("coef", "pull", "direction", "signs", "recent")
#: Numbers and their ranges; what is whole, or yes or no, is kept as a number as well.
_RANGES: dict[str, tuple[float, float]] = {
    "products": (0, 2**53),
    "objective": (-_LARGEST, _LARGEST),
    "lower": (-np.inf, _LARGEST),
    "scale": (1, _LARGEST),
    "descent": (0, _LARGEST),
    "on_face": (0, 1),
    "repeats": (0, 2**53),
    "best_gain": (0, _LARGEST),
    "left": (0, 2**53),
    "fresh": (0, 1),
    "stuck": (0, 1),
    "curvature": (0, _LARGEST),
}
_NUMBERS = tuple(_RANGES)


def _check_face(state: Mapping[str, NDArray[Any]]) -> None:
    numbers = dict(zip(_NUMBERS, state["numbers"].tolist(), strict=True))
    sizes = {len(state[name]) for name in ("direction", "signs", "coef")}
    if numbers["on_face"] and (len(sizes) > 1 or numbers["descent"] <= 0):
        raise ValueError("on a face there must be a direction down")


#: A state of this descent; d is the number of columns in use, that of directions and signs either d or 0.
DESCENT_STATE = Arrays(
    {
        "coef": ArrayOf("<f8", ("d",), -_LARGEST, _LARGEST),
        "pull": ArrayOf("<f8", ("d",), -_LARGEST, _LARGEST),
        "direction": ArrayOf("<f8", ("directions",), -_LARGEST, _LARGEST),
        "signs": ArrayOf("<f8", ("signs",), low=-1, high=1),
        "recent": ArrayOf("<f8", ("recent",), -_LARGEST, _LARGEST),
        "numbers": ArrayOf(
            "<f8",
            (len(_RANGES),),
            low=tuple(low for low, _ in _RANGES.values()),
            high=tuple(high for _, high in _RANGES.values()),
        ),
    },
    sizes={"recent": range(_RECENT + 1)},
    agree=_check_face,
)


class FaceDescent:
    """Weights on their way to the minimum of Eq. (14); each :meth:`step` costs one product.

    *Proximal step.* A step of soft thresholds in the metric scale · diag(Σ + l2), then the lowest point on the
    way there; ``scale`` follows the curvature that the steps meet. It alone would converge.

    *Conjugate step.* Among weights that are not zero, with their signs held, the objective is a quadratic:
    Jacobi-preconditioned conjugate gradients, as long as kinks do not cost half the gain and the gradient
    outside the face is smaller than inside. If it stops at the first kink, that weight leaves, and a smaller
    face follows; if weights turn on the way, proximal steps do.

    No step raises the objective. About 18 vectors at the peak, beside μ, the diagonal and the factors.

    Parameters
    ----------
    products : SymmetricOperator
        The pairs.
    penalty : Penalty
        l1, l2 and the factors.
    coef, product : ndarrays of shape (d,)
        Weights to start from, and Σ times these.
    curvature : float, default=1.0
        See :func:`~mbauc.solvers.gap.unpenalised_curvature`.
    """

    def __init__(
        self, products: SymmetricOperator, penalty: Penalty, coef: Array, product: Array, curvature: float = 1.0
    ) -> None:
        self._pairs, self._penalty = products, penalty
        self._ridge, self._threshold = penalty.l2 * penalty.factors, penalty.l1 * penalty.factors
        metric = products.diagonal + self._ridge
        self._known = products.diagonal > 0.0
        self._metric = np.where(self._known, metric, 1.0)
        self._always = (self._threshold == 0.0) & self._known
        self.curvature, self.products, self.lower = curvature, 0, -np.inf
        self.scale, self.descent = 1.0, 0.0
        self.on_face = self.stuck = False
        self.repeats = self.left = 0
        self.best_gain = 0.0
        self.direction = self.signs = np.zeros(0)
        self.recent = np.zeros(0)
        self.restart(coef, product)

    def restart(self, coef: Array, product: Array) -> None:
        """Restart from weights and a product that is not the sum of many steps."""
        self.coef = coef
        self.pull = self._pairs.mu - product - self._ridge * coef
        self.objective = self._value(self.coef, self.pull)
        self.fresh = True
        self._leave_face()
        self._certify()

    def step(self) -> None:
        """One product, and lower."""
        self.recent = np.append(self.recent[-_RECENT + 1 :], self.objective)
        if self.on_face:
            self._conjugate_step()
        else:
            self._proximal_step()
        self._certify()

    @property
    def estimate(self) -> float:
        """Estimated excess risk: what the latest steps have gained, or the bound if that is smaller."""
        if self.recent.size < _RECENT:
            return self.excess_risk
        return min(2.0 * float(self.recent[0] - self.objective), self.excess_risk)

    @property
    def excess_risk(self) -> float:
        """Upper bound on what the risk of the weights exceeds the smallest by."""
        return max(1.0 + 2.0 * self.objective - self.lower, 0.0)

    def product(self) -> Array:
        """Σw as the steps have added it up."""
        return self._pairs.mu - self.pull - self._ridge * self.coef

    def state(self) -> dict[str, Array]:
        """All that the next steps depend on; arrays are not copied."""
        numbers = np.array([float(getattr(self, name)) for name in _NUMBERS])
        return {name: getattr(self, name) for name in _ARRAYS} | {"numbers": numbers}

    @classmethod
    def resume(cls, products: SymmetricOperator, penalty: Penalty, state: Mapping[str, Array]) -> FaceDescent:
        """Resume the descent that :meth:`state` described, to the same bits."""
        missing = [name for name in (*_ARRAYS, "numbers") if name not in state]
        if missing or np.shape(state["coef"]) != products.mu.shape or len(state["numbers"]) != len(_NUMBERS):
            raise ValueError(
                f"resume must be a state that watch was given for a problem with {products.mu.size:,} features"
                + (f", but {', '.join(missing)} is missing" if missing else "")
                + ". Start anew with resume=None."
            )
        new = cls(products, penalty, np.zeros_like(products.mu), np.zeros_like(products.mu))
        for name in _ARRAYS:
            setattr(new, name, np.array(state[name], dtype=np.float64))
        for name, number in zip(_NUMBERS, state["numbers"], strict=True):
            setattr(new, name, type(getattr(new, name))(number))
        return new

    def _value(self, w: Array, pull: Array) -> float:
        return float(-0.5 * (w @ pull + w @ self._pairs.mu) + self._threshold @ np.abs(w))

    def _certify(self) -> None:
        bound = excess_risk_bound(
            self._pairs, self._penalty, self.coef, self.product(), curvature=self.curvature
        )
        self.lower = max(self.lower, 1.0 + 2.0 * self.objective - bound)

    def _multiply(self, v: Array) -> Array:
        """(Σ + l2) v."""
        self.products += 1
        image = self._pairs.product(v)
        image += self._ridge * v
        return image

    def _move(self, coef: Array, pull: Array) -> None:
        self.coef, self.pull = coef, pull
        self.objective = self._value(coef, pull)
        self.fresh = False

    def _proximal_step(self) -> None:
        length = 1.0 / (self.scale * self._metric)
        goal = self.coef + length * self.pull
        goal = np.sign(goal) * np.maximum(np.abs(goal) - length * self._threshold, 0.0)
        goal[~self._known] = 0.0
        step = goal - self.coef
        if not step.any():
            self.stuck = True
            return
        image = self._multiply(step)
        bend = max(float(step @ image), 0.0)
        met = bend / float(step @ (self._metric * step))
        a, _, _ = lowest_point(self.coef, step, -float(self.pull @ step), bend, self._threshold, 1.0)
        if a == 0.0:
            self.stuck = True
            return
        changes = int((np.sign(goal) != np.sign(self.coef)).sum())
        before = self.objective
        self._move(goal if a == 1.0 else self.coef + a * step, self.pull - a * image)
        self.scale = met if met > self.scale else max(1.0, 0.5 * (self.scale + met))
        gain = before - self.objective
        self.best_gain, self.repeats = max(self.best_gain, gain), self.repeats + 1
        enough = gain <= _WORTH_REPEATING * self.best_gain or self.repeats >= _PROXIMAL_STEPS
        if changes == 0 or enough:
            self._enter_face()

    def _enter_face(self) -> None:
        self.signs = np.sign(self.coef)
        residual = self._residual(self.pull)
        self.direction = residual / self._metric
        self.descent = float(residual @ self.direction)
        self.on_face = self.descent > 0.0
        self.repeats, self.best_gain = 0, 0.0

    def _leave_face(self) -> None:
        self.on_face, self.left = False, 0
        self.repeats, self.best_gain = 0, 0.0

    def _residual(self, pull: Array) -> Array:
        """Minus the gradient on the face, zero elsewhere."""
        return np.where((self.signs != 0.0) | self._always, pull - self._threshold * self.signs, 0.0)

    def _conjugate_step(self) -> None:
        direction = self.direction
        image = self._multiply(direction)
        bend = float(direction @ image)
        if bend <= 0.0:
            self._leave_face()
            return
        a = self.descent / bend
        coef, pull = self.coef + a * direction, self.pull - a * image
        gain = self.objective - self._value(coef, pull)
        if gain < _WORTH_CONTINUING * 0.5 * a * self.descent:
            self._stop_at_kink(image, bend)
            return
        self._move(coef, pull)
        residual = self._residual(pull)
        preconditioned = residual / self._metric
        descent = float(residual @ preconditioned)
        if descent <= self._outside():
            self._leave_face()
            return
        self.direction = preconditioned + (descent / self.descent) * direction
        self.descent = descent

    def _stop_at_kink(self, image: Array, bend: float) -> None:
        slope = -float(self.pull @ self.direction)
        a, passed, landed = lowest_point(self.coef, self.direction, slope, bend, self._threshold)
        if a > 0.0:
            coef = self.coef + a * self.direction
            coef[landed] = 0.0
            self._move(coef, self.pull - a * image)
        if landed.size and passed == 0 and self.left < _FACES_IN_A_ROW:
            self.left += 1
            self._enter_face()
        else:
            self._leave_face()

    def _outside(self) -> float:
        """Squared gradient of the weights that are zero and should not be."""
        over = np.maximum(np.abs(self.pull) - self._threshold, 0.0)
        over[(self.signs != 0.0) | ~self._known | self._always] = 0.0
        return float(over @ (over / self._metric))
