"""Solvers of Eq. (14)/(18): minimise ½ w'Σw - w'μ + l1 ‖w‖₁ + ½ l2 ‖w‖₂².

Each takes Σ, μ and the penalties as plain arrays and returns a :class:`Solution`.
"""

from mbauc.solvers.elastic_net import elastic_net_path, solve_elastic_net
from mbauc.solvers.leave_one_out import Spectrum, choose_l2
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.product_choice import search_l2
from mbauc.solvers.product_elastic_net import elastic_net_products_path, solve_elastic_net_products
from mbauc.solvers.product_ridge import ridge_products_path, solve_ridge_auto, solve_ridge_products
from mbauc.solvers.products import MatrixProducts, PairProducts
from mbauc.solvers.ridge import RidgePath, condition_estimate, solve_ridge
from mbauc.solvers.solution import Solution
from mbauc.solvers.unpenalised import Reduced

__all__ = [
    "MatrixProducts",
    "PairProducts",
    "Penalty",
    "Reduced",
    "RidgePath",
    "Solution",
    "Spectrum",
    "choose_l2",
    "condition_estimate",
    "elastic_net_path",
    "elastic_net_products_path",
    "ridge_products_path",
    "search_l2",
    "solve_elastic_net",
    "solve_elastic_net_products",
    "solve_ridge",
    "solve_ridge_auto",
    "solve_ridge_products",
]
