"""How sure one can be of an AUC: DeLong's interval, the bootstrap, and exact limits of rates."""

from mbauc.metrics.intervals.bootstrap import roc_auc_bootstrap
from mbauc.metrics.intervals.delong import AucInterval, roc_auc_interval
from mbauc.metrics.intervals.sample_design import Weights

__all__ = ["AucInterval", "Weights", "roc_auc_bootstrap", "roc_auc_interval"]
