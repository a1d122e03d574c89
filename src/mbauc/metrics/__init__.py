"""How good a ranking is."""

from mbauc.metrics.delong import AucInterval, roc_auc_interval
from mbauc.metrics.roc_auc import roc_auc

__all__ = ["AucInterval", "roc_auc", "roc_auc_interval"]
