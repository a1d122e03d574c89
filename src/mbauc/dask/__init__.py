"""The same fit on Dask: arrays and dataframes, on any scheduler.

Needs ``mbauc[dask]``. See ``docs/clusters.md``.
"""

from mbauc.dask.auc import roc_auc, roc_auc_interval
from mbauc.dask.classifier import MBAClassifier, MBAClassifierCV

__all__ = ["MBAClassifier", "MBAClassifierCV", "roc_auc", "roc_auc_interval"]
