"""Random Fourier features: waves whose inner products are about a Gaussian kernel, from a seed alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate, check_number, check_whole
from mbauc.rows.matrix import as_matrix, is_sparse

Array = NDArray[np.float64]

#: Values farther than this many units from the centre count as so far.
_FARTHEST = 32.0
#: Values are rounded to this part of a unit.
_VALUE_STEP = 2.0**-20
#: Sums of the rounded frequencies of a wave, in steps, are below this power of two: with the 25 bits of a value
#: every partial sum of a phase has at most 53 bits.
_FREQUENCY_BITS = 28
#: Places on the circle for which cosine and sine are known; a phase is off by at most 5e-5.
_PLACES = 1 << 16
#: Numbers of a piece of rows that are at work at once.
_PIECE = 1 << 20
#: Frequencies take 8 bytes each, and are all in memory.
_MOST_FREQUENCIES = 1 << 28


class WaveSteps(NamedTuple):
    """How waves are made of values in units from the centre, NaN taken for 0."""

    #: values beyond are taken for this
    farthest: float
    #: what values are then rounded to multiples of, halves to even
    value_step: float
    #: columns × frequencies: products, rounded to whole numbers, are places on the circle, which begins again
    frequencies: Array
    #: of each place
    cosine: Array
    sine: Array


@dataclass(frozen=True, eq=False)
class FourierMap:
    """Waves cos(ω'u) and sin(ω'u) of rows u = (x - center) / unit.

    With D components there are D/2 frequencies ω. The inner product of two encoded rows is about the Gaussian
    kernel: ``z(x)'z(y) = (2/D) Σ cos(ω'(u - v)) ≈ exp(-gamma ‖u - v‖²)``, with a standard error of at most
    ``√(1/D)``. So a linear ranker of z ranks like a smooth function of x.

    Frequencies are orthogonal within blocks of as many as there are columns, with the lengths of normal vectors
    (orthogonal random features), which makes the error smaller than that of independent ones. They are drawn
    from the seed alone, by a stream of bits that is the same in all versions of numpy. They are not stored.

    Values and frequencies are rounded such that every sum of their products is exact, in any order. So a row
    is encoded to the same bits alone or among others, however BLAS shares the work. On another machine the last
    bit of a frequency may differ, which moves a phase by less than 1e-6.

    ``O(n d D)`` time; ``4 d D`` bytes for the frequencies, once they are drawn.

    Parameters
    ----------
    n_components : int
        Features D that rows get, an even number; of an odd one the last frequency has no sine.
    seed : int
        Of the frequencies.
    gamma : float
        Of the kernel. A ranker can follow what changes over about ``1/√gamma`` units.
    center : ndarray of shape (d,)
        What is taken from each column. A missing value (NaN) counts as this.
    unit : ndarray of shape (d,)
        What each column is divided by then; 0 leaves it out. Values farther than 32 units from the centre count
        as 32 units.

    Examples
    --------
    >>> import numpy as np
    >>> waves = FourierMap(2048, seed=0, gamma=0.5, center=np.zeros(3), unit=np.ones(3))
    >>> Z = waves.encode(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    >>> Z.shape
    (2, 2048)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5)) < 0.02)
    True
    >>> waves.names[:3]
    ['cos0', 'sin0', 'cos1']
    """

    n_components: int
    seed: int
    gamma: float
    center: Array
    unit: Array

    def __post_init__(self) -> None:
        check_whole("n_components", self.n_components)
        check_whole("seed", self.seed, 0)
        check_number("gamma", self.gamma, low=0.0, open_low=True)
        center, unit = _numbers("center", self.center), _numbers("unit", self.unit)
        if center.size != unit.size:
            raise ValueError(
                "center and unit must have one number for each column, "
                f"got {center.size:,} and {unit.size:,} numbers."
            )
        if (unit < 0).any():
            raise ValueError(f"unit must not be negative, got {unit.min()}; 0 leaves a column out.")
        if center.size * ((self.n_components + 1) // 2) > _MOST_FREQUENCIES:
            raise ValueError(
                f"n_components={self.n_components:,} waves of {center.size:,} columns take more than 2 GB. "
                "Use fewer components, or fewer columns (sklearn.feature_selection, sklearn.decomposition)."
            )
        # plain numbers, whatever came, so that they can be written
        for name, value in (
            ("n_components", int(self.n_components)),
            ("seed", int(self.seed)),
            ("gamma", float(self.gamma)),
            ("center", center),
            ("unit", unit),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_columns(self) -> int:
        """Columns of the rows to encode."""
        return int(self.center.size)

    @property
    def names(self) -> list[str]:
        """Names of the features: the cosine and the sine of each frequency."""
        pairs = [f"{wave}{number}" for number in range(self._n_frequencies) for wave in ("cos", "sin")]
        return pairs[: self.n_components]

    @property
    def _n_frequencies(self) -> int:
        return (self.n_components + 1) // 2

    @cached_property
    def _frequencies(self) -> Array:
        """Shape (d, D/2); their products with rounded values are phases in places on the circle, exactly."""
        turns = draw_frequencies(self.n_columns, self._n_frequencies, self.seed)
        turns *= np.sqrt(2.0 * self.gamma) / (2.0 * np.pi)
        largest = float(np.abs(turns).sum(axis=0).max())
        # one bit to spare for the rounding of the frequencies themselves
        step = 2.0 ** (np.ceil(np.log2(largest)) + 1 - _FREQUENCY_BITS)
        return np.asarray(np.rint(turns / step) * (step * _PLACES))

    def encode(self, X: Any) -> Array:
        """The features of rows; each depends on its row alone, to the bit.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Rows; NaN where a value is missing. Sparse rows are made dense piece by piece.

        Returns
        -------
        ndarray of shape (n, D)
            Each row has length 1, if D is even.
        """
        X = as_matrix(X)
        if X.shape[1] != self.n_columns:
            raise ValueError(f"X must have {self.n_columns:,} columns, got {X.shape[1]:,}.")
        if is_sparse(X):
            X = X.tocsr()
        Z = np.empty((X.shape[0], 2 * self._n_frequencies))
        waves = Z.view(np.complex128)
        circle = _circle() / np.sqrt(self._n_frequencies)
        rows = max(1, _PIECE // max(self.n_columns, self.n_components))
        for first in range(0, X.shape[0], rows):
            piece = X[first : first + rows]
            phases = self._round(piece.toarray() if is_sparse(piece) else piece) @ self._frequencies
            places = np.rint(phases, out=phases).astype(np.int64)
            places &= _PLACES - 1
            # nothing is outside; to clip is only the mode that needs no buffer
            np.take(circle, places, out=waves[first : first + rows], mode="clip")
        return Z if Z.shape[1] == self.n_components else np.ascontiguousarray(Z[:, :-1])

    def _round(self, X: NDArray[Any]) -> Array:
        """Values in units from the centre, as multiples of a power of two; those that are missing are 0."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            values = (X.astype(np.float64) - self.center) / self.unit
        values[np.isnan(values)] = 0.0
        values[:, self.unit == 0.0] = 0.0
        np.clip(values, -_FARTHEST, _FARTHEST, out=values)
        values *= 1.0 / _VALUE_STEP
        np.rint(values, out=values)
        values *= _VALUE_STEP
        return values

    def steps(self) -> WaveSteps:
        """What :meth:`encode` does with a row, as numbers, for programs that do the same."""
        circle = _circle() / np.sqrt(self._n_frequencies)
        return WaveSteps(_FARTHEST, _VALUE_STEP, self._frequencies, circle.real.copy(), circle.imag.copy())

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`from_dict` takes, in numbers and lists that JSON can hold: ``2 d + 3`` numbers."""
        return {
            "n_components": self.n_components,
            "seed": self.seed,
            "gamma": self.gamma,
            "center": self.center.tolist(),
            "unit": self.unit.tolist(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FourierMap:
        """The map that :meth:`to_dict` was called on: it encodes to the same bits.

        Raises
        ------
        ValueError
            If a value is missing, unknown or out of its bounds.
        """
        wanted = {"n_components", "seed", "gamma", "center", "unit"}
        if not isinstance(values, dict) or set(values) != wanted:
            raise ValueError(
                f"values must have {', '.join(sorted(wanted))} and nothing else, got {abbreviate(values)}. "
                "Pass what FourierMap.to_dict gave."
            )
        return cls(**values)

    def __reduce__(self) -> tuple[Any, ...]:
        # the frequencies are drawn again
        return type(self), (self.n_components, self.seed, self.gamma, self.center, self.unit)


def draw_frequencies(n_columns: int, n_frequencies: int, seed: int) -> Array:
    """Vectors that are each normal, and orthogonal to others of their block: of as many as there are columns.

    ``O(d² m)`` time for m vectors.

    Parameters
    ----------
    n_columns, n_frequencies : int
        Numbers d and m.
    seed : int
        Of the draw.

    Returns
    -------
    ndarray of shape (d, m)

    Examples
    --------
    >>> import numpy as np
    >>> W = draw_frequencies(4, 4, seed=0)
    >>> bool(np.allclose(W.T @ W, np.diag((W**2).sum(axis=0))))
    True
    """
    bits = np.random.PCG64(seed)
    drawn = np.empty((n_columns, n_frequencies))
    for first in range(0, n_frequencies, n_columns):
        count = min(n_columns, n_frequencies - first)
        normal = _draw_normal(bits, n_columns * count).reshape(count, n_columns).T
        directions, triangle = np.linalg.qr(normal)
        # with this sign the directions are uniform, and the same for any LAPACK
        directions *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
        drawn[:, first : first + count] = directions * np.sqrt((normal**2).sum(axis=0))
    return drawn


def _draw_normal(bits: np.random.PCG64, count: int) -> Array:
    """Normal numbers by Box and Muller from bits, whose stream is fixed, unlike ``Generator.normal``'s."""
    raw = np.asarray(bits.random_raw(2 * ((count + 1) // 2)))
    uniform = (raw >> np.uint64(11)).astype(np.float64).reshape(2, -1) * 2.0**-53
    # 1 - u is never 0
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[0]))
    angle = 2.0 * np.pi * uniform[1]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]


@cache
def _circle() -> NDArray[np.complex128]:
    """Cosine + i sine of each place on the circle."""
    places: NDArray[np.complex128] = np.exp(2j * np.pi * np.arange(_PLACES) / _PLACES)
    return places


def _numbers(name: str, values: Any) -> Array:
    """A frozen copy as float64, or an error that names the argument."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {abbreviate(values)}.") from None
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"{name} must hold one finite number for each column, got {abbreviate(values)}.")
    found.setflags(write=False)
    return found
