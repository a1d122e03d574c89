"""Whether scorers differ: on the same rows, on different rows, over splits and over data sets."""

from mbauc.metrics.comparisons.grouped_auc import compare_grouped_roc_auc
from mbauc.metrics.comparisons.holm import holm
from mbauc.metrics.comparisons.paired_auc import AucComparison, compare_roc_auc
from mbauc.metrics.comparisons.rank_tests import RankTests, rank_tests
from mbauc.metrics.comparisons.splits import PairedTest, WinTieLoss, paired_t_test, win_tie_loss
from mbauc.metrics.comparisons.unpaired_auc import AucDifference, compare_roc_auc_unpaired

__all__ = [
    "AucComparison",
    "AucDifference",
    "PairedTest",
    "RankTests",
    "WinTieLoss",
    "compare_grouped_roc_auc",
    "compare_roc_auc",
    "compare_roc_auc_unpaired",
    "holm",
    "paired_t_test",
    "rank_tests",
    "win_tie_loss",
]
