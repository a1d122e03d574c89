"""How good a ranking is, and how sure one can be of it."""

from mbauc.metrics.delong import AucComparison, AucInterval, compare_roc_auc, roc_auc_interval
from mbauc.metrics.partial import partial_roc_auc
from mbauc.metrics.roc_auc import roc_auc

__all__ = ["AucComparison", "AucInterval", "compare_roc_auc", "partial_roc_auc", "roc_auc", "roc_auc_interval"]
