"""The loss around weights as a quadratic, and its minimum with the penalty, roughly."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.matrix_free.face_descent import FaceDescent
from mbauc.solvers.newton.preconditioner import Preconditioner, invert_diagonal, invert_matrix
from mbauc.solvers.newton.rows import Point, ScaledRows
from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]

#: Steps whose gains together say what further ones would bring.
_RECENT = 4
#: Curvature along a direction, as a share of that of the squared loss, below which a loss is a line …
_NO_BEND = 1e-14
#: … and what it is taken for then: the search along the line finds out how far to go.
_BEND_OF_LINE = 1e-3
#: Curvature of a column, as a share of that of the squared loss, that it is taken for at least: by
#: preconditioners, and by models with l1, which have no end where the loss is a line.
_LEAST_CURVATURE = 1e-6


class Curvature:
    """X'HX, the Hessian of the loss by the weights."""

    def __init__(self, rows: ScaledRows, point: Point) -> None:
        self._rows, self._expansion = rows, point.expansion

    def product(self, v: Array) -> Array:
        """X'HX v."""
        return self._rows.combine(self._expansion.product(self._rows.scores(v)))

    def find_diagonal(self) -> Array:
        """About the diagonal."""
        variances = self._rows.weighted_variances(self._expansion.diagonal)
        return np.asarray(np.maximum(variances, _LEAST_CURVATURE * self._rows.diagonal))

    def precondition(self, ridge: Array) -> Preconditioner:
        """About the inverse, with a ridge."""
        matrix = self._rows.curvature(self._expansion.diagonal)
        found = invert_matrix(matrix, ridge) if matrix.size else None
        return invert_diagonal(self.find_diagonal(), ridge) if found is None else found


class NewtonModel(Curvature):
    """½ v'Σv - v'μ with Σ = X'HX and μ = Σw - g: the loss around w, up to a constant (a SymmetricOperator).

    Σ has a little more on its diagonal, so that the model has a minimum where the loss is a line.
    """

    def __init__(self, rows: ScaledRows, point: Point) -> None:
        super().__init__(rows, point)
        self._floor = _LEAST_CURVATURE * rows.diagonal
        self.diagonal = self.find_diagonal()
        #: Σ w
        self.image = rows.combine(point.expansion.product(point.scores)) + self._floor * point.w
        self.mu = self.image - point.gradient

    def product(self, v: Array) -> Array:
        """Σ v."""
        return np.asarray(super().product(v) + self._floor * v)

    def leading_block(self) -> Array:
        """None."""
        return np.empty((0, 0))


class Goal(NamedTuple):
    """Weights that a model leads to."""

    w: Array
    #: what it says they lower the objective by
    gain: float
    #: about what it could still be lowered by
    left: float


#: Told the number of steps, their gain and what is left to gain, roughly: whether that is enough.
Enough = Callable[[int, float, float], bool]


def minimise_ridge(rows: ScaledRows, point: Point, penalty: Penalty, enough: Enough, most: int) -> Goal:
    """By conjugate gradients, preconditioned with the diagonal; each step is a sweep."""
    model, ridge = Curvature(rows, point), penalty.l2 * penalty.factors
    precondition = model.precondition(ridge)
    residual = -(point.gradient + ridge * point.w)
    step, gained, left = np.zeros_like(residual), 0.0, 0.0
    preconditioned = precondition(residual)
    direction, descent = preconditioned, float(residual @ preconditioned)
    for count in range(1, most + 1):
        if descent <= 0.0:
            break
        image = model.product(direction) + ridge * direction
        bend = float(direction @ image)
        usual = float(direction @ ((rows.diagonal + ridge) * direction))
        if bend <= _NO_BEND * usual:
            a = descent / (_BEND_OF_LINE * usual)
            return Goal(point.w + step + a * direction, gained + 0.5 * a * descent, 0.5 * a * descent)
        a = descent / bend
        step = step + a * direction
        residual = residual - a * image
        gain = 0.5 * a * descent
        gained += gain
        left = count * gain
        if enough(count, gained, left):
            break
        preconditioned = precondition(residual)
        before, descent = descent, float(residual @ preconditioned)
        direction = preconditioned + (descent / before) * direction
    return Goal(point.w + step, gained, left)


def minimise_elastic_net(rows: ScaledRows, point: Point, penalty: Penalty, enough: Enough, most: int) -> Goal:
    """By proximal and conjugate steps on faces; each step is a sweep."""
    model = NewtonModel(rows, point)
    descent = FaceDescent(model, penalty, point.w, model.image)
    start, gains = descent.objective, [0.0]
    left = 0.0
    for count in range(1, most + 1):
        descent.step()
        gains.append(start - descent.objective)
        left = gains[-1] - gains[max(0, count - _RECENT)]
        if descent.stuck or enough(count, gains[-1], left):
            break
    return Goal(descent.coef, gains[-1], left)
