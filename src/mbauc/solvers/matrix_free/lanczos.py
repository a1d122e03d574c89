"""What μ and random vectors say of the spectrum of Σ, from products alone and with bounds on both sides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

Array = NDArray[np.float64]
#: Nodes θ and weights ω of a quadrature: v' f(A) v ≈ Σᵢ ωᵢ f(θᵢ).
Rule = tuple[Array, Array]

#: Off-diagonal entries below this share of the diagonal end the process: the space is invariant.
_INVARIANT = 1e-14


class Lanczos:
    """Tridiagonal matrix of a positive semidefinite operator A from one vector v, a product a step.

    For a completely monotone f, such as 1/(θ + l2), the Gauss rule gives at most ``v' f(A) v`` and the
    Gauss-Radau rule with a node at 0 at least that (Golub and Meurant). Three vectors of memory; vectors are
    not orthogonalised again, which delays the bounds and does not break them.

    Parameters
    ----------
    multiply : callable
        A v for a vector v.
    start : ndarray of shape (d,)
        The vector v.

    Examples
    --------
    >>> import numpy as np
    >>> A, v = np.diag([1.0, 2.0, 5.0]), np.ones(3)
    >>> process = Lanczos(lambda x: A @ x, v)
    >>> process.step(), process.step()
    (True, True)
    >>> low, high = [float(w @ (1 / (nodes + 1))) for nodes, w in (process.gauss(), process.radau())]
    >>> round(float(v @ np.linalg.solve(A + np.eye(3), v)), 6), low < 1.0 < high
    (1.0, True)
    """

    def __init__(self, multiply: Callable[[Array], Array], start: Array) -> None:
        self._multiply = multiply
        self._length = float(np.linalg.norm(start))
        self._current = start / self._length if self._length > 0 else start
        self._previous = np.zeros_like(start)
        self._diagonal: list[float] = []
        self._beside: list[float] = []
        self.exhausted = self._length == 0.0

    @property
    def steps(self) -> int:
        """Products spent."""
        return len(self._diagonal)

    def step(self) -> bool:
        """Spend a product; False if there is nothing more to find."""
        if self.exhausted:
            return False
        product = self._multiply(self._current)
        if self._beside:
            product = product - self._beside[-1] * self._previous
        self._diagonal.append(float(product @ self._current))
        product = product - self._diagonal[-1] * self._current
        self._beside.append(float(np.linalg.norm(product)))
        self.exhausted = self._is_invariant()
        if not self.exhausted:
            self._previous, self._current = self._current, product / self._beside[-1]
        return True

    def gauss(self) -> Rule:
        """The rule from the steps so far."""
        nodes, vectors = self._eigen(np.array(self._diagonal), np.array(self._beside[:-1]))
        return np.maximum(nodes, 0.0), vectors[0] ** 2 * self._length**2

    def radau(self) -> Rule:
        """The rule with one more node, at 0; the Gauss rule where that is exact."""
        diagonal, beside = np.array(self._diagonal), np.array(self._beside)
        if self.exhausted or not diagonal.size:
            return self.gauss()
        nodes, vectors = self._eigen(diagonal, beside[:-1])
        if nodes[0] <= np.finfo(np.float64).eps * nodes[-1]:
            return self.gauss()
        last = beside[-1] ** 2 * float((vectors[-1] ** 2 / nodes).sum())
        nodes, vectors = self._eigen(np.append(diagonal, last), beside)
        return np.maximum(nodes, 0.0), vectors[0] ** 2 * self._length**2

    @staticmethod
    def _eigen(diagonal: Array, beside: Array) -> tuple[Array, Array]:
        if not diagonal.size:
            return np.zeros(0), np.zeros((1, 0))
        try:
            return eigh_tridiagonal(diagonal, beside, check_finite=False)  # type: ignore[no-any-return]
        except np.linalg.LinAlgError:
            # in some builds of LAPACK the default driver fails on close eigenvalues; QR steps converge
            return eigh_tridiagonal(  # type: ignore[no-any-return]
                diagonal, beside, check_finite=False, lapack_driver="stev"
            )

    def state(self) -> tuple[Array, Array]:
        """All that is needed to resume to the same bits: two vectors, and the tridiagonal matrix."""
        return np.array([self._current, self._previous]), np.array([self._diagonal, self._beside])

    def resume(self, vectors: Array, tridiagonal: Array) -> None:
        """Resume from a state."""
        self._current, self._previous = vectors.copy()
        self._diagonal, self._beside = tridiagonal.tolist()
        self.exhausted = self.exhausted or (bool(self._diagonal) and self._is_invariant())

    def _is_invariant(self) -> bool:
        smallest = _INVARIANT * max(map(abs, self._diagonal))
        # vectors lose their orthogonality; twice as many as there are dimensions have seen all of it
        return self._beside[-1] <= smallest or self.steps >= 2 * self._current.size
