"""Whether to form Σ or to multiply by it: the cheaper of two ways to the same problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg.lapack import spotrf

from mbauc.checks import check_choice
from mbauc.errors import Advice
from mbauc.rows.matrix import is_sparse
from mbauc.rows.parts.protocol import PartedRows, Preview
from mbauc.rows.parts.source import SourceParts
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.threads import single_threaded_blas
from mbauc.solvers.gram.solver import ALL_EIGENVALUES

Solver = Literal["auto", "gram", "matrix-free"]

#: Seconds on two cores for each of the things that the two ways do (docs/results/speed.md; only ratios matter).
_SPARSE_GRAM = 4.5e-10  # k² for a row of k entries
_DENSE_GRAM = 2e-11  # d² for a row of d columns
_MERGE = 5e-9  # d² for each block
_TOUCH = 1e-9  # d², first use of the memory of Σ and its factors
_FACTOR = 6e-12  # d³, for one l2
_EIGEN = 2e-10  # d³, for several l2
_COMPACT = 4e-9  # entries
_SPARSE_PRODUCT = 8e-10  # entries
_DENSE_PRODUCT = 3.5e-10  # numbers
#: Products for the first penalty.
_FIRST_PRODUCTS = 12
#: How many times as many for dense columns that may be correlated.
_CORRELATED = 4.0
#: Rows for each column that tell whether they are.
_ROWS_A_COLUMN = 2
#: Products for each further l2.
_FURTHER_PRODUCTS = 6
#: Products for each l1 > 0.
_LASSO_PRODUCTS = 60
#: Sigma, a copy and its factors; as multiples of 8 d² bytes.
_GRAM_COPIES = 3
#: Up to this many columns one pass that forms Σ beats a dozen that multiply by it (user_guide/clusters.md).
_GRAM_COLUMNS = 2048
#: d×d matrices that the driver holds while it merges and solves.
_DRIVER_COPIES = 4
#: Columns up to which moments that are wanted for later are formed …
_SMALL = 2_048
#: … if that takes fewer seconds than this.
_PATIENCE = 20.0
#: Moments have other uses too, so products must be this much faster …
_WORTH = 2.0
#: … and save at least this many seconds.
_WORTH_SECONDS = 0.5


def gram_bytes(columns: int) -> float:
    """Bytes to form and solve with Σ of ``columns`` columns."""
    return _GRAM_COPIES * 8.0 * columns**2


def require_gram_room(columns: int, memory: float) -> None:
    """Raise if Σ was asked for and does not fit."""
    if gram_bytes(columns) > memory:
        raise ValueError(
            Advice("{solver} needs Σ of ", solver="gram")
            + f"{columns:,} columns, which takes {gram_bytes(columns) / 1e9:,.1f} GB to solve with, of "
            f"{memory / 1e9:,.1f} GB allowed. "
            + Advice("Use {solver}, or allow more {memory}.", solver="matrix-free")
        )


class SolverChoice(NamedTuple):
    """How weights were found.

    Attributes
    ----------
    name : "gram" or "matrix-free"
        From μ and Σ, or from products Σv with the rows.
    reason : str
        Why.
    """

    name: Literal["gram", "matrix-free"]
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class Workload:
    """What a fit is going to cost depends on this."""

    #: shape of the data
    rows: int
    columns: int
    #: stored values, and the sum over the rows of their squared numbers
    entries: float
    squares: float
    #: whether only values other than zero are stored
    sparse: bool
    #: blocks that the rows come in; their moments are added up
    blocks: float = 1.0
    #: the rows, where they are in memory
    X: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def from_matrix(cls, X: Any, n_rows: int | None = None, *, in_blocks: bool = False) -> Workload:
        """Workload of a matrix, or of ``n_rows`` rows like its own, which may come in blocks of its size."""
        n, d = X.shape
        wanted = n if n_rows is None else n_rows
        blocks = max(wanted / max(n, 1), 1.0) if in_blocks else 1.0
        if not is_sparse(X):
            entries, seen = float(wanted) * d, None if in_blocks else X
            return cls(wanted, d, entries, entries * d, False, blocks, seen)
        share = wanted / max(n, 1)
        if X.format == "csr":
            lengths = np.diff(X.indptr)[:: max(1, n // 10_000)].astype(np.float64)
            squares = float((lengths**2).mean()) * n if lengths.size else 0.0
        else:
            squares = X.nnz**2 / max(n, 1)
        return cls(wanted, d, X.nnz * share, squares * share, True, blocks)

    @property
    def gram_bytes(self) -> float:
        """Memory to form and solve with Σ."""
        return gram_bytes(self.columns)

    def gram_seconds(self, n_l2: int, n_fits: int, given: bool = True) -> float:
        """Time to form Σ and to solve for ``n_l2`` values, given or to be chosen, in ``n_fits`` fits."""
        form = self.squares * (_SPARSE_GRAM if self.sparse else _DENSE_GRAM)
        form += (self.blocks - 1) * self.columns**2 * _MERGE
        cubic = _FACTOR if n_l2 == 1 and (given or self.columns > ALL_EIGENVALUES) else _EIGEN
        return form + n_fits * (self.columns**3 * cubic + self.columns**2 * _TOUCH)

    def product_seconds(self, n_l1: int, n_l2: int, n_fits: int, *, uncorrelated: bool = False) -> float:
        """Time to solve from products; of dense columns that are known to be uncorrelated it takes fewer."""
        products = n_fits * (_FIRST_PRODUCTS + _FURTHER_PRODUCTS * (n_l2 - 1) + _LASSO_PRODUCTS * n_l1 * n_l2)
        if self.sparse:
            return self.entries * (products * _SPARSE_PRODUCT + n_fits * _COMPACT)
        return self.entries * products * _DENSE_PRODUCT * (1.0 if uncorrelated else _CORRELATED)

    def is_uncorrelated(self) -> bool:
        """Whether the columns of dense rows in memory are nearly uncorrelated, by a sample of the rows.

        Products with Σ find a solution, and the best l2, in a few steps then. All eigenvalues of the sample's
        correlations have to be above a third of the smallest that uncorrelated columns would have in it, so
        that neither columns which repeat others nor combinations that hardly vary go unseen. ``O(d³)``.
        """
        if self.sparse or self.X is None or self.rows < _ROWS_A_COLUMN * self.columns:
            return False
        sample = self.X[:: self.X.shape[0] // (_ROWS_A_COLUMN * self.columns) or 1]
        sample = (sample - sample.mean(axis=0, dtype=np.float64)).astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->j", sample, sample))
        if not np.isfinite(lengths).all():
            return False
        sample /= np.where(lengths > 0, lengths, 1.0)
        smallest = (1.0 - np.sqrt(self.columns / sample.shape[0])) ** 2
        with single_threaded_blas():
            correlations = sample.T @ sample
            correlations[np.diag_indices_from(correlations)] = 1.0 - smallest / 3.0
            # symmetric: the transposed view is the same matrix in the order that LAPACK works on in place
            return bool(spotrf(correlations.T, overwrite_a=True, clean=False)[1] == 0)


@dataclass(frozen=True)
class Demand:
    """What a fit asks of a solver.

    Attributes
    ----------
    solver : {"auto", "gram", "matrix-free"}
        The wish.
    n_l1, n_l2 : int
        Values of l1 other than zero, and values of l2.
    given_l2 : bool
        Whether l2 is given, rather than chosen from the spectrum of Σ.
    n_folds, repeats : int
        Of cross-validation; no folds without it.
    needs_moments : str
        What cannot be done without moments, if anything.
    keep_moments : bool
        Whether moments are wanted for later, where they are small and soon formed.
    """

    solver: Solver
    n_l1: int = 0
    n_l2: int = 1
    given_l2: bool = True
    n_folds: int = 0
    repeats: int = 1
    needs_moments: str = ""
    keep_moments: bool = False


def choose_for_rows(
    rows: PartedRows, demand: Demand, memory: float, *, limited: bool = False, sample: Preview | None = None
) -> SolverChoice:
    """The solver for rows in memory, in files or on a cluster.

    Parameters
    ----------
    rows : PartedRows
        The data.
    demand : Demand
        What is asked for.
    memory : float
        Bytes that Σ may take.
    limited : bool, default=False
        Whether somebody has set that limit, so that Σ beyond it is refused.
    sample : Preview, optional
        The rows of the pairs, if pairs are drawn.
    """
    kind, d, folds = rows.parts.kind, rows.schema.n_features, demand.n_folds * demand.repeats
    if folds:
        # moments of each fold are kept, and of the total
        memory = memory / (1 + folds / 3)
    if kind == "source":
        if sample is not None:
            return SolverChoice("matrix-free", "pairs were drawn from a source")
        if demand.solver == "gram" and (limited or folds):
            require_gram_room(d, memory)
        if demand.solver != "auto":
            return SolverChoice(demand.solver, "as asked for")
        if not folds and isinstance(rows.parts, SourceParts) and rows.parts.known_moments() is not None:
            return SolverChoice("gram", "its moments are known since its columns were learned")
    seen = sample or rows.parts.preview()
    if seen is None:
        n_folds = max(1, demand.n_folds)
        return choose_cluster_solver(demand.solver, d, rows.parts.largest_result, n_folds, demand.repeats)
    return choose_solver(
        demand.solver,
        Workload.from_matrix(seen.X, seen.n_rows, in_blocks=seen.in_blocks),
        memory,
        n_l1=demand.n_l1,
        n_l2=demand.n_l2,
        n_fits=1 + folds,
        given_l2=demand.given_l2,
        needs_moments=demand.needs_moments,
        keep_moments=demand.keep_moments,
    )


def choose_solver(
    solver: Solver,
    workload: Workload,
    memory: float,
    *,
    n_l1: int = 0,
    n_l2: int = 1,
    n_fits: int = 1,
    given_l2: bool = True,
    needs_moments: str = "",
    keep_moments: bool = False,
) -> SolverChoice:
    """The solver asked for, or the one that an estimate of time and memory favours.

    Parameters
    ----------
    solver : {"auto", "gram", "matrix-free"}
        The wish.
    workload : Workload
        Size of the data.
    memory : float
        Bytes that Σ may take.
    n_l1, n_l2, n_fits : int
        Values of l1 other than zero, values of l2, and splits and refits of cross-validation.
    given_l2 : bool, default=True
        Whether l2 is given, rather than chosen from the spectrum of Σ.
    needs_moments : str, default=""
        What cannot be done without moments, if anything.
    keep_moments : bool, default=False
        Whether moments are wanted for later, where they are small and soon formed.
    """
    check_choice("solver", solver, ("auto", "gram", "matrix-free"))
    if needs_moments:
        if solver == "matrix-free":
            raise ValueError(
                Advice("{solver} cannot be combined", solver="matrix-free")
                + f" with {needs_moments}; "
                + Advice("use {solver}.", solver="auto")
            )
        return SolverChoice("gram", f"{needs_moments} needs moments")
    if solver != "auto":
        return SolverChoice(solver, "as asked for")
    if workload.gram_bytes > memory:
        return SolverChoice(
            "matrix-free",
            f"Σ of {workload.columns:,} columns takes {workload.gram_bytes / 1e9:,.1f} GB to solve with, "
            f"of {memory / 1e9:,.1f} GB allowed",
        )
    gram, products = workload.gram_seconds(n_l2, n_fits, given_l2), workload.product_seconds(n_l1, n_l2, n_fits)
    if keep_moments and workload.columns <= _SMALL and gram < _PATIENCE:
        return SolverChoice("gram", "its moments are small, and the model can be updated")
    if gram > _WORTH_SECONDS and gram <= _WORTH * products:
        fewer = workload.product_seconds(n_l1, n_l2, n_fits, uncorrelated=True)
        if gram > _WORTH * fewer and workload.is_uncorrelated():
            products = fewer
    if gram > _WORTH_SECONDS and gram > _WORTH * products:
        return SolverChoice(
            "matrix-free",
            f"estimated at {max(products, 0.1):.1f} s, against {gram:.1f} s with Σ of {workload.columns:,} "
            "columns",
        )
    return SolverChoice(
        "gram", f"Σ of {workload.columns:,} columns fits in memory and products would not be much faster"
    )


def choose_cluster_solver(
    solver: Solver, n_features: int, largest_result: float, n_folds: int = 1, repeats: int = 1
) -> SolverChoice:
    """The solver asked for, if there is room for it, or the faster one for ``n_features`` columns.

    Parameters
    ----------
    solver : {"auto", "gram", "matrix-free"}
        The wish.
    n_features : int
        Number d of columns.
    largest_result : float
        Bytes that the result of a task may have.
    n_folds : int, default=1
        Sets of moments in one result.
    repeats : int, default=1
        Results that the driver holds at a time.

    Raises
    ------
    ValueError
        If Σ was asked for and is too large for the driver, or for the engine to send.
    """
    if solver == "matrix-free":
        return SolverChoice("matrix-free", "as asked for")
    one = 8.0 * n_features * (n_features + 1)
    sent, held = one * n_folds, one * (n_folds * repeats + _DRIVER_COPIES)
    memory = float(parse_memory(None))
    if sent > largest_result:
        trouble = f"{sent / 1e9:,.1f} GB, more than the {largest_result / 1e9:,.1f} GB that a task can send"
    elif held > memory:
        trouble = f"{held / 1e9:,.1f} GB on the driver, which may take {memory / 1e9:,.1f} GB"
    else:
        trouble = ""
    if solver == "gram":
        if trouble:
            raise ValueError(
                f"solver='gram' needs Σ of {n_features:,} columns{f' for {n_folds} folds' * (n_folds > 1)}: "
                f"{trouble}. Use solver='matrix-free', which sends vectors of {n_features:,} numbers only."
            )
        return SolverChoice("gram", "as asked for")
    if trouble:
        return SolverChoice("matrix-free", f"Σ of {n_features:,} columns would take {trouble}")
    if n_features > _GRAM_COLUMNS:
        return SolverChoice(
            "matrix-free", f"{n_features:,} columns are more than {_GRAM_COLUMNS:,}: products cost less than Σ"
        )
    return SolverChoice("gram", f"Σ of {n_features:,} columns takes one pass and {one / 1e6:,.1f} MB a task")
