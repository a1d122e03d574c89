"""How good a ranking is, and how sure one can be of it."""

from mbauc.metrics.delong import AucComparison, AucInterval, compare_roc_auc, roc_auc_interval
from mbauc.metrics.partial import partial_roc_auc
from mbauc.metrics.roc_auc import roc_auc
from mbauc.metrics.significance import (
    PairedTest,
    RankTests,
    WinTieLoss,
    paired_t_test,
    rank_tests,
    win_tie_loss,
)

__all__ = [
    "AucComparison",
    "AucInterval",
    "PairedTest",
    "RankTests",
    "WinTieLoss",
    "compare_roc_auc",
    "paired_t_test",
    "partial_roc_auc",
    "rank_tests",
    "roc_auc",
    "roc_auc_interval",
    "win_tie_loss",
]
