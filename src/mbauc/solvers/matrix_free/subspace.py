"""Ridge solutions for any l2 within a few directions, from products with Σ alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lstsq

from mbauc.solvers.leave_one_out import Solved
from mbauc.solvers.operator import SymmetricOperator

Array = NDArray[np.float64]

#: A direction of which less than this is new adds nothing but rounding errors.
_NOTHING_NEW = 1e-10
#: Directions that are held at most.
ROOM = 16


class RidgeSubspace:
    """The problem (Σ + l2 F) w = μ in the span of some directions, for all l2 at once.

    A direction costs one product with Σ, whatever l2 is going to be: within the span every l2 is a system of a
    dozen equations. The direction to add next is the residual for the l2 of interest under a preconditioner:
    a Cholesky factor of Σ + l2 F among the leading columns, if the products offer a block, and the diagonal of
    the others. While l2 stays the same this is preconditioned conjugate gradients;
    when it changes, all directions stay useful. When there is no room left, the span
    collapses to the solution and the latest step towards it, from which conjugate gradients lose nothing.

    Columns are divided by the root of their second moment inside, so that units do not matter.

    Parameters
    ----------
    products : SymmetricOperator
        Products with Σ.
    factors : ndarray of shape (d,)
        Penalty factors, the diagonal of F.
    room : int, default=16
        Directions to hold, two vectors of d numbers each.

    Attributes
    ----------
    size, room : int
        Directions held now, and at most.
    """

    def __init__(self, products: SymmetricOperator, factors: Array, room: int = ROOM) -> None:
        diagonal = products.diagonal
        self._products = products
        self._unit = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
        self._ridge = factors * self._unit**2
        self._mu = self._unit * products.mu
        #: Σ among the first columns in units of the diagonal, which is never smaller than it is for all rows
        self._block = products.leading_block()
        unit = self._unit[: len(self._block)]
        self._block = self._block * np.outer(unit, unit)
        np.fill_diagonal(self._block, np.maximum(np.diagonal(self._block), 1.0))
        self._factor: tuple[float, Any] | None = None
        #: the latest residual, with its l2 and the size of the span it was found in
        self._found: tuple[float, int, Array] | None = None
        self.room = room
        self._basis = np.empty((room, diagonal.size))
        self._images = np.empty((room, diagonal.size))
        self._gram, self._penalty = np.zeros((room, room)), np.zeros((room, room))
        self._projected = np.zeros(room)
        self.size = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another direction."""
        return self.size == self.room

    # -- within the span -------------------------------------------------------------------------------

    def gains(self, l2: float, last: int = 1) -> list[float]:
        """Gain μ'w of the solution in the whole span, and in the spans that lack the 1, 2, … latest directions.

        1 - μ'w is the regularised risk of w, so differences say how much each direction has lowered it.
        """
        sizes = range(self.size, max(self.size - last, 0), -1)
        return [float(self._projected[:size] @ self._coordinates(l2, size)) for size in sizes]

    def evaluate(self, l2: Array) -> Solved:
        """Gain μ'w, penalised size and pairwise risk 1 - 2μ'w + w'Σw of the solutions for each l2."""
        size = self.size
        gram, penalty, projected = self._gram[:size, :size], self._penalty[:size, :size], self._projected[:size]
        matrices = gram + l2[:, None, None] * penalty
        try:
            found = np.linalg.solve(matrices, np.broadcast_to(projected[:, None], (l2.size, size, 1)))[..., 0]
        except np.linalg.LinAlgError:
            found = np.array([self._coordinates(float(value), size) for value in l2])
        gain, squares = found @ projected, np.einsum("ij,jk,ik->i", found, gram, found)
        return Solved(gain, np.einsum("ij,jk,ik->i", found, penalty, found), 1.0 - 2.0 * gain + squares)

    def solution(self, l2: float) -> Array:
        """The weights w."""
        return np.asarray(self._unit * (self._coordinates(l2, self.size) @ self._basis[: self.size]))

    def differences(self, l2: float) -> tuple[float, float]:
        """Mean w'μ and mean square w'Σw of the score differences of the solution."""
        a = self._coordinates(l2, self.size)
        return float(self._projected[: self.size] @ a), float(a @ self._gram[: self.size, : self.size] @ a)

    def _coordinates(self, l2: float, size: int) -> Array:
        matrix = self._gram[:size, :size] + l2 * self._penalty[:size, :size]
        projected = self._projected[:size]
        if not np.isfinite(matrix).all():
            # LAPACK would look for an answer without end
            raise FloatingPointError("sums over the columns are too large to solve with")
        try:
            return np.asarray(cho_solve(cho_factor(matrix, check_finite=False), projected, check_finite=False))
        except LinAlgError:
            return np.asarray(lstsq(matrix, projected, check_finite=False)[0])

    def project_sigma(self) -> tuple[Array, Array]:
        """What the span holds of Σ: ``A = ΣB(B'ΣB)⁻¹B'Σ``, B the directions.

        Both A and Σ - A are positive semidefinite.

        Returns
        -------
        roots : ndarray of shape (size, d)
            T with A = T'T.
        share : ndarray of shape (d,)
            Diagonal of A divided by that of Σ.
        """
        size = self.size
        values, vectors = eigh(self._gram[:size, :size], check_finite=False)
        kept = values > size * np.finfo(np.float64).eps * values[-1]
        roots = (vectors[:, kept] / np.sqrt(values[kept])).T @ self._images[:size]
        share = np.einsum("ij,ij->j", roots, roots)
        return roots * np.sqrt(self._products.diagonal), np.minimum(share, 1.0)

    # -- growing and collapsing ----------------------------------------------------------------------------

    def grow(self, l2: float) -> bool:
        """Add the direction in which the solution for ``l2`` is wrong; False if there is none."""
        return self._add(self._precondition(self._residual(l2), l2))

    def bound(self, l2: float) -> float:
        """What 1 - μ'w is above its smallest value at most: r'(l2 F)⁻¹r, r the residual."""
        ridge = l2 * self._ridge
        known = self._unit > 0
        if not (ridge[known] > 0).all():
            return float("inf")
        return float((self._residual(l2)[known] ** 2 / ridge[known]).sum())

    def _residual(self, l2: float) -> Array:
        if not self.size:
            return self._mu
        if self._found is None or self._found[:2] != (l2, self.size):
            a = self._coordinates(l2, self.size)
            residual = self._mu - a @ self._images[: self.size]
            residual -= l2 * self._ridge * (a @ self._basis[: self.size])
            self._found = l2, self.size, residual
        return self._found[2]

    def _precondition(self, residual: Array, l2: float) -> Array:
        direction = np.asarray(residual / (1.0 + l2 * self._ridge))
        size = len(self._block)
        if size:
            if self._factor is None or self._factor[0] != l2:
                matrix = self._block + np.diag(l2 * self._ridge[:size])
                try:
                    self._factor = l2, cho_factor(matrix, lower=True, check_finite=False)
                except LinAlgError:
                    return direction
            direction[:size] = cho_solve(self._factor[1], residual[:size], check_finite=False)
        return direction

    def add(self, w: Array) -> bool:
        """Add a direction that is thought to be near a solution."""
        return self._add(np.divide(w, self._unit, out=np.zeros_like(w), where=self._unit > 0))

    def _add(self, direction: Array) -> bool:
        before = float(np.linalg.norm(direction))
        if not before > 0.0 or not np.isfinite(before):
            return False
        held = self._basis[: self.size]
        direction = direction / before
        for _ in range(2):  # once is not enough where little is new
            direction = direction - (held @ direction) @ held
        length = float(np.linalg.norm(direction))
        if length < _NOTHING_NEW:
            return False
        k = self.size
        self._basis[k] = direction / length
        self._images[k] = self._unit * self._products.product(self._unit * self._basis[k])
        self.size += 1
        self._project(k)
        return True

    def _project(self, first: int) -> None:
        """Fill in the small matrices from direction ``first`` on."""
        size = self.size
        basis, images = self._basis[:size], self._images[:size]
        for k in range(first, size):
            self._gram[k, : k + 1] = self._gram[: k + 1, k] = basis[: k + 1] @ images[k]
            self._penalty[k, : k + 1] = self._penalty[: k + 1, k] = basis[: k + 1] @ (self._ridge * basis[k])
            self._projected[k] = basis[k] @ self._mu

    def collapse(self, l2: float) -> None:
        """Keep the solution for ``l2`` and the latest step towards it, and forget the other directions."""
        size = self.size
        kept = np.zeros((2, size))
        kept[0] = self._coordinates(l2, size)
        kept[1] = kept[0]
        kept[1, :-1] -= self._coordinates(l2, size - 1)
        kept[0] /= np.linalg.norm(kept[0])
        for _ in range(2):
            kept[1] -= (kept[0] @ kept[1]) * kept[0]
            kept[1] /= np.linalg.norm(kept[1])
        self._basis[:2], self._images[:2] = kept @ self._basis[:size], kept @ self._images[:size]
        self.size, self._found = 2, None
        self._project(0)

    # -- to disk and back -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that is needed to resume to the same bits."""
        k = self.size
        return {
            "basis": self._basis[:k],
            "images": self._images[:k],
            "gram": self._gram[:k, :k],
            "penalty": self._penalty[:k, :k],
            "projected": self._projected[:k],
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Resume from a state."""
        k = self.size = len(state["basis"])
        self._found = None
        self._basis[:k], self._images[:k] = state["basis"], state["images"]
        self._gram[:k, :k], self._penalty[:k, :k] = state["gram"], state["penalty"]
        self._projected[:k] = state["projected"]
