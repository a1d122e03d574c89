"""A fitted expansion: how rows of numbers and codes become indicators, and back to names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.basis.columns import Levels, Number, Steps
from mbauc.basis.fourier import FourierMap
from mbauc.basis.schema import FEATURE_MAP
from mbauc.checks import abbreviate
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: Name of what waves add.
WAVES = "waves of all columns"
#: Name and version of the format of a feature map as JSON.
_FORMAT, _VERSION = "mbauc feature map", 1
#: Rows that are expanded at a time.
_ROWS = 8_192


class Term(NamedTuple):
    """Features that belong together: a column's curve, its number, an interaction, or waves.

    ``kind`` is "steps", "levels", "number", "cells" or "waves"; ``columns`` are one or two columns of the rows,
    of waves all; their features are ``start`` to ``stop``.
    """

    kind: str
    columns: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """How rows become features: curves, levels, numbers and interactions.

    A row has one indicator for each column (the bin of its number or the level of its code), one value for
    each number that is kept, and one indicator for each interaction: the cell of two columns, whose bins are
    taken together in coarse groups. A weight for each feature is then a curve, or a heat map, to look up.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    columns : tuple of Steps and Levels
        What each column becomes.
    numbers : tuple of Number
        Numbers that are features themselves as well.
    pairs : tuple of (int, int)
        Columns of each interaction.
    coarse : tuple of ndarray
        The coarse group of each indicator of each column, from 0 on.
    waves : FourierMap or None
        Waves of all numeric columns, which come last. With them features are dense.
    """

    names: tuple[str, ...]
    columns: tuple[Steps | Levels, ...]
    numbers: tuple[Number, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    coarse: tuple[NDArray[np.int32], ...] = ()
    waves: FourierMap | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.columns) or not self.columns:
            raise ValueError("a feature map needs a name for each of its columns, and at least one.")
        for number in self.numbers:
            if not 0 <= number.column < len(self.columns):
                raise ValueError(f"there is no column {number.column} to take the number of.")
        for a, b in self.pairs:
            if not 0 <= a < b < len(self.columns):
                raise ValueError(f"an interaction must be of two columns in their order, got ({a}, {b}).")
        if self.pairs and len(self.coarse) != len(self.columns):
            raise ValueError("interactions need the coarse groups of each column.")
        if len(self.coarse) not in (0, len(self.columns)):
            raise ValueError(f"coarse must have groups for each of {len(self.columns):,} columns, or none.")
        for column, groups in zip(self.columns, self.coarse, strict=False):
            if groups.shape != (column.width,) or groups.min() < 0 or groups.max() > column.width:
                raise ValueError("coarse must have a group for each indicator of its column.")

    # -- places ------------------------------------------------------------------------------------------

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First feature of each column, and of what comes after them."""
        return np.cumsum([0, *(column.width for column in self.columns)])

    @cached_property
    def coarse_widths(self) -> NDArray[np.int64]:
        """Number of coarse groups of each column."""
        return np.array([int(groups.max()) + 1 for groups in self.coarse], dtype=np.int64)

    @cached_property
    def cell_starts(self) -> NDArray[np.int64]:
        """First feature of each interaction, and of what comes after them."""
        first = int(self.starts[-1]) + len(self.numbers)
        sizes = [int(self.coarse_widths[a] * self.coarse_widths[b]) for a, b in self.pairs]
        return np.cumsum([first, *sizes])

    @property
    def n_columns(self) -> int:
        """Number of columns of the rows."""
        return len(self.columns)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.cell_starts[-1]) + (0 if self.waves is None else self.waves.n_components)

    @property
    def n_entries(self) -> int:
        """Features of a row that are kept: all with waves, otherwise those that are not zero."""
        return self._n_indicators if self.waves is None else self.n_features

    @property
    def _n_indicators(self) -> int:
        return len(self.columns) + len(self.numbers) + len(self.pairs)

    def terms(self) -> Iterator[Term]:
        """What the features belong to, in their order."""
        starts, cells = self.starts.tolist(), self.cell_starts.tolist()
        for j, column in enumerate(self.columns):
            yield Term("steps" if isinstance(column, Steps) else "levels", (j,), starts[j], starts[j + 1])
        for k, number in enumerate(self.numbers):
            yield Term("number", (number.column,), starts[-1] + k, starts[-1] + k + 1)
        for p, pair in enumerate(self.pairs):
            yield Term("cells", pair, cells[p], cells[p + 1])
        if self.waves is not None:
            yield Term("waves", tuple(range(self.n_columns)), cells[-1], self.n_features)

    def term_name(self, term: Term) -> str:
        """Name of a term: of its column, or of both with a cross between."""
        if term.kind == "waves":
            return WAVES
        return " × ".join(self.names[j] for j in term.columns)

    def feature_names(self) -> list[str]:
        """Names of all features, ``O(features)``."""
        found: list[str] = []
        for term in self.terms():
            if term.kind == "number":
                found.append(self.names[term.columns[0]])
            elif term.kind == "waves" and self.waves is not None:
                found += self.waves.names
            elif term.kind == "cells":
                a, b = term.columns
                found += [
                    f"{self.names[a]}={one} × {self.names[b]}={two}"
                    for one in self.coarse_labels(a)
                    for two in self.coarse_labels(b)
                ]
            else:
                [j] = term.columns
                found += [f"{self.names[j]}={label}" for label in self.columns[j].labels()]
        return found

    def coarse_labels(self, j: int) -> list[str]:
        """Names of the coarse groups of a column: ranges of values, or their first and last level."""
        column, labels, found = self.columns[j], self.columns[j].labels(), []
        for group in range(int(self.coarse_widths[j])):
            own = np.flatnonzero(self.coarse[j] == group)
            if isinstance(column, Steps) and own.size > 1 and own[-1] < column.width - 1:
                found.append(column.label_range(int(own[0]), int(own[-1])))
            else:
                first, last = (labels[own[0]], labels[own[-1]]) if own.size else ("", "")
                found.append(first if own.size < 2 else f"{first} … {last}")
        return found

    # -- use ---------------------------------------------------------------------------------------------

    def codes(self, X: Any, n_jobs: int | None = 1) -> NDArray[np.int32]:
        """Which indicator of each column is 1, shape (n, d). ``O(n d log k)`` time."""
        from mbauc.basis import kernels

        X = self._check(X)
        codes = np.empty(X.shape, dtype=np.int32)
        points = [column.edges if isinstance(column, Steps) else column.kept for column in self.columns]
        bounds = np.cumsum([0, *(one.size for one in points)])
        levels = np.array([isinstance(column, Levels) for column in self.columns])
        flat = np.concatenate(points)

        def write(start: int) -> None:
            rows = slice(start, start + _ROWS)
            kernels.write_codes(X[rows], flat, bounds, levels, codes[rows])

        run_threads(write, range(0, X.shape[0], _ROWS), thread_count(n_jobs))
        return codes

    def number_values(self, X: Any) -> Array:
        """The numbers that are features, shape (n, numbers)."""
        X = self._check(X)
        result = np.empty((X.shape[0], len(self.numbers)))
        for k, number in enumerate(self.numbers):
            result[:, k] = number.values(X[:, number.column])
        return result

    def encode(self, X: Any, n_jobs: int | None = 1) -> Any:
        """The features of rows: a sparse matrix with sorted columns, or with waves a dense one.

        ``O(n entries)`` time and memory.
        """
        X = self._check(X)
        indicators = self._encode_indicators(X, n_jobs)
        return indicators if self.waves is None else np.hstack([indicators.toarray(), self.waves.encode(X)])

    def _encode_indicators(self, X: Array, n_jobs: int | None) -> sp.csr_array:
        from mbauc.basis import kernels

        n, width = X.shape[0], self._n_indicators
        columns, values = np.empty((n, width), dtype=np.int32), np.empty((n, width))
        codes, numbers, tables = self.codes(X, n_jobs), self.number_values(X), self.places()

        def write(start: int) -> None:
            rows = slice(start, start + _ROWS)
            kernels.write_entries(
                codes[rows], tables[0], numbers[rows], *tables[1:], columns[rows], values[rows]
            )

        run_threads(write, range(0, n, _ROWS), thread_count(n_jobs))
        kind = np.int32 if n * width < 2**31 else np.int64
        bounds = np.arange(0, n * width + 1, width, dtype=kind)
        shape = (n, int(self.cell_starts[-1]))
        return sp.csr_array((values.ravel(), columns.ravel().astype(kind, copy=False), bounds), shape=shape)

    def scores(self, X: Any, coef: Array, n_jobs: int | None = 1) -> Array:
        """``encode(X) @ coef`` without the matrix: to the same bits, with waves up to rounding."""
        from mbauc.basis import kernels

        X = self._check(X)
        codes, numbers, tables = self.codes(X, n_jobs), self.number_values(X), self.places()
        total = np.empty(X.shape[0])

        def add(start: int) -> None:
            rows = slice(start, start + _ROWS)
            kernels.add_scores(codes[rows], tables[0], numbers[rows], *tables[1:], coef, total[rows])

        run_threads(add, range(0, X.shape[0], _ROWS), thread_count(n_jobs))
        if self.waves is not None:
            total += self._wave_scores(X, coef)
        return total

    def _wave_scores(self, X: Array, coef: Array) -> Array:
        """What waves add to the score of each row; some rows at a time."""
        if self.waves is None:
            return np.zeros(X.shape[0])
        own = coef[int(self.cell_starts[-1]) :]
        pieces = [self.waves.encode(X[start : start + _ROWS]) @ own for start in range(0, X.shape[0], _ROWS)]
        return np.concatenate([np.zeros(0), *pieces])

    def contributions(self, X: Any, coef: Array) -> Array:
        """What each term adds to the score of each row, shape (n, terms): they sum up to :meth:`scores`."""
        codes, numbers = self.codes(X), self.number_values(X)
        terms = list(self.terms())
        result = np.empty((codes.shape[0], len(terms)))
        for place, term in enumerate(terms):
            own = coef[term.start : term.stop]
            if term.kind == "waves":
                result[:, place] = self._wave_scores(self._check(X), coef)
            elif term.kind == "number":
                result[:, place] = numbers[:, term.start - int(self.starts[-1])] * own[0]
            elif term.kind == "cells":
                result[:, place] = own[self.cells(codes, *term.columns)]
            else:
                result[:, place] = own[codes[:, term.columns[0]]]
        return result

    def cells(self, codes: NDArray[np.int32], a: int, b: int) -> NDArray[np.int64]:
        """The cell of two columns that each row of codes is in, counted from 0."""
        return np.asarray(self.coarse[a][codes[:, a]] * self.coarse_widths[b] + self.coarse[b][codes[:, b]])

    def _check(self, X: Any) -> Array:
        X = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise ValueError(f"X must have {self.n_columns:,} columns, got shape {X.shape}.")
        return np.asarray(X)

    def places(self) -> tuple[Any, ...]:
        """Places of all features, for the compiled loops."""
        coarse = np.concatenate([np.zeros(0, dtype=np.int32), *self.coarse]).astype(np.int64)
        pairs = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        return self.starts, int(self.starts[-1]), coarse, self.coarse_widths, pairs, self.cell_starts

    # -- to a file and back ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, texts, lists and dicts, for JSON."""
        columns: list[dict[str, Any]] = []
        for name, column in zip(self.names, self.columns, strict=True):
            if isinstance(column, Steps):
                columns.append(
                    {"kind": "steps", "name": name, "edges": column.edges.tolist()}
                    | {"centers": column.centers.tolist()}
                )
            else:
                columns.append(
                    {"kind": "levels", "name": name, "kept": column.kept.tolist(), "names": list(column.names)}
                )
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "columns": columns,
            "numbers": [asdict(number) for number in self.numbers],
            "pairs": [list(pair) for pair in self.pairs],
            "coarse": [groups.tolist() for groups in self.coarse],
            "waves": None if self.waves is None else self.waves.to_dict(),
        }

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> FeatureMap:
        """What :meth:`to_dict` gave; a ValueError for anything else."""
        if not isinstance(description, Mapping) or description.get("format") != _FORMAT:
            raise ValueError(f"expected a dict with format {_FORMAT!r}, as FeatureMap.to_dict gives.")
        if description.get("version") != _VERSION:
            raise ValueError(
                f"the feature map has version {abbreviate(description.get('version'))}, this mbauc reads "
                f"{_VERSION}. Update mbauc."
            )
        FEATURE_MAP.check(dict(description), "feature map")
        return cls(
            tuple(one["name"] for one in description["columns"]),
            tuple(_read_column(one) for one in description["columns"]),
            tuple(Number(**one) for one in description["numbers"]),
            tuple((a, b) for a, b in description["pairs"]),
            tuple(np.array(groups, dtype=np.int32) for groups in description["coarse"]),
            None if description["waves"] is None else FourierMap.from_dict(description["waves"]),
        )


def _read_column(one: Mapping[str, Any]) -> Steps | Levels:
    if one["kind"] == "steps":
        return Steps(np.array(one["edges"]), np.array(one["centers"]))
    return Levels(np.array(one["kept"]), tuple(one["names"]))


def group_levels(column: Steps | Levels, groups: Sequence[int]) -> NDArray[np.int32]:
    """Coarse groups of a column's indicators as an array that nobody changes."""
    result = np.array(groups, dtype=np.int32)
    if result.shape != (column.width,):
        raise ValueError(f"there must be a group for each of {column.width} indicators, got {result.size}.")
    result.flags.writeable = False
    return result
