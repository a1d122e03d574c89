"""Penalties of coordinates that are tried: one strength for all, or strengths by term that moments suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.additive.coordinates import Statistics
from mbauc.solvers.evidence import maximise_evidence

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: Strengths of one penalty for all coordinates that are tried: one over the variance of a log-odds weight.
COMMON = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Multiples of strengths that the moments suggest for each term.
SUGGESTED = (1.0, 3.0, 10.0)
#: What interactions cost more than curves, under one penalty for all.
CROSSED = 10.0
#: The same two for curves with interactions, which are tried on fewer rows.
CROSSED_COMMON, CROSSED_SUGGESTED = (3.0, 10.0, 30.0), (1.0, 3.0)
#: Coordinates up to which each term may have a strength of its own: of curves, and with interactions.
MOST_BY_TERM, MOST_BY_TERM_CROSSED = 600, 950
#: Steps towards these strengths.
_STEPS, _STEPS_CROSSED = 8, 5


@dataclass(frozen=True, eq=False)
class Candidate:
    """Penalties of some coordinates: a strength for each, and how they came about."""

    how: str
    strength: Array


def count_candidates(size: int, common: Sequence[float], suggested: Sequence[float], most: int) -> int:
    """How many penalties are tried: strengths by term only up to ``most`` coordinates."""
    return len(common) + (len(suggested) if size <= most else 0)


def list_candidates(
    statistics: Statistics,
    roughness: Array,
    group: Index,
    common: Sequence[float],
    suggested: Sequence[float],
    places: Sequence[int] | Index,
    crossed: NDArray[np.bool_] | None = None,
) -> list[Candidate]:
    """Penalties to try, of which only some ``places`` are asked for.

    First one strength for all coordinates, ``crossed`` ones costing more; then strengths by term, as moments
    suggest them, times a number.
    """
    factors = roughness if crossed is None else np.where(crossed, CROSSED, 1.0) * roughness
    said = describe_candidates(common, suggested)
    by_term: Array | None = None
    found = []
    for place in places:
        if place < len(common):
            found.append(Candidate(said[place], common[place] * factors))
            continue
        if by_term is None:
            _, own = np.unique(group, return_inverse=True)
            start = np.ones(int(own.max(initial=0)) + 1)
            if crossed is not None:
                start[own[crossed]] = CROSSED
            evidence = maximise_evidence(
                statistics.covariance,
                statistics.mu,
                statistics.noise,
                roughness,
                own,
                start=start,
                max_iter=_STEPS if crossed is None else _STEPS_CROSSED,
            )
            by_term = evidence.strength[own] * roughness
        found.append(Candidate(said[place], suggested[place - len(common)] * by_term))
    return found


def describe_candidates(common: Sequence[float], suggested: Sequence[float]) -> list[str]:
    """Penalties that are tried, in words."""
    return [f"one strength of {one:g}" for one in common] + [
        f"a strength for each term, times {one:g}" for one in suggested
    ]
