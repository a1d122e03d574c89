"""Ranking metrics with confidence intervals and significance tests: AUC, partial AUC, AUC within groups."""

from mbauc.metrics.calibration import Calibration, fit_calibration
from mbauc.metrics.comparisons import (
    AucComparison,
    AucDifference,
    PairedTest,
    RankTests,
    WinTieLoss,
    compare_grouped_roc_auc,
    compare_roc_auc,
    compare_roc_auc_unpaired,
    holm,
    paired_t_test,
    rank_tests,
    win_tie_loss,
)
from mbauc.metrics.d_prime import d_prime
from mbauc.metrics.group_table import GroupTable, group_table
from mbauc.metrics.grouped import grouped_roc_auc, grouped_roc_auc_interval
from mbauc.metrics.intervals import AucInterval, roc_auc_bootstrap, roc_auc_interval
from mbauc.metrics.partial_auc import partial_roc_auc, partial_roc_auc_interval
from mbauc.metrics.probabilities import calibration_error, normalized_entropy
from mbauc.metrics.roc_auc import roc_auc
from mbauc.metrics.streaming import StreamingAUC

__all__ = [
    "AucComparison",
    "AucDifference",
    "AucInterval",
    "Calibration",
    "GroupTable",
    "PairedTest",
    "RankTests",
    "StreamingAUC",
    "WinTieLoss",
    "calibration_error",
    "compare_grouped_roc_auc",
    "compare_roc_auc",
    "compare_roc_auc_unpaired",
    "d_prime",
    "fit_calibration",
    "group_table",
    "grouped_roc_auc",
    "grouped_roc_auc_interval",
    "holm",
    "normalized_entropy",
    "paired_t_test",
    "partial_roc_auc",
    "partial_roc_auc_interval",
    "rank_tests",
    "roc_auc",
    "roc_auc_bootstrap",
    "roc_auc_interval",
    "win_tie_loss",
]
