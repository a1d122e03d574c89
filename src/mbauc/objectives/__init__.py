"""Pairwise AUC losses as objectives for LightGBM, XGBoost and PyTorch.

None of these libraries is imported here; :mod:`mbauc.objectives.torch` needs ``mbauc[torch]``. See
``docs/user_guide/objectives.md``.
"""

from mbauc.objectives.lightgbm_objective import LightGBMMetric, LightGBMObjective, lightgbm
from mbauc.objectives.xgboost_objective import XGBoostMetric, XGBoostObjective, xgboost

__all__ = [
    "LightGBMMetric",
    "LightGBMObjective",
    "XGBoostMetric",
    "XGBoostObjective",
    "lightgbm",
    "xgboost",
]
