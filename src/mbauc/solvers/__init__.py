"""Solvers of Eq. (14)/(18): minimise ½ w'Σw - w'μ + l1 ‖w‖₁ + ½ l2 ‖w‖₂².

Each takes Σ, μ and the penalties as plain arrays and returns a :class:`Solution`.
"""

from mbauc.solvers.gram.elastic_net import elastic_net_path, solve_elastic_net
from mbauc.solvers.gram.ridge import RidgePath, condition_estimate, solve_ridge
from mbauc.solvers.gram.unpenalised import Reduced
from mbauc.solvers.leave_one_out import Spectrum, choose_l2
from mbauc.solvers.matrix_free.elastic_net import elastic_net_path_matrix_free, solve_elastic_net_matrix_free
from mbauc.solvers.matrix_free.l2_search import search_l2
from mbauc.solvers.matrix_free.ridge import ridge_path_matrix_free, solve_ridge_auto, solve_ridge_matrix_free
from mbauc.solvers.operator import MatrixOperator, SymmetricOperator
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution

__all__ = [
    "MatrixOperator",
    "Penalty",
    "Reduced",
    "RidgePath",
    "Solution",
    "Spectrum",
    "SymmetricOperator",
    "choose_l2",
    "condition_estimate",
    "elastic_net_path",
    "elastic_net_path_matrix_free",
    "ridge_path_matrix_free",
    "search_l2",
    "solve_elastic_net",
    "solve_elastic_net_matrix_free",
    "solve_ridge",
    "solve_ridge_auto",
    "solve_ridge_matrix_free",
]
