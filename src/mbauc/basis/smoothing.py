"""Smooth coordinates of curves and interactions, and what it costs to use each of them.

Along a column, functions that alternate more often are rougher. Its smooth coordinates are functions u₁, u₂, …
over its bins, each of mean 0 and variance 1 and uncorrelated with the others, in the order of their roughness:
the mean over the ranks of the column of the squared slope, in units of that of one half wave (Demmler and
Reinsch). Penalising the square of each weight by the roughness of its function penalises the differences of
neighbouring bins. Coordinates beyond the first few are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from mbauc.basis.columns import Steps
from mbauc.basis.feature_map import FeatureMap, Term
from mbauc.basis.reduction import Reduction
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: Rows that a thread writes at a time.
_ROWS = 1_024
#: Share of a bin's weight that counts as none.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class SmoothBasis:
    """Coordinates of all features, what they cost and what they belong to.

    Attributes
    ----------
    reduction : Reduction
        From features to coordinates.
    roughness : ndarray of shape (coordinates,)
        Penalty of each: 1 for levels of categories and for numbers, for waves their mean variance.
    group : ndarray of shape (coordinates,)
        Which term each belongs to.
    is_interaction : ndarray of shape (coordinates,)
        Whether that is an interaction.
    """

    reduction: Reduction
    roughness: Array
    group: NDArray[np.intp]
    is_interaction: NDArray[np.bool_]

    def rows(
        self,
        features: FeatureMap,
        codes: NDArray[np.int32],
        numbers: Array,
        waves: Array | None = None,
        n_jobs: int | None = 1,
    ) -> Array:
        """Coordinates of rows as a dense matrix: T' of their features. ``O(n coordinates)``."""
        from mbauc.basis import kernels

        Z = np.empty((codes.shape[0], self.reduction.n_coordinates))
        tables = [
            np.eye(block) if isinstance(block, int) else block
            for term, block in zip(features.terms(), self.reduction.blocks, strict=True)
            if term.kind != "waves"
        ]
        flat = np.concatenate([table.ravel() for table in tables])
        widths = np.array([table.shape[1] for table in tables])
        # one row of a table for each feature
        first = np.cumsum(np.repeat(widths, [table.shape[0] for table in tables]))
        first = np.append(0, first[:-1])
        places = np.array([columns.start for _, columns in self.reduction.places()])
        starts, *rest = features.places()

        def write(start: int) -> None:
            own = slice(start, start + _ROWS)
            kernels.write_coordinates(
                codes[own], starts, numbers[own], *rest, flat, first, widths, places, Z[own]
            )

        run_threads(write, range(0, codes.shape[0], _ROWS), thread_count(n_jobs))
        if waves is not None:
            Z[:, Z.shape[1] - waves.shape[1] :] = waves
        return Z


def smooth_features(
    features: FeatureMap, totals: list[Array], *, functions: int, coarse: int = 6
) -> SmoothBasis:
    """The smooth coordinates of all features.

    Parameters
    ----------
    features : FeatureMap
        The features.
    totals : list of ndarray
        Weight of each indicator of each column in training.
    functions, coarse : int
        Coordinates of a curve, and of each of the two columns of an interaction, at most.
    """
    crossed = {j for pair in features.pairs for j in pair}
    by_column = {j: coarse_functions(features, j, totals[j], coarse) for j in sorted(crossed)}
    blocks: list[Array | int] = []
    rough: list[Array] = []
    for term in features.terms():
        block, roughness = _smooth_term(term, totals, by_column, functions)
        blocks.append(block)
        rough.append(roughness)
    if not any(one.size for one in rough):
        # nothing varies: one coordinate that is zero in all rows
        blocks[0], rough[0] = np.zeros((features.columns[0].width, 1)), np.ones(1)
    sizes = [one.size for one in rough]
    is_interaction = [term.kind == "cells" for term in features.terms()]
    return SmoothBasis(
        Reduction(tuple(blocks)),
        np.concatenate(rough),
        np.repeat(np.arange(len(sizes)), sizes),
        np.repeat(is_interaction, sizes),
    )


def _smooth_term(
    term: Term, totals: list[Array], coarse: dict[int, tuple[Array, Array]], functions: int
) -> tuple[Array | int, Array]:
    """T of a term and the roughness of its coordinates."""
    if term.kind == "cells":
        (first, a), (second, b) = (coarse[j] for j in term.columns)
        return np.asarray(np.kron(first, second), dtype=np.float64), np.asarray(np.add.outer(a, b).ravel())
    if term.kind == "steps":
        return smooth_functions(totals[term.columns[0]], functions)
    width = term.stop - term.start
    # squares of all waves of a row add up to 1
    return width, np.full(width, 1.0 / width if term.kind == "waves" else 1.0)


def smooth_functions(totals: Array, most: int) -> tuple[Array, Array]:
    """The smoothest functions over bins, shape (bins + 1, k), and their roughness; the last bin is apart.

    Parameters
    ----------
    totals : ndarray of shape (bins + 1,)
        Weight of each bin, at last of the missing values.
    most : int
        Functions, at most, without the indicator of missing values that comes with these.

    Examples
    --------
    >>> import numpy as np
    >>> functions, roughness = smooth_functions(np.array([1.0, 1.0, 1.0, 1.0, 0.0]), 2)
    >>> functions[:4, 0].round(2), roughness.round(2)
    (array([-1.31, -0.54,  0.54,  1.31]), array([0.95, 3.24]))
    """
    own = totals[:-1]
    # bins of next to no weight have ranks that cannot be told apart
    used = np.flatnonzero(own > _NOTHING * own.sum())
    functions, roughness = np.zeros((totals.size, 0)), np.zeros(0)
    if used.size > 1:
        share = own[used] / own[used].sum()
        if used.size == 2:
            return _add_missing(totals, *_two_bins(totals.size, used, share))
        rank = np.cumsum(share) - share / 2
        root = np.sqrt(share)
        # squared differences of neighbours, per unit of rank, between functions of variance 1
        slope = 1.0 / np.diff(rank)
        diagonal = (np.append(slope, 0.0) + np.append(0.0, slope)) / share
        beside = -slope / (root[1:] * root[:-1])
        last = min(most, used.size - 1)
        values, vectors = eigh_tridiagonal(diagonal, beside, select="i", select_range=(1, last))
        functions = np.zeros((totals.size, last))
        functions[used] = vectors / root[:, None]
        # of either sign: rising at the end, so that equal rows give equal functions
        functions *= np.where(functions[used[-1]] < 0, -1.0, 1.0)
        roughness = values / np.pi**2
    return _add_missing(totals, functions, roughness)


def _two_bins(size: int, used: NDArray[np.intp], share: Array) -> tuple[Array, Array]:
    """The one function of variance 1 over two bins, whose ranks are one half apart, and its roughness."""
    functions = np.zeros((size, 1))
    functions[used, 0] = -np.sqrt(share[1] / share[0]), np.sqrt(share[0] / share[1])
    return functions, np.array([2.0 / (share[0] * share[1])]) / np.pi**2


def _add_missing(totals: Array, functions: Array, roughness: Array) -> tuple[Array, Array]:
    """With the indicator of missing values, if there are some."""
    if totals[-1] <= 0:
        return functions, roughness
    missing = np.zeros((totals.size, 1))
    missing[-1] = 1.0
    return np.hstack([functions, missing]), np.append(roughness, 1.0)


def coarse_functions(features: FeatureMap, j: int, totals: Array, most: int) -> tuple[Array, Array]:
    """Functions over the coarse groups of a column, each of mean 0 and about variance 1; 0 where no row is."""
    width = int(features.coarse_widths[j])
    groups = np.bincount(features.coarse[j], totals, minlength=width).astype(np.float64)
    total = groups.sum() or 1.0
    if isinstance(features.columns[j], Steps):
        functions, roughness = smooth_functions(groups, most)
        functions = functions - groups @ functions / total
    else:
        # the most frequent; the others share what remains
        used = np.sort(np.argsort(-groups, kind="stable")[: min(most, int((groups > 0).sum()))])
        share = groups / total
        functions = (np.eye(groups.size) - share)[:, used] / np.sqrt(share[used])
        roughness = np.ones(used.size)
    functions[groups == 0] = 0.0
    return functions, roughness


def with_pairs(features: FeatureMap, pairs: list[tuple[int, int]]) -> FeatureMap:
    """The same features with these interactions."""
    return replace(features, pairs=tuple(sorted(pairs)))
