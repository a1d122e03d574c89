"""Whether Σ is formed on a cluster, and what workers and driver need for it."""

from __future__ import annotations

from mbauc.rows.parts import Parts
from mbauc.runtime.memory import parse_memory
from mbauc.solvers.choice import Solver, SolverChoice

#: Up to so many columns one pass that forms Σ beats a dozen that multiply by it (docs/clusters.md).
_GRAM_COLUMNS = 2048
#: d×d matrices that the driver holds while it merges and solves.
_DRIVER_COPIES = 4


def choose_cluster_solver(
    solver: Solver, n_features: int, parts: Parts, n_folds: int = 1, repeats: int = 1
) -> SolverChoice:
    """The solver asked for, if there is room for it, or the one for so many columns.

    Parameters
    ----------
    solver : {"auto", "gram", "matrix-free"}
        The wish.
    n_features : int
        Number d of columns.
    parts : Parts
        The data; it knows how large a result may be.
    n_folds : int
        Sets of moments in one result.
    repeats : int
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
    if sent > parts.largest_result:
        trouble = (
            f"{sent / 1e9:,.1f} GB, more than the {parts.largest_result / 1e9:,.1f} GB that a task can send"
        )
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
