"""Whether to form Σ or to multiply by it: the cheaper of two ways to the same problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mbauc.checks import check_choice
from mbauc.errors import Advice
from mbauc.rows.parts.protocol import PartedRows, Preview
from mbauc.rows.parts.source import SourceParts
from mbauc.runtime.memory import parse_memory
from mbauc.solvers.workload import Workload, gram_bytes

Solver = Literal["auto", "gram", "matrix-free"]

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
    workload = Workload.from_matrix(seen.X, seen.n_rows, in_blocks=seen.in_blocks)
    return choose_solver(demand, workload, memory, n_fits=1 + folds)


def choose_solver(demand: Demand, workload: Workload, memory: float, *, n_fits: int = 1) -> SolverChoice:
    """The solver asked for, or the one that an estimate of time and memory favours.

    Parameters
    ----------
    demand : Demand
        What is asked for.
    workload : Workload
        Size of the data.
    memory : float
        Bytes that Σ may take.
    n_fits : int, default=1
        Fits to as many rows, such as those of a cross-validation.
    """
    solver, needs_moments, n_l1, n_l2 = demand.solver, demand.needs_moments, demand.n_l1, demand.n_l2
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
    gram = workload.gram_seconds(n_l2, n_fits, demand.given_l2)
    products = workload.product_seconds(n_l1, n_l2, n_fits)
    if demand.keep_moments and workload.columns <= _SMALL and gram < _PATIENCE:
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
