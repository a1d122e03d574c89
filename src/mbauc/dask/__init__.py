"""Distributed estimators and metrics for Dask arrays and dataframes, on any scheduler.

Needs ``mbauc[dask]``. See ``docs/user_guide/clusters.md``.
"""

try:
    import dask  # noqa: F401
except ImportError:
    raise ModuleNotFoundError("mbauc.dask needs Dask; install it with: pip install 'mbauc[dask]'") from None

from mbauc.dask.auc import roc_auc, roc_auc_interval
from mbauc.dask.classifier import (
    AdditiveAUCClassifier,
    MBAClassifier,
    MBAClassifierCV,
    PairwiseAUCClassifier,
    PairwiseAUCClassifierCV,
)

__all__ = [
    "AdditiveAUCClassifier",
    "MBAClassifier",
    "MBAClassifierCV",
    "PairwiseAUCClassifier",
    "PairwiseAUCClassifierCV",
    "roc_auc",
    "roc_auc_interval",
]
