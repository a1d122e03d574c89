"""Penalties of coordinates that are tried: one strength for all, or strengths by term that moments suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.smoothing import SmoothBasis
from mbauc.estimators.additive.coordinates import Statistics
from mbauc.solvers.evidence import maximise_evidence

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: What interactions cost more than curves, under one penalty for all.
CROSSED = 10.0
#: Strengths of one penalty for all coordinates that are tried: one over the variance of a log-odds weight.
_COMMON = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
#: Multiples of strengths that the moments suggest for each term.
_SUGGESTED = (1.0, 3.0, 10.0)
#: The same two for curves with interactions, which are tried on fewer rows.
_CROSSED_COMMON, _CROSSED_SUGGESTED = (3.0, 10.0, 30.0), (1.0, 3.0)
#: Coordinates up to which each term may have a strength of its own: of curves, and with interactions.
_MOST_BY_TERM, _MOST_BY_TERM_CROSSED = 600, 950
#: Steps towards these strengths: of curves, with interactions, and from strengths that other rows suggest.
_STEPS, _STEPS_CROSSED, _STEPS_AGAIN = 8, 5, 3


@dataclass(frozen=True, eq=False)
class Penalties:
    """Penalties to try, by place: first one strength for all coordinates, then strengths by term.

    Attributes
    ----------
    roughness : ndarray of shape (coordinates,)
        What each coordinate costs.
    term : ndarray of shape (coordinates,)
        Which term each belongs to, counted from 0.
    crossed : ndarray of shape (coordinates,) or None
        Whether each is of an interaction, which costs more under one strength; None without interactions.
    """

    roughness: Array
    term: Index
    crossed: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, basis: SmoothBasis, columns: Index | None = None) -> Penalties:
        """Of the coordinates of a basis, or of some of them."""
        columns = np.arange(basis.roughness.size) if columns is None else columns
        _, term = np.unique(basis.group[columns], return_inverse=True)
        crossed = basis.is_interaction[columns]
        return cls(basis.roughness[columns], term.astype(np.intp), crossed if crossed.any() else None)

    @cached_property
    def _tried(self) -> tuple[Sequence[float], Sequence[float]]:
        """Strengths for all, and multiples of those by term."""
        if self.crossed is None:
            return _COMMON, _SUGGESTED if self.roughness.size <= _MOST_BY_TERM else ()
        return _CROSSED_COMMON, _CROSSED_SUGGESTED if self.roughness.size <= _MOST_BY_TERM_CROSSED else ()

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(map(len, self._tried))

    def describe(self, place: int) -> str:
        """One of them in words."""
        common, suggested = self._tried
        if place < len(common):
            return f"one for all terms ({common[place]:g})"
        return f"one for each term (factor {suggested[place - len(common)]:g})"

    def suggest(self, statistics: Statistics, start: Array | None = None) -> Array:
        """Strengths of the terms that moments suggest; quicker from ``start``, what other rows suggest."""
        steps = _STEPS_AGAIN
        if start is None:
            steps = _STEPS if self.crossed is None else _STEPS_CROSSED
            start = np.ones(int(self.term.max(initial=0)) + 1)
            if self.crossed is not None:
                start[self.term[self.crossed]] = CROSSED
        found = maximise_evidence(
            statistics.covariance,
            statistics.mu,
            statistics.noise,
            self.roughness,
            self.term,
            start=start,
            max_iter=steps,
        )
        return found.strength

    def needs_suggestion(self, places: Sequence[int] | Index) -> bool:
        """Whether strengths by term are among some places."""
        return any(place >= len(self._tried[0]) for place in places)

    def strengths(self, places: Sequence[int] | Index, by_term: Array | None = None) -> Array:
        """Strengths of all coordinates, a row for each place; ``by_term`` as :meth:`suggest` gives them."""
        common, suggested = self._tried
        factors = self.roughness
        if self.crossed is not None:
            factors = np.where(self.crossed, CROSSED, 1.0) * factors
        own = factors if by_term is None else by_term[self.term] * self.roughness
        return np.array(
            [
                common[place] * factors if place < len(common) else suggested[place - len(common)] * own
                for place in places
            ]
        )
